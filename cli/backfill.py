"""``btd backfill`` and ``btd index``: existing items get what this release writes into new ones and beside them.

An item is rewritten only where it differs, and only if nobody changed it meanwhile, so a run that is repeated does no
harm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

import typer

from cli.segments import Number, Step, run_all, scan
from shared.data import item_types, keys
from shared.data.catalog import deal_numbers, deals, offers, search, stock_shown
from shared.data.catalog.deal_items import from_item, has_ended, is_listed, ours, to_item_listed
from shared.data.members import alerts
from shared.dynamodb import damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import INDEX_KEYS
from shared.dynamodb.table import Table
from shared.dynamodb.writes import ABSENT, change, delete_as, put_over
from shared.errors import DealsError
from shared.models.catalog import Deal
from shared.values.naming import counted


class _Changed(DealsError):
    """The item was changed meanwhile by this release, so it has the new attributes."""


Rewriting = tuple[Item, list[Item]]
"""An item as this release knows it, and what this release writes in its place: it may stand elsewhere, or twice."""


def _deal(_: Table, item: Item) -> Rewriting:
    """A deal stays listed or not: the feeds' counts say so too."""
    known = ours(item)
    new = to_item_listed(from_item(known), listed=is_listed(known))
    return known, [new if new == known else new | {"Version": known["Version"] + 1}]


def _offer(_: Table, item: Item) -> Rewriting:
    """An offer stands in the indexes as one of a listed deal, unless it is known to have ended."""
    deal = from_item(item)
    ended = keys.offer_of_ended(deal.deal_id, deal.brand, deal.category)
    bare = {name: value for name, value in item.items() if name not in INDEX_KEYS}
    return item, [bare | each for each in offers.to_items(deal, has_ended=ended.items() <= item.items())]


def _number(table: Table, item: Item) -> Rewriting:
    """A number leads to the product and the brand of its deal, too."""
    (deal,) = deals.get_many(table, [item["DealId"]])
    at = deal_numbers.place(deal)
    return item, [item | {"Product": at.product, "Brand": at.brand}]


def _alert(table: Table, item: Item) -> Rewriting:
    """An alert is on the product of the deal on whose page it was made, unless its owner has another one there."""
    (deal,) = deals.get_many(table, [item["DealId"]])
    new = item | alerts.to_item(replace(alerts.from_item(item), alert_id=alerts.id_on(deal)))
    return item, [item if table.get(keys.primary(new), consistent=True) else new]


def _stock_note(table: Table, item: Item) -> Rewriting:
    """The note of a stock stands in the list of what is sold here while its deal can be bought."""
    bare = {name: value for name, value in item.items() if name not in INDEX_KEYS}
    return item, [bare | stock_shown.place(deals.get_item(table, item["DealId"]))]


REWRITES: Mapping[str, Callable[[Table, Item], Rewriting]] = {
    item_types.DEAL: _deal,
    item_types.PRODUCT_OFFER: _offer,
    item_types.DEAL_NUMBER: _number,
    item_types.PRICE_ALERT: _alert,
    item_types.STOCK_NOTE: _stock_note,
}
"""How an item is rewritten, for each type that can be."""


def backfill(
    item_type: Annotated[str, typer.Argument(metavar="TYPE", help=f"One of: {', '.join(REWRITES)}.")],
    segments: Number = 4,
) -> None:
    """Rewrite existing items of a type as this release writes them; it continues where it was interrupted."""
    if item_type not in REWRITES:
        raise typer.BadParameter(f"must be one of {', '.join(REWRITES)}, not {item_type!r}.", param_hint="TYPE")
    run_all(
        "Rewriting",
        segments,
        lambda table, *segment: run(table, item_type, *segment),
        done=lambda rewritten: f"{rewritten:,} rewritten",
    )


def run(table: Table, item_type: str, segment: int, segments: int) -> Iterator[Step]:
    """Rewrite one segment's items of a type, one page at a step, from where the last run stopped; damaged ones stay."""

    def work(items: list[Item]) -> int:
        known = (item for item in items if item.get("Type") == item_type)
        return sum(damage.each(known, lambda item: _write(table, *REWRITES[item_type](table, item))))

    return scan(table, item_type, segment, segments, work)


def _write(table: Table, old: Item, new: list[Item]) -> bool:
    """Write what differs; returns whether anything did, and nobody else was faster."""
    here = keys.primary(old)
    version = "Version" if "Version" in old else None
    writes = [
        change(old, item, version=version, refused=_Changed())
        if keys.primary(item) == here
        else put_over(item, *_before(item), refused=_Changed())
        for item in new
        if item != old
    ]
    if here not in map(keys.primary, new):
        writes.append(delete_as(old, refused=_Changed()))
    # Where a copy of a later version stands already, an earlier one goes all the same.
    parts = [[write] for write in writes] if version or len(writes) < 2 else [writes]
    written = 0
    for part in parts:
        with suppress(_Changed):
            (table.write if len(part) == 1 else table.transact)(*part)
            written += 1
    return written > 0


def _before(item: Item) -> tuple[str, Mapping[str, Any]]:
    """The condition under which an item may be put in another place: nothing stands there, or an earlier version."""
    if "Version" not in item:
        return ABSENT, {}
    return f"{ABSENT} OR Version < :version", {":version": item["Version"]}


def index(segments: Number = 4) -> None:
    """Write the words and offers of existing deals, as the stream does for new ones, while the site runs."""
    run_all("Indexing", segments, index_steps, done=lambda deals: f"{counted(deals, 'deal')} indexed")


def index_steps(table: Table, segment: int, segments: int) -> Iterator[Step]:
    """Index one segment's deals, one page at a step, from where the last run stopped."""

    def work(items: list[Item]) -> int:
        deals = (item for item in items if item.get("Type") == item_types.DEAL)
        return sum(damage.each(deals, partial(_index, table)))

    return scan(table, "Words", segment, segments, work)


def _index(table: Table, item: Item) -> bool:
    """Write a deal's words, offer and verdict. Raises DamagedDeal: it has none.

    The deal is read again afterwards: where it was changed meanwhile, the stream may have followed that before
    these writes, and what they brought back is taken out.
    """
    deal = from_item(item)
    offers.file(table, None, deal, has_ended=has_ended(item))
    search.file(table, None, _listed(item))
    offers.judge_anew(table, None, deal)
    current = table.get(keys.deal(deal.deal_id), consistent=True)
    if current != item:
        search.file(table, deal, _listed(current) if current else None)
    return True


def _listed(item: Item) -> Deal | None:
    return from_item(item) if is_listed(item) else None
