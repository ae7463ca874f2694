"""Many new deals at once, as an import brings them: looked for by their sources, created together, and filed together
by the stream, with their words and offers."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import TypeVar

from shared.data import keys
from shared.data.catalog import feed_counts, offers, search, words
from shared.data.catalog.deals import creation, has_ended, is_listed, numbered
from shared.data.catalog.topics import no_such
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import KEYS_ONLY, Table
from shared.dynamodb.writes import MOST_TOGETHER
from shared.errors import DealExists, DealsError
from shared.models.catalog import BRAND, Deal, Topic

T = TypeVar("T")


def create_many(table: Table, deals: Sequence[Deal], now: datetime) -> list[Deal]:
    """Create deals, in the transactions of ``batches``: of each, all of its deals or none.

    The brands' names are taken from the deals. Raises as ``create`` does.
    """
    found = batches(table, deals, now)
    for batch in found:
        create_batch(table, batch, now)
    return sorted(itertools.chain(*found), key=lambda deal: deal.number or 0)


def batches(table: Table, deals: Sequence[Deal], now: datetime) -> list[list[Deal]]:
    """Deals with the next numbers of the sequence, in parts that one transaction each creates; their brands exist.

    One UpdateItem however many deals, and a BatchGetItem for 100 brands. Raises NoSuchTopic, DealTooLarge, NotSeeded.
    """
    new = numbered(table, deals) if deals else []
    brands = {deal.brand: keys.topic(Topic(BRAND, deal.brand)) for deal in deals}
    known = {item["PK"] for item in table.get_many([*brands.values()], consistent=True, projection=KEYS_ONLY)}
    for brand, key in brands.items():
        if key["PK"] not in known:
            raise no_such(Topic(BRAND, brand))
    # Deals of one category and brand together: a transaction writes each of their counts once.
    new.sort(key=lambda deal: (deal.status(now), deal.category, deal.brand))
    # A deal's own writes are its item, its number, its source, and perhaps the note of its end.
    own = [3 + (deal.ends_at is not None) for deal in new]
    counts = [frozenset(tuple(key.values()) for key, _ in feed_counts.counters(deal)) for deal in new]
    return [*_together(zip(new, own, counts, strict=True))]


def create_batch(table: Table, deals: Sequence[Deal], now: datetime) -> None:
    """Create the deals of one of ``batches``: all, or none if one is refused. Raises DealExists."""
    sources = Counter(deal.source_id for deal in deals if deal.source_id is not None)
    for source_id, times in sources.items():
        # DynamoDB would call it an invalid transaction:
        # https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
        if times > 1:
            raise DealExists(source_id)
    feed_counts.mending(table, lambda: table.transact(*creation(deals, now)), entered=deals)


def by_source(table: Table, source_ids: Sequence[str]) -> dict[str, str]:
    """The ids of the deals that exist for some sources, by source id. BatchGetItem, 100 a request."""
    items = table.get_many([keys.deal_source(source_id) for source_id in source_ids], consistent=True)
    return {item["SourceId"]: item["DealId"] for item in items}


def file_new(table: Table, new: Sequence[tuple[Deal, Item]]) -> set[str]:
    """File new deals, each with its item, as many in a transaction as fit; returns the ids of those that are filed.

    A transaction counts each word once for all of its deals. One that fails, because a deal was filed before or a count
    is damaged, leaves its deals to be filed one by one: that changes nothing where it was done.
    """
    filed: set[str] = set()
    found_by = [frozenset(words.of_deal(deal) if is_listed(item) else ()) for deal, item in new]
    own = [len(offers.places(deal.link)) + len(found) for (deal, _), found in zip(new, found_by, strict=True)]
    for together in _together(zip(new, own, found_by, strict=True)):
        if len(together) > 1:
            filing = [write for deal, item in together for write in offers.filing(deal, has_ended=has_ended(item))]
            try:
                table.transact(*filing, *search.filing([deal for deal, item in together if is_listed(item)]))
            except DealsError:
                continue
            filed |= {deal.deal_id for deal, _ in together}
    return filed


def _together(things: Iterable[tuple[T, int, frozenset[Hashable]]]) -> Iterator[list[T]]:
    """Things in their order, in parts whose writes fit a transaction: of each, how many writes it takes for itself, and
    which ones it shares with others."""
    together: list[T] = []
    own, shared = 0, frozenset[Hashable]()
    for thing, alone, others in things:
        if together and own + alone + len(shared | others) > MOST_TOGETHER:
            yield together
            together, own, shared = [], 0, frozenset()
        together.append(thing)
        own, shared = own + alone, shared | others
    if together:
        yield together
