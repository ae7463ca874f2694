"""Many new deals at once, as an import brings them: looked for by their sources, created together, and filed together
by the stream, with their words and offers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from shared.data import keys
from shared.data.catalog import feed_counts, offers, search, words
from shared.data.catalog.deal_items import has_ended, is_listed
from shared.data.catalog.deals import creation, numbered
from shared.data.catalog.topics import no_such
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import KEYS_ONLY, Table
from shared.dynamodb.writes import MOST_TOGETHER
from shared.errors import DealExists, DealsError
from shared.models.catalog import BRAND, Deal, Topic

MAX_TOGETHER = 14
"""Deals one transaction creates: each takes at most seven of its 100 writes."""


def create_many(table: Table, deals: Sequence[Deal], now: datetime) -> list[Deal]:
    """Create up to ``MAX_TOGETHER`` deals in one transaction: all, or none if one is refused.

    The brands' names are taken from the deals. Raises as ``create`` does.
    """
    sources = Counter(deal.source_id for deal in deals if deal.source_id is not None)
    for source_id, times in sources.items():
        # DynamoDB would call it an invalid transaction:
        # https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
        if times > 1:
            raise DealExists(source_id)
    new = numbered(table, deals)
    brands = {deal.brand: keys.topic(Topic(BRAND, deal.brand)) for deal in deals}
    known = {item["PK"] for item in table.get_many([*brands.values()], consistent=True, projection=KEYS_ONLY)}
    for brand, key in brands.items():
        if key["PK"] not in known:
            raise no_such(Topic(BRAND, brand))
    feed_counts.mending(table, lambda: table.transact(*creation(new, now)), entered=new)
    return new


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
    for together in _batches(new):
        if len(together) > 1:
            filing = [write for deal, item in together for write in offers.filing(deal, has_ended=has_ended(item))]
            try:
                table.transact(*filing, *search.filing([deal for deal, item in together if is_listed(item)]))
            except DealsError:
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
        own = len(offers.places(deal.link)) + len(found_by)
        if items + own + len(counts | found_by) > MOST_TOGETHER:
            yield together
            together, counts, items = [], set(), 0
        together.append((deal, item))
        counts |= found_by
        items += own
    yield together
