"""``btd index``: words and offers of deals that were there before search was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from cli.segments import Number, Step, run_all, scan
from shared.data import item_types, keys
from shared.data.catalog import offers, search
from shared.data.catalog.deal_items import from_item, has_ended, is_listed
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from shared.errors import DamagedDeal
from shared.models.catalog import Deal
from shared.values.counts import counted


def index(segments: Number = 4) -> None:
    """Write the words and offers of existing deals, as the stream does for new ones, while the site runs."""
    run_all("Indexing", segments, steps, done=lambda deals: f"{counted(deals, 'deal')} indexed")


def steps(table: Table, segment: int, segments: int) -> Iterator[Step]:
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
