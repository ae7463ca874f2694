"""Picks: the deals that editors choose for the front page, the editor's choice page and the categories' pages.

A page's item (for a category, a separate one) holds full copies of its picked deals, so a page takes one request. When
a picked deal changes, the stream updates its copies (``refresh``).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from shared.data import keys
from shared.data.catalog import deals
from shared.data.catalog.deals import attributes, readable
from shared.data.catalog.topics import no_such
from shared.dynamodb import damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from shared.dynamodb.writes import update, upsert
from shared.errors import Busy, DealsError, NoSuchDeals, WrongFeaturedCount
from shared.models.catalog import CATEGORIES, CATEGORY, CuratedPage, Deal, Status, Topic
from shared.values.times import to_iso

MAX_FEATURED = 25
"""Deals that may be picked for a page: at 8 KB a deal, half of an item's maximum."""

CATEGORY_FEATURED = (5, 10)
"""The minimum and maximum number of a category's picks."""


class _Repicked(DealsError):
    """An editor changed the picks meanwhile: read again and retry."""


def set_featured(table: Table, page: CuratedPage, deal_ids: Sequence[str], now: datetime) -> list[Deal]:
    """Replace the picks of a curated page, in this order; the list may be empty. Raises NoSuchDeals."""
    if len(deal_ids) > MAX_FEATURED:
        raise WrongFeaturedCount(f"The {page.label} page must feature at most {MAX_FEATURED} deals.")
    picked = _pick(table, deal_ids)
    _replace(table, page, picked, now, Type=page.type)
    return picked


def set_category_featured(table: Table, category: str, deal_ids: Sequence[str], now: datetime) -> list[Deal]:
    """Replace the picks of a category's page, in this order: 5 to 10. Raises NoSuchTopic, NoSuchDeals."""
    fewest, most = CATEGORY_FEATURED
    if not fewest <= len(deal_ids) <= most:
        raise WrongFeaturedCount(f"A category must feature {fewest} to {most} deals.")
    topic = Topic(CATEGORY, category)
    picked = _pick(table, deal_ids)
    if category not in CATEGORIES:
        raise no_such(topic)
    _replace(table, topic, picked, now, Type=keys.CATEGORY_FEATURED, Category=category)
    return picked


def read(table: Table, of: CuratedPage | Topic, now: datetime, *, consistent: bool = False) -> list[Deal]:
    """The active deals picked for a page or category, in the editors' order. One request."""
    return active(_copied(_item(table, of, consistent=consistent)), now)


def refresh(table: Table, picks_of: CuratedPage | Topic, now: datetime) -> list[Deal]:
    """Update the copies of a page's picks from the deals; returns the active picks.

    If an editor changes the picks meanwhile, the new ones stay and are compared again.
    """

    def once() -> list[Deal]:
        item = _item(table, picks_of, consistent=True)
        copies = _copied(item)
        current = deals.get_many(table, [copy.deal_id for copy in copies], consistent=True)
        # Compare only what copies hold: anything else always differs, and would rewrite them forever.
        version = damage.attribute_or(item, "FeaturedVersion", int, None) if item else None
        if version is None or _copies(current) == _copies(copies):
            return active(current, now)
        table.write(
            update(
                keys.primary(item),
                "SET Featured = :featured ADD FeaturedVersion :one",
                condition="FeaturedVersion = :read",
                values={":featured": _copies(current), ":one": 1, ":read": version},
                refused=_Repicked(),
            )
        )
        return active(current, now)

    return table.retry(once, when=_Repicked, gave_up=Busy("Editors keep changing these picks; try again."))


def active(picked: Sequence[Deal], now: datetime) -> list[Deal]:
    """The active deals among some copies."""
    return [deal for deal in picked if deal.status(now) is Status.ACTIVE]


def _item(table: Table, of: CuratedPage | Topic, *, consistent: bool = False) -> Item:
    return table.get(keys.featured(of), consistent=consistent) or {}


def _copied(item: Item) -> list[Deal]:
    return readable(damage.attribute_or(item, "Featured", list, [])) if item else []


def _replace(table: Table, of: CuratedPage | Topic, picked: Sequence[Deal], now: datetime, **its: str) -> None:
    assigned = {**its, "Featured": _copies(picked), "UpdatedAt": to_iso(now)}
    because = "the list is replaced as a whole: the last editor wins"
    table.write(upsert(keys.featured(of), assigned, {"FeaturedVersion": 1}, because=because))


def _pick(table: Table, deal_ids: Sequence[str]) -> list[Deal]:
    if len(set(deal_ids)) < len(deal_ids):
        raise WrongFeaturedCount("A deal can be featured only once.")
    picked = deals.get_many(table, deal_ids, consistent=True)
    if len(picked) < len(deal_ids):
        known = {deal.deal_id for deal in picked}
        raise NoSuchDeals([deal_id for deal_id in deal_ids if deal_id not in known])
    return picked


def _copies(picked: Sequence[Deal]) -> list[dict[str, object]]:
    return [attributes(deal) for deal in picked]
