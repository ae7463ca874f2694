"""The data model in NoSQL Workbench's format: ``python -m tools.workbench`` writes ``docs/nosql-workbench.json``.

No part of it is written by hand. Tables and indexes come from the schema; the items are those that the project's own
functions write into a table in memory, from some of the sample's deals and one reader. A test compares the written file
with them. The format is the one that Workbench exports and imports (version 3.0):
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/workbench.Modeler.ImportExisting.html
"""

from __future__ import annotations

import io
import itertools
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cli.importer import Importer
from shared.data.catalog import clicks, deals, featured, feeds, products, words
from shared.data.members import follows, messages, saved, sessions, users
from shared.dynamodb.attributes import marshal_item
from shared.dynamodb.schema import INDEXES, PARTITION_KEY, SORT_KEY
from shared.dynamodb.table import Table
from shared.models.catalog import ALL_DEALS, BRAND, CATEGORY, EDITORS_CHOICE, FRONT_PAGE, Topic
from shared.models.members import User
from tests.support.engines import MOTO, one_at_a_time

ROOT = Path(__file__).resolve().parent.parent
PATH = ROOT / "docs" / "nosql-workbench.json"
SAMPLE = ROOT / "tests" / "sample" / "deals.jsonl"

NOW = datetime(2026, 8, 1, 9, 0, tzinfo=UTC)
"""When the sample is looked at: its deals are some hours old."""

TAKEN = 8
"""Deals of the sample: enough for each kind of item, few enough to look through."""

Json = dict[str, Any]


def document() -> Json:
    """The whole model, with its items."""
    with MOTO.table() as table:
        _fill(one_at_a_time(table))
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


def _fill(table: Table) -> None:
    """Everything that happens on the first morning: deals, a reader who follows them, editors who pick."""
    with SAMPLE.open("rb") as file:
        lines = b"".join(itertools.islice(file, TAKEN))
    Importer(table, NOW, workers=1).run(io.BytesIO(lines))
    posted = feeds.read(table, ALL_DEALS, limit=TAKEN, now=NOW).items
    first, second = posted[:2]
    deals.edit(table, first.deal_id, {"ends_at": NOW + timedelta(days=1), "coupon_code": "BIGTIME15"}, NOW)
    for deal in posted:
        products.follow(table, None, deal)
        words.follow(table, None, deal)
    clicks.count(table, first.deal_id)
    ana = User("ana", "ana@mail.example", "Ana", "$argon2id$…", "member", NOW)
    users.create(table, ana)
    sessions.start(table, ana, NOW, bytes(range(32)))
    for topic in (Topic(BRAND, first.brand), Topic(CATEGORY, first.category)):
        follows.watch(table, topic, "ana", NOW)
        follows.like(table, topic, "ana", NOW)
    for deal in (first, second):
        table.write(messages.sending(messages.compose(messages.of_deal(deal, "brand"), "ana", NOW)))
    messages.mark_read(table, "ana", messages.message_id(messages.of_deal(second, "brand"), "ana"), NOW)
    saved.save(table, first, "ana", NOW)
    featured.set_featured(table, FRONT_PAGE, [first.deal_id], NOW)
    featured.set_featured(table, EDITORS_CHOICE, [second.deal_id], NOW)


def _all_of(table: Table) -> list[Json]:
    found: list[Json] = []
    start = None
    while True:
        items, start = table.scan(start=start)
        found += items
        if start is None:
            break
    found.sort(key=lambda item: (item[PARTITION_KEY], item[SORT_KEY]))
    return [marshal_item(dict(sorted(item.items()))) for item in found]


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
