"""The data model in NoSQL Workbench's format: ``python -m tools.workbench`` writes ``docs/nosql-workbench.json``.

No part of it is written by hand. Tables and indexes come from the schema; the items are those that the project's own
functions write into a table in memory, from some of the sample's deals and one reader, who also buys. They are of every
kind, except for those of upkeep. A test compares the written file with them. The format is the
one that Workbench exports and imports (version 3.0):
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/workbench.Modeler.ImportExisting.html
"""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from cli.importer import Importer
from shared import settings, sqs
from shared.api import documents
from shared.data.catalog import clicks, deals, feeds, offers, page_cache, picks, search
from shared.data.idempotency import Idempotency
from shared.data.members import (
    announcements,
    fanout,
    follows,
    messages,
    order_news,
    rate_limits,
    saved,
    sessions,
    users,
)
from shared.data.orders import addresses, carts, placing, stock
from shared.dynamodb.attributes import marshal_item
from shared.dynamodb.schema import INDEXES, PARTITION_KEY, SORT_KEY
from shared.dynamodb.table import Table
from shared.models.catalog import ALL_DEALS, BRAND, CATEGORY, EDITORS_CHOICE, FRONT_PAGE, Deal, Topic
from shared.models.lists import Page
from shared.models.members import Address, User
from shared.models.orders import Wanted
from tests.support.engines import FAKE_CREDENTIALS, MOTO

ROOT = Path(__file__).resolve().parent.parent
PATH = ROOT / "docs" / "nosql-workbench.json"
SAMPLE = ROOT / "tests" / "sample" / "deals.jsonl"

NOW = datetime(2026, 8, 1, 9, 0, tzinfo=UTC)
"""When the sample is looked at: its deals are some hours old."""

CLOTHING = Topic(CATEGORY, "clothing")

TAKEN = 8
"""Deals of the sample: enough for each kind of item, few enough to look through."""

Json = dict[str, Any]


def document() -> Json:
    """The whole model, with its items."""
    with MOTO.table() as table:
        tokens = itertools.count(1)
        fill(replace(table, token=lambda: str(UUID(int=next(tokens)))))
        items = _all_of(table)
    return {
        "ModelName": "Big Time Deals",
        "ModelMetadata": {
            "Author": "Big Time Deals",
            "DateCreated": "Aug 01, 2026, 09:00 AM",
            "DateLastModified": "Aug 01, 2026, 09:00 AM",
            "Description": "One table for a deals site: docs/data-model.md says why each key is as it is.",
            "AWSService": "Amazon DynamoDB",
            "Version": "3.0",
        },
        "DataModel": [
            {
                "TableName": "big-time-deals",
                "KeyAttributes": _keys(PARTITION_KEY, SORT_KEY),
                "NonKeyAttributes": _attributes(items),
                "GlobalSecondaryIndexes": [
                    {
                        "IndexName": index.name,
                        "KeyAttributes": _keys(index.partition_key, index.sort_key),
                        "Projection": {"ProjectionType": "ALL"},
                    }
                    for index in INDEXES
                ],
                "TableData": items,
                "DataAccess": {"MySql": {}},
                "BillingMode": "PAY_PER_REQUEST",
            }
        ],
    }


def text() -> str:
    """The document as it is written."""
    return json.dumps(document(), indent=1, ensure_ascii=False) + "\n"


def fill(table: Table) -> None:
    """Everything that happens on the first morning: deals, a reader who follows and buys them, editors who pick."""
    posted = _post(table)
    _pick(table, posted)
    _tell_everyone(table, posted[2])
    _follow(table, posted)
    _sell(table, posted)
    _keep_copies(table, posted)


def _post(table: Table) -> Sequence[Deal]:
    """Deals by an import, the newest first, with what the stream's functions write of them."""
    with SAMPLE.open("rb") as file:
        lines = b"".join(itertools.islice(file, TAKEN))
    Importer(table, NOW, workers=1).run(io.BytesIO(lines))
    posted = feeds.read(table, ALL_DEALS, limit=TAKEN, now=NOW).items
    deals.edit(table, posted[0].deal_id, {"ends_at": NOW + timedelta(days=1), "coupon_code": "BIGTIME15"}, NOW)
    for deal in posted:
        offers.file(table, None, deal)
        search.file(table, None, deal)
    table.write(clicks.noting("big-time-deals", posted[0].deal_id, "203.0.113.7", NOW))
    clicks.count(table, posted[0].deal_id)
    return posted


def _pick(table: Table, posted: Sequence[Deal]) -> None:
    picks.set_featured(table, FRONT_PAGE, [posted[0].deal_id], NOW)
    picks.set_featured(table, EDITORS_CHOICE, [posted[1].deal_id], NOW)
    of_category = [deal.deal_id for deal in posted if deal.category == CLOTHING.slug]
    picks.set_category_featured(table, CLOTHING.slug, of_category[:5], NOW)


def _follow(table: Table, posted: Sequence[Deal]) -> None:
    """A reader signs up, likes and watches, is told of two deals, reads of one and saves the other."""
    first, second = posted[:2]
    rate_limits.sign_up(table, "203.0.113.7", NOW)
    ana = User("ana", "ana@mail.example", "Ana", "$argon2id$…", "member", NOW, account_id="4c9f1f0e")
    users.create(table, ana)
    sessions.start(table, ana, NOW, bytes(range(32)))
    for topic in (Topic(BRAND, first.brand), Topic(CATEGORY, first.category)):
        follows.watch(table, topic, "ana", NOW)
        follows.like(table, topic, "ana", NOW)
    for deal in (first, second):
        table.write(messages.sending(announcements.compose(announcements.of_deal(deal, "brand"), "ana")))
    messages.mark_read(table, "ana", announcements.message_id(announcements.of_deal(second, "brand"), "ana"), NOW)
    saved.save(table, first, "ana", NOW)


def _sell(table: Table, posted: Sequence[Deal]) -> None:
    """The shop sells two of the deals: the reader has ordered one and has the other in the cart."""
    ordered, wished = posted[1], posted[2]
    for deal in (ordered, wished):
        stock.add(table, deal.deal_id, 20, NOW, shards=2)
        stock.show_level(table, deal.deal_id)
    addresses.save(table, "ana", "home", Address("Ana Blake", "12 Harbour Street", "Portland", "04101", "US", "ME"))
    carts.put_in(table, "ana", wished.deal_id, 2, NOW)
    placing.place(
        table,
        placing.Asked(
            "ana",
            "home",
            [Wanted(ordered.deal_id, 1, ordered.price, ordered.currency)],
            Idempotency("4c9f1f0e", "5f2c1e", {"address": "home"}),
        ),
        NOW,
        bytes(16),
        chance=lambda: 0.0,
        terms=placing.Terms(telling=order_news.telling),
    )


def _tell_everyone(table: Table, deal: Deal) -> None:
    """A deal is hot before anybody has signed up: moto does not know the statement that sends messages to many."""
    hot = deals.make_hot(table, deal.deal_id, NOW)
    nowhere = sqs.connect("", **FAKE_CREDENTIALS)  # nothing is queued where there is but one cohort
    for unit in fanout.alarm_of(hot, segments=1):
        fanout.deliver(table, nowhere, unit, NOW)


def _keep_copies(table: Table, posted: Sequence[Deal]) -> None:
    """The copies of one part of each kind, as the refresher writes them for the API."""
    picks = documents.compact(documents.deals(posted[:1], NOW))
    latest = documents.compact(documents.feed(Page(tuple(posted), None), NOW))
    for part in (
        page_cache.FRONT_PAGE_PICKS,
        page_cache.EDITORS_CHOICE_PICKS,
        page_cache.NEWEST,
        page_cache.CATEGORY_PAGES[CLOTHING.slug],
    ):
        copy = page_cache.Copy(picks if part.picks else None, latest if part.feed else None)
        page_cache.write(table, part, copy, began=NOW, expires=NOW + settings.CACHE_LIFETIME)


def _all_of(table: Table) -> list[Json]:
    found: list[Json] = []
    start = None
    while True:
        items, start = table.scan(start=start)
        found += items
        if start is None:
            break
    found.sort(key=lambda item: (item[PARTITION_KEY], item[SORT_KEY]))
    return [marshal_item({name: _shown(item[name]) for name in sorted(item)}) for item in found]


def _shown(value: Any) -> Any:
    """A value as the model shows it: a compressed page is one word. Nobody can read it, and each zlib makes another."""
    return "(compressed)" if isinstance(value, bytes) else value


def _keys(partition_key: str, sort_key: str | None) -> Json:
    keys = {"PartitionKey": _string(partition_key)}
    return keys | ({"SortKey": _string(sort_key)} if sort_key else {})


def _attributes(items: list[Json]) -> list[Json]:
    """Every attribute that an item has, with its type; the table's own keys apart."""
    types = {name: next(iter(value)) for item in items for name, value in item.items()}
    return [
        {"AttributeName": name, "AttributeType": types[name]}
        for name in sorted(types)
        if name not in (PARTITION_KEY, SORT_KEY)
    ]


def _string(name: str) -> Json:
    return {"AttributeName": name, "AttributeType": "S"}


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
