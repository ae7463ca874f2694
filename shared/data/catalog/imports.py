"""Many new deals at once, as an import brings them: looked for by their sources, and created together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from shared.data import keys
from shared.data.catalog.deals import creation, numbered
from shared.data.catalog.topics import no_such
from shared.dynamodb.table import KEYS_ONLY, Table
from shared.errors import DealExists
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
    table.transact(*creation(new, now))
    return new


def by_source(table: Table, source_ids: Sequence[str]) -> dict[str, str]:
    """The ids of the deals that exist for some sources, by source id. BatchGetItem, 100 a request."""
    items = table.get_many([keys.deal_source(source_id) for source_id in source_ids], consistent=True)
    return {item["SourceId"]: item["DealId"] for item in items}
