"""The sample of a new local cloud: deals of invented brands, with earlier prices, picks, hot deals and some stock.

``deals.jsonl`` has one deal a line, as the API takes it, but with ages in place of times: it was posted ``hoursAgo``
and ends in ``endsInHours`` (below zero: it has ended). So the sample is fresh on any day.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from shared.api.bodies import NewDeal
from shared.data.catalog import brands, deals, imports, picks
from shared.data.catalog.imports import MAX_TOGETHER
from shared.data.members import follows
from shared.data.orders import stock
from shared.dynamodb.table import MAX_BATCH_KEYS, Table
from shared.errors import AlreadyLiked, AlreadyWatching, BrandExists
from shared.models.catalog import BRAND, CATEGORIES, CATEGORY, EDITORS_CHOICE, FRONT_PAGE, Deal, Status, Topic
from shared.values import slugs, times

FILE = Path(__file__).with_name("deals.jsonl")

FRONT, CHOICE, IN_CATEGORY = 12, 8, 6
"""Deals that are picked for the front page, for the editor's choice, and for each category."""

ON_SALE = (40, 12, 3, 1)
"""Pieces of the front page's first deals that the site itself sells."""

HOT = 3
"""Deals that everybody is told of."""

FOLLOWED = (
    *(Topic(BRAND, slug) for slug in ("pace-theory", "lumen-audio", "granite-trail")),
    *(Topic(CATEGORY, slug) for slug in ("shoes", "outdoors")),
)
"""Brands and categories that the sample's member likes and watches."""


def read(now: datetime) -> list[tuple[str, Deal]]:
    """The sample's deals, oldest first, each with its brand's name."""
    return [_deal(json.loads(line), now) for line in FILE.read_text(encoding="utf-8").splitlines()]


def plant(table: Table, now: datetime, member: str) -> int:
    """Bring the sample into a table, for a member who follows some of it; returns how many deals were new.

    Repeating it adds nothing: a deal is known by its source, and likes and watches count once.
    """
    sample = read(now)
    for name in dict.fromkeys(name for name, _ in sample):
        with suppress(BrandExists):
            brands.create(table, slugs.slug(name), name, now)
    known = _known(table, [deal for _, deal in sample])
    new = [deal for _, deal in sample if deal.source_id not in known]
    for topic in FOLLOWED:
        with suppress(AlreadyLiked):
            follows.like(table, topic, member, now)
        with suppress(AlreadyWatching):
            follows.watch(table, topic, member, now)
    for start in range(0, len(new), MAX_TOGETHER):
        imports.create_many(table, new[start : start + MAX_TOGETHER], now)
    if new:
        _pick(table, _known(table, [deal for _, deal in sample]), [deal for _, deal in sample], now)
    return len(new)


def _pick(table: Table, ids: dict[str, str], sample: Sequence[Deal], now: datetime) -> None:
    """Fill the curated pages with the largest discounts, put some of these on sale, and make the largest hot."""
    active = [deal for deal in sample if deal.status(now) is Status.ACTIVE]
    best = sorted(active, key=lambda deal: deal.discount_percent or 0, reverse=True)
    front = [ids[deal.source_id or ""] for deal in _varied(best, FRONT)]
    picks.set_featured(table, FRONT_PAGE, front, now)
    for deal_id, pieces in zip(front, ON_SALE, strict=False):
        stock.add(table, deal_id, pieces, now)
    newest = sorted(active, key=lambda deal: deal.created_at, reverse=True)
    picks.set_featured(table, EDITORS_CHOICE, [ids[deal.source_id or ""] for deal in _varied(newest, CHOICE)], now)
    for category in CATEGORIES:
        there = [ids[deal.source_id or ""] for deal in best if deal.category == category]
        picks.set_category_featured(table, category, there[:IN_CATEGORY], now)
    for deal in best[:HOT]:
        deals.make_hot(table, ids[deal.source_id or ""], now)


def _varied(found: Sequence[Deal], most: int) -> Iterator[Deal]:
    """The first of each brand, so that a page shows many."""
    return iter(list({deal.brand: deal for deal in reversed(found)}.values())[::-1][:most])


def _known(table: Table, wanted: Sequence[Deal]) -> dict[str, str]:
    sources = [deal.source_id or "" for deal in wanted]
    known: dict[str, str] = {}
    for start in range(0, len(sources), MAX_BATCH_KEYS):
        known |= imports.by_source(table, sources[start : start + MAX_BATCH_KEYS])
    return known


def _deal(line: dict[str, Any], now: datetime) -> tuple[str, Deal]:
    line["createdAt"] = times.to_iso(now - timedelta(hours=line.pop("hoursAgo")))
    if "endsInHours" in line:
        line["expiresAt"] = times.to_iso(now + timedelta(hours=line.pop("endsInHours")))
    new = NewDeal.model_validate(line)
    deal = new.to_deal(now, entropy=b"")  # none is needed: the id is derived from the source's
    return line["brand"], replace(deal, brand_name=line["brand"])
