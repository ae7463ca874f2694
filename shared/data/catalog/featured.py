"""Patterns 4-9: what editors pick for the front page, the editor's choice page and the categories' pages.

Full copies of the picked deals are stored in the page's own item, so a page is read in one request. When a picked deal
changes, its copies follow (``follow``, called from the stream).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from shared.data import keys
from shared.data.catalog import deals
from shared.data.catalog.deal_items import attributes, from_item
from shared.data.catalog.topics import no_such
from shared.dynamodb.table import Table
from shared.dynamodb.writes import update
from shared.errors import Busy, DealsError, NoSuchDeals, WrongFeaturedCount
from shared.models import CATEGORY, CuratedPage, Deal, Status, Topic
from shared.values.times import to_iso

MAX_FEATURED = 25
"""Deals an editor may pick for a page: with 8 KB a deal, half of what an item may hold."""

CATEGORY_FEATURED = (5, 10)
"""How few and how many deals a category features."""


class _Repicked(DealsError):
    """An editor changed the picks meanwhile; read again and try again."""


def set_featured(table: Table, page: CuratedPage, deal_ids: Sequence[str], now: datetime) -> list[Deal]:
    """Replace the picked deals of a curated page, in this order; none is allowed. Raises NoSuchDeals."""
    if len(deal_ids) > MAX_FEATURED:
        raise WrongFeaturedCount(f"The {page.label} page features at most {MAX_FEATURED} deals.")
    picked = _pick(table, deal_ids)
    table.write(
        update(
            keys.curated(page),
            "SET Featured = :featured, UpdatedAt = :now, #type = :type ADD FeaturedVersion :one",
            condition=None,  # the list is replaced as a whole, and the later editor's stands
            names={"#type": "Type"},
            values={":featured": _copies(picked), ":now": to_iso(now), ":type": page.type, ":one": 1},
            refused=None,
        )
    )
    return picked


def set_category_featured(table: Table, category: str, deal_ids: Sequence[str], now: datetime) -> list[Deal]:
    """Replace the picked deals of a category's page, in this order: 5 to 10. Raises NoSuchTopic, NoSuchDeals."""
    fewest, most = CATEGORY_FEATURED
    if not fewest <= len(deal_ids) <= most:
        raise WrongFeaturedCount(f"A category features {fewest} to {most} deals.")
    topic = Topic(CATEGORY, category)
    picked = _pick(table, deal_ids)
    # Likes and new deals change the Category too. A note of its own lets the stream's filter tell picks from those.
    table.transact(
        update(
            keys.topic(topic),
            "SET Featured = :featured, UpdatedAt = :now ADD FeaturedVersion :one",
            values={":featured": _copies(picked), ":now": to_iso(now), ":one": 1},
            refused=no_such(topic),
        ),
        update(
            keys.category_picks(category),
            "SET #type = :type, Category = :category ADD Changes :one",
            condition=None,  # the first picks make the note
            names={"#type": "Type"},
            values={":type": "CategoryPicks", ":category": category, ":one": 1},
            refused=None,
        ),
    )
    return picked


def read(table: Table, page: CuratedPage, now: datetime) -> list[Deal]:
    """The picked deals of a curated page that are still active, in the editors' order. One GetItem."""
    item = table.get(keys.curated(page))
    return active([from_item(copy) for copy in item["Featured"]] if item else [], now)


def follow(table: Table, picks_of: CuratedPage | Topic, now: datetime) -> list[Deal]:
    """Bring the copies of a page's picked deals up to date with the deals; returns the picks that are active now.

    Whoever picks at the same time wins; then the picks are looked at again.
    """
    key = keys.topic(picks_of) if isinstance(picks_of, Topic) else keys.curated(picks_of)

    def once() -> list[Deal]:
        item = table.get(key, consistent=True)
        if item is None or "Featured" not in item:
            return []
        copies = [from_item(copy) for copy in item["Featured"]]
        current = deals.get_many(table, [copy.deal_id for copy in copies], consistent=True)
        # Their bookkeeping is no part of copies: held against it, they would be written for ever, each time anew.
        if _copies(current) == _copies(copies):
            return active(current, now)
        table.write(
            update(
                key,
                "SET Featured = :featured ADD FeaturedVersion :one",
                condition="FeaturedVersion = :read",
                values={":featured": _copies(current), ":one": 1, ":read": item["FeaturedVersion"]},
                refused=_Repicked(),
            )
        )
        return active(current, now)

    return table.retry(once, when=_Repicked, gave_up=Busy("Editors keep changing these picks; try again."))


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
