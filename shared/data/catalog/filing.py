"""Many new deals at once, as the stream brings them after an import: their words and offers, filed together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from shared.data.catalog import offers, search, words
from shared.data.catalog.deal_items import has_ended, is_listed
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from shared.dynamodb.writes import MOST_TOGETHER, Write
from shared.errors import AlreadyExists, Unavailable
from shared.models.catalog import Deal


def file_new(table: Table, new: Sequence[tuple[Deal, Item]]) -> set[str]:
    """File new deals, each with its item, as many in a transaction as fit; returns the ids of those that are filed.

    A transaction counts each word once for all of its deals. One that is refused, because a deal was filed before, or
    that gets no answer, leaves its deals to be filed one by one: that changes nothing where it was done.
    """
    filed: set[str] = set()
    for together in _batches(new):
        if len(together) > 1:
            try:
                table.transact(*_writes(together))
            except (AlreadyExists, Unavailable):
                continue
            filed |= {deal.deal_id for deal, _ in together}
    return filed


def _batches(new: Iterable[tuple[Deal, Item]]) -> Iterator[list[tuple[Deal, Item]]]:
    """The deals in their order, in parts that fit a transaction."""
    together: list[tuple[Deal, Item]] = []
    counts: set[str] = set()
    items = 0
    for deal, item in new:
        found_by = words.of_deal(deal).keys() if is_listed(item) else set()
        if items + 1 + len(found_by) + len(counts | found_by) > MOST_TOGETHER:
            yield together
            together, counts, items = [], set(), 0
        together.append((deal, item))
        counts |= found_by
        items += 1 + len(found_by)
    yield together


def _writes(new: Sequence[tuple[Deal, Item]]) -> list[Write]:
    listed = [deal for deal, item in new if is_listed(item)]
    return [*(offers.filing(deal, has_ended=has_ended(item)) for deal, item in new), *search.filing(listed)]
