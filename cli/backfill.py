"""``btd backfill`` and ``btd index``: existing items get what this release writes into new ones and beside them.

An item is rewritten only where it differs, and only if nobody changed it meanwhile, so a run that is repeated does no
harm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Annotated

import typer

from cli.segments import Number, Step, run_all, scan
from shared.data import item_types, keys
from shared.data.catalog import offers, search
from shared.data.catalog.deal_items import from_item, has_ended, is_listed, ours, to_item_listed
from shared.dynamodb import damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import INDEX_KEYS
from shared.dynamodb.table import Table
from shared.dynamodb.writes import change
from shared.errors import DamagedDeal, DealsError
from shared.models.catalog import Deal
from shared.values.counts import counted


class _Changed(DealsError):
    """Somebody changed the item meanwhile, with this release: it has what is new."""


def _deal(item: Item) -> tuple[Item, Item]:
    """A deal stays listed or not: the feeds' counts say so too."""
    known = ours(item)
    return known, to_item_listed(from_item(known), listed=is_listed(known))


def _offer(item: Item) -> tuple[Item, Item]:
    """An offer stands in the indexes as one of a listed deal, unless it is known to have ended."""
    deal = from_item(item)
    ended = keys.offer_of_ended(deal.deal_id, deal.brand, deal.category)
    bare = {name: value for name, value in item.items() if name not in INDEX_KEYS}
    return item, bare | offers.to_item(deal, has_ended=ended.items() <= item.items())


REWRITES: Mapping[str, Callable[[Item], tuple[Item, Item]]] = {
    item_types.DEAL: _deal,
    item_types.PRODUCT_OFFER: _offer,
}
"""For each type that can be rewritten: an item as this release knows it, and as this release writes it."""


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
    rewrite = REWRITES[item_type]

    def work(items: list[Item]) -> int:
        known = damage.readable((item for item in items if item["Type"] == item_type), rewrite)
        return sum(_write(table, *each) for each in known)

    return scan(table, item_type, segment, segments, work)


def _write(table: Table, old: Item, new: Item) -> bool:
    """Write what differs; returns whether anything did, and nobody else was faster."""
    if old == new:
        return False
    # A copy has the version of the deal that it is of.
    newer = new if old["Type"] == item_types.PRODUCT_OFFER else new | {"Version": old["Version"] + 1}
    with suppress(_Changed):
        table.write(change(old, newer, version="Version", refused=_Changed()))
        return True
    return False


def index(segments: Number = 4) -> None:
    """Write the words and offers of existing deals, as the stream does for new ones, while the site runs."""
    run_all("Indexing", segments, index_steps, done=lambda deals: f"{counted(deals, 'deal')} indexed")


def index_steps(table: Table, segment: int, segments: int) -> Iterator[Step]:
    """Index one segment's deals, one page at a step, from where the last run stopped."""

    def work(items: list[Item]) -> int:
        return sum(_index(table, item) for item in items if item["Type"] == item_types.DEAL)

    return scan(table, "Words", segment, segments, work)


def _index(table: Table, item: Item) -> bool:
    """Write a deal's words and offer; a damaged deal has none.

    The deal is read again afterwards: where somebody changed it meanwhile, the stream may have followed that before
    these writes, and what they brought back is taken out.
    """
    with suppress(DamagedDeal):
        deal = from_item(item)
        offers.file(table, None, deal, has_ended=has_ended(item))
        search.file(table, None, _listed(item))
        current = table.get(keys.deal(deal.deal_id), consistent=True)
        if current != item:
            search.file(table, deal, _listed(current) if current else None)
        return True
    return False


def _listed(item: Item) -> Deal | None:
    return from_item(item) if is_listed(item) else None
