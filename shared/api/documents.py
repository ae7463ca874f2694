"""Domain objects as the API's JSON: one function for each schema of ``schemas.py`` that is made of one object."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, TypeVar

from shared.models import CATEGORIES, AboutDeal, AboutOrder, Deal, Message, Page, Session, Topic, TopicPage, User
from shared.values.times import to_iso

T = TypeVar("T")
Json = dict[str, Any]

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def compact(document: Any) -> str:
    """A document as JSON text without spaces or line breaks."""
    return _ENCODER.encode(document)


def deal(deal: Deal, now: datetime) -> Json:
    return {
        "dealId": deal.deal_id,
        "dealNumber": deal.number,
        "title": deal.title,
        "link": deal.link,
        "image": deal.image,
        "price": deal.price,
        "listPrice": deal.list_price,
        "currency": deal.currency,
        "discountPercent": deal.discount_percent,
        "brand": brand(deal.brand, deal.brand_name),
        "category": deal.category,
        "createdAt": to_iso(deal.created_at),
        "expiresAt": _time(deal.ends_at),
        "status": deal.status(now).value,
        "hot": deal.hot_at is not None,
        "description": deal.description,
        "couponCode": deal.coupon_code,
        "sourceId": deal.source_id,
    }


def deals(found: Iterable[Deal], now: datetime) -> list[Json]:
    return [deal(one, now) for one in found]


def page(page: Page[T], render: Callable[[T], Json]) -> Json:
    """A list and the cursor of its next page."""
    return {"items": [render(item) for item in page.items], "next": page.next}


def feed(page_of_deals: Page[Deal], now: datetime) -> Json:
    return page(page_of_deals, lambda one: deal(one, now))


def all_of(items: Iterable[Json]) -> Json:
    """A list that is always whole."""
    return {"items": list(items), "next": None}


def topic(page: TopicPage) -> Json:
    label, slug = page.topic.kind.label, page.topic.slug
    return {label: slug, "name": page.name, "likes": page.likes, "watchers": page.watchers}


def brand(slug: str, name: str) -> Json:
    return {"brand": slug, "name": name}


def category(slug: str) -> Json:
    return {"category": slug, "name": CATEGORIES[slug]}


def picked(found: Iterable[Deal], now: datetime) -> Json:
    """The deals that an editor has picked for a page."""
    return {"featured": deals(found, now)}


def progress(deal: Deal, *, told: int, finished: bool) -> Json:
    """How far the telling of a hot deal has got; a deal that is not hot has not finished."""
    hot = deal.hot_at is not None
    return {"dealId": deal.deal_id, "hot": hot, "told": told, "finished": hot and finished}


def like(page: TopicPage, *, liked: bool) -> Json:
    return {"liked": liked, "likes": page.likes}


def watch(page: TopicPage, *, watching: bool) -> Json:
    return {"watching": watching, "watchers": page.watchers}


def watched(topic: Topic) -> Json:
    return {"kind": topic.kind.label, topic.kind.label: topic.slug}


def session_token(token: str, session: Session) -> Json:
    return {"token": token, "expiresAt": to_iso(session.expires_at)}


def unread_count(count: int) -> Json:
    return {"unread": count}


def marked(count: int) -> Json:
    return {"marked": count}


def user(user: User) -> Json:
    return {
        "username": user.username,
        "email": user.email,
        "name": user.name,
        "role": user.role,
        "createdAt": to_iso(user.created_at),
    }


def message(message: Message) -> Json:
    return {
        "messageId": message.message_id,
        "kind": message.kind,
        "subject": message.subject,
        **_about(message.about),
        "createdAt": to_iso(message.created_at),
        "unread": message.unread,
    }


def _about(about: AboutDeal | AboutOrder) -> Json:
    match about:
        case AboutDeal():
            of = brand(about.brand, about.brand_name)
            return {"deal": {"dealId": about.deal_id, "title": about.title, "brand": of}}
        case AboutOrder():
            return {"order": {"orderId": about.order_id}}


def _time(when: datetime | None) -> str | None:
    return None if when is None else to_iso(when)
