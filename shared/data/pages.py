"""Patterns 4-9: what editors pick for the front page, the editor's choice page and the categories' pages.

Full copies of the picked deals are stored in the page's own item, so a page is read in one request. The sharded caches
of issue B (``keys.deals_cache``) will stand beside the front page's item, to be read in the same request.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from shared.data import deals, keys
from shared.data.deal_items import attributes, from_item
from shared.data.table import Table, put, update
from shared.data.topics import no_such
from shared.errors import NoSuchDeals, WrongFeaturedCount
from shared.models import CATEGORY, CuratedPage, Deal, Status, Topic
from shared.times import to_iso

MAX_FEATURED = 25
"""Deals an editor may pick for a page: with 8 KB a deal, half of what an item may hold."""

CATEGORY_FEATURED = (5, 10)
"""How few and how many deals a category features."""


def set_featured(table: Table, page: CuratedPage, deal_ids: Sequence[str], now: datetime) -> list[Deal]:
    """Replace the picked deals of a curated page, in this order; none is allowed. Raises NoSuchDeals."""
    if len(deal_ids) > MAX_FEATURED:
        raise WrongFeaturedCount(f"The {page.label} page features at most {MAX_FEATURED} deals.")
    picked = _pick(table, deal_ids)
    item = {**keys.curated(page), "Type": page.type, "Featured": _copies(picked), "UpdatedAt": to_iso(now)}
    table.write(put(item, because="the list is replaced as a whole, and the later editor's stands"))
    return picked


def set_category_featured(table: Table, category: str, deal_ids: Sequence[str], now: datetime) -> list[Deal]:
    """Replace the picked deals of a category's page, in this order: 5 to 10. Raises NoSuchTopic, NoSuchDeals."""
    fewest, most = CATEGORY_FEATURED
    if not fewest <= len(deal_ids) <= most:
        raise WrongFeaturedCount(f"A category features {fewest} to {most} deals.")
    topic = Topic(CATEGORY, category)
    picked = _pick(table, deal_ids)
    table.write(
        update(
            keys.topic(topic),
            "SET Featured = :featured, UpdatedAt = :now",
            values={":featured": _copies(picked), ":now": to_iso(now)},
            refused=no_such(topic),
        )
    )
    return picked


def featured(table: Table, page: CuratedPage, now: datetime) -> list[Deal]:
    """The picked deals of a curated page that are still active, in the editors' order. One GetItem."""
    item = table.get(keys.curated(page))
    return active([from_item(copy) for copy in item["Featured"]] if item else [], now)


def active(picked: Sequence[Deal], now: datetime) -> list[Deal]:
    """Those of some copies that are still active."""
    return [deal for deal in picked if deal.status(now) is Status.ACTIVE]


def _pick(table: Table, deal_ids: Sequence[str]) -> list[Deal]:
    if len(set(deal_ids)) < len(deal_ids):
        raise WrongFeaturedCount("A deal is featured once.")
    picked = deals.get_many(table, deal_ids, consistent=True)
    if len(picked) < len(deal_ids):
        raise NoSuchDeals(deals.missing(deal_ids, picked))
    return picked


def _copies(picked: Sequence[Deal]) -> list[dict[str, object]]:
    return [attributes(deal) for deal in picked]
