"""Repairing a deal whose item is damaged: readable fields stay, and an editor fills in the rest."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from shared.data import keys
from shared.data.catalog import deals, feed_counts, oddities
from shared.data.catalog.deal_items import DEAL, check, is_listed, not_ours, to_item, unreadable
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from shared.dynamodb.writes import ABSENT, put_over
from shared.errors import EditedMeanwhile
from shared.models.catalog import Deal
from shared.values import identifiers


def salvage(table: Table, deal_id: str) -> tuple[Deal, set[str]]:
    """The readable rest of a damaged deal, and the names of its fields that cannot be read. Raises NoSuchDeal.

    A required field that cannot be read is empty in the deal.
    """
    return salvaged(deals.get_item(table, deal_id), deal_id)


def mend(
    table: Table,
    deal_id: str,
    changes: Mapping[str, Any],
    now: datetime,
    *,
    by: str | None = None,
    correlation_id: str | None = None,
    seen: Collection[str] | None = None,
) -> Deal:
    """Write a damaged deal anew, with ``changes`` in place of what cannot be read; it stands in feeds as it should.

    An editor is asked about oddities, as by ``deals.edit``.
    Raises NoSuchDeal, NoSuchTopic, DealTooLarge, DealIsOdd; EditedMeanwhile where another edit was faster.
    """
    item = deals.get_item(table, deal_id)
    left, lost = salvaged(item, deal_id)
    brand_name = deals.brand_name(table, changes.get("brand", left.brand))
    version = 0 if "version" in lost else left.version
    unchanged, read = "Version = :read", item.get("Version")
    if not isinstance(read, int | Decimal):
        unchanged, read = "NOT attribute_type(Version, :read)", "N"
    new = replace(left, **changes, brand_name=brand_name, version=version + 1, correlation_id=correlation_id).signed(by)
    check(new)
    oddities.ask(new, now, seen, left)
    new_item = to_item(new, now)
    was = _as_listed(item, new) if is_listed(item) else None
    will_be = new if is_listed(new_item) else None
    table.transact(
        put_over(
            {**not_ours(item), **new_item},
            f"{ABSENT} OR {unchanged}",
            {":read": read},
            refused=EditedMeanwhile(version),
        ),
        *feed_counts.count_writes(table, was, will_be),
        *feed_counts.end_note_writes(None, will_be),
    )
    return new


def salvaged(item: Item, deal_id: str) -> tuple[Deal, set[str]]:
    """The readable rest of an item with a deal's attributes, as ``salvage`` tells it."""
    left, lost = DEAL.salvage(item)
    lost |= unreadable(left)
    known = {name: value for name, value in left.items() if name not in lost}
    blank = dict.fromkeys(("title", "link", "brand", "brand_name", "category", "price", "currency"), "")
    made = {"created_at": identifiers.time_of(deal_id), **blank, **known, "deal_id": deal_id}
    return Deal(**made), lost


def _as_listed(item: Item, deal: Deal) -> Deal:
    """A deal as the feeds count it by now: by its item's places in the indexes."""
    day, brand, category = keys.listed_under(item)
    return replace(deal, brand=brand, category=category, created_at=datetime.fromisoformat(day).replace(tzinfo=UTC))
