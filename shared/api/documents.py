"""Deals, topics and lists as the API's JSON: one function for each schema of ``schemas.py`` that is made of one object.

Members' documents are in ``member_documents``, so that a function loads only what it answers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from enum import Enum
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from shared import features, hooks
from shared.models.catalog import CATEGORIES, TYPED, CountedTopic, Deal, Listed, LogLine, Page
from shared.values import money
from shared.values.times import to_iso

if TYPE_CHECKING:
    from shared.data.catalog.selecting import Shown

T = TypeVar("T")
Json = dict[str, Any]

_TYPED = attrgetter(*TYPED.values())
_OF_FEATURES = tuple(features.merged(hooks.Fields, lambda each: each.IN_ANSWERS).items())
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
        "updatedAt": time(deal.updated_at),
        "expiresAt": time(deal.ends_at),
        "status": deal.status(now).value,
        "hot": deal.hot_at is not None,
        **typed(deal),
        "sourceId": deal.source_id,
        **of_features(deal),
        "verdict": verdict(deal),
    }


def verdict(deal: Deal) -> Json | None:
    """The verdict on a deal's price, in amounts of its currency; None without one, or of a withdrawn deal."""
    judged = deal.verdict
    if judged is None or deal.withdrawn_at is not None:
        return None
    cheapest, least, most = (money.of_units(each, deal.currency) for each in (judged.cheapest, *judged.usual))
    return {
        "lowest": deal.is_lowest,
        "cheapest": cheapest,
        "cheapestOn": judged.day.isoformat(),
        "usualFrom": least,
        "usualTo": most,
    }


def typed(deal: Deal) -> Json:
    """A deal's typed fields, by their API names."""
    return {name: _plain(value) for name, value in zip(TYPED, _TYPED(deal), strict=True)}


def _plain(value: Any) -> Any:
    """A typed value in JSON: a time as its text, and a choice as its value."""
    return to_iso(value) if isinstance(value, datetime) else value.value if isinstance(value, Enum) else value


def of_features(deal: Deal) -> Json:
    """The fields that features add to a deal."""
    return {name: of(deal) for name, of in _OF_FEATURES}


def deals(found: Iterable[Deal], now: datetime) -> list[Json]:
    return [deal(one, now) for one in found]


def listed(listed: Listed, now: datetime) -> Json:
    """A deal of a feature's list, with the list's fields."""
    return {**deal(listed.deal, now), **listed.fields}


def log_line(line: LogLine) -> Json:
    """A change of a deal, with who made it."""
    changes = [{"field": each.field, "from": each.was, "to": each.now} for each in line.changes]
    return {"at": to_iso(line.at), "by": line.by, "changes": changes}


def page(page: Page[T], render: Callable[[T], Mapping[str, Any]]) -> Json:
    """A list and the cursor of its next page."""
    return {"items": [render(item) for item in page.items], "next": page.next}


def feed(page_of_deals: Page[Deal], now: datetime) -> Json:
    return page(page_of_deals, lambda one: deal(one, now))


def found(shown: Shown, now: datetime) -> Json:
    """A page of search results: partial matches if it isn't full, the corrected words, and the number of deals that
    were searched if there are more."""
    partly = [deal(each, now) for each in shown.partly]
    extra = {"partly": partly or None, "searched": shown.searched, "lookedThrough": shown.looked}
    return feed(shown.page, now) | {name: value for name, value in extra.items() if value is not None}


def all_of(items: Iterable[Mapping[str, Any]]) -> Json:
    """A list without further pages."""
    return {"items": list(items), "next": None}


def topic(counted: CountedTopic) -> Json:
    label, slug = counted.topic.kind.label, counted.topic.slug
    return {label: slug, "name": counted.name, "likes": counted.likes, "watchers": counted.watchers}


def brand(slug: str, name: str) -> Json:
    return {"brand": slug, "name": name}


def category(slug: str) -> Json:
    return {"category": slug, "name": CATEGORIES[slug]}


def picked(found: Iterable[Deal], now: datetime) -> Json:
    """The deals that an editor has picked for a page."""
    return {"featured": deals(found, now)}


def progress(deal: Deal, *, notified: int, finished: bool) -> Json:
    """The progress of a hot deal's notifications; never finished for a deal that isn't hot."""
    hot = deal.hot_at is not None
    return {"dealId": deal.deal_id, "hot": hot, "told": notified, "finished": hot and finished}


def time(when: datetime | None) -> str | None:
    """A time as text, or None."""
    return None if when is None else to_iso(when)
