"""Domain objects as the API's JSON: one function for each schema of ``schemas.py`` that is made of one object."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from shared.models.catalog import CATEGORIES, Deal, TopicPage
from shared.models.lists import Page
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
        "stock": None if deal.stock is None else deal.stock.value,
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


def account(user_of_it: User, addresses: Mapping[str, Address]) -> Json:
    """One's own account, with one's addresses by their names."""
    return {**user(user_of_it), "addresses": {name: address(each) for name, each in addresses.items()}}


def address(address: Address) -> Json:
    return {
        "recipient": address.recipient,
        "street": address.street,
        "city": address.city,
        "region": address.region,
        "postalCode": address.postal_code,
        "country": address.country,
    }


def cart(items: Iterable[CartItem], now: datetime) -> Json:
    """A cart: each deal as it is today, and the price it had when it was put in."""
    return all_of(cart_item(item, now) for item in items)


def cart_item(item: CartItem, now: datetime) -> Json:
    return {
        "deal": deal(item.deal, now),
        "quantity": item.quantity,
        "priceThen": item.price,
        "changed": item.changed,
        "putAt": to_iso(item.put_at),
    }


def order(order: Order) -> Json:
    """An order with its items."""
    return {**order_head(order), "items": [_order_item(item) for item in order.items]}


def order_head(order: Order) -> Json:
    """An order without its items, as lists show it."""
    return {
        "orderId": order.order_id,
        "username": order.username,
        "status": order.status.value,
        **{f"{status.value}At": _time(order.times.get(status)) for status in OrderStatus},
        "address": address(order.address),
        "itemCount": order.item_count,
        "pieces": order.pieces,
        "totals": [{"currency": currency, "amount": amount} for currency, amount in order.totals.items()],
    }


def stock(stock: Stock) -> Json:
    """What is left of a deal, by shard, and what is in orders that are not cancelled."""
    return {
        "dealId": stock.deal_id,
        "left": stock.left,
        "ordered": stock.ordered,
        "onSale": stock.on_sale,
        "shards": [{"shard": each.number, "left": each.left, "ordered": each.ordered} for each in stock.shards],
    }


def _order_item(item: OrderItem) -> Json:
    return {
        "itemId": item.item_id,
        "dealId": item.deal_id,
        "dealNumber": item.number,
        "title": item.title,
        "brand": brand(item.brand, item.brand_name),
        "price": item.price,
        "currency": item.currency,
        "quantity": item.quantity,
    }


def _time(when: datetime | None) -> str | None:
    return None if when is None else to_iso(when)
