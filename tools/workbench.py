"""The data model in NoSQL Workbench's format: ``python -m tools.workbench`` writes ``docs/nosql-workbench.json``.

No part of it is written by hand. Tables and indexes come from the schema; a facet for each type of item, with the forms
of its keys, from the entity chart; the access patterns from the documents; items are those that the project's own
functions write into a table in memory, from some of the sample's deals and three readers. A test compares the written
file with them.

The format is the one that Workbench exports and imports (version 3.0): items are in the facets, as in AWS's own models,
and access patterns in the description. Workbench 3.20 can hold access patterns of their own, in a form that is not
published: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/workbench.Modeler.AccessPatterns.html
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from shared import features, hooks, services, settings
from shared.api import documents
from shared.data.catalog import changes, deals, feeds, offers, page_cache, picks, search, shops
from shared.data.catalog.changes import DealChange
from shared.data.entities import ROWS
from shared.data.members import (
    alerts,
    fanout,
    follows,
    messages,
    rate_limits,
    sessions,
    users,
)
from shared.dynamodb.attributes import marshal_item
from shared.dynamodb.schema import INDEXES, PARTITION_KEY, SORT_KEY, Key
from shared.dynamodb.table import Table
from shared.models.catalog import ALL_DEALS, BRAND, CATEGORY, EDITORS_CHOICE, FRONT_PAGE, Deal, Page, Topic
from shared.models.members import Limits, User
from tests.support import real_deals
from tests.support.engines import FAKE_CREDENTIALS, FAST
from tools import documents as documents_of_project

ROOT = Path(__file__).resolve().parent.parent
PATH = ROOT / "docs" / "nosql-workbench.json"

NOW = datetime(2026, 8, 1, 9, 0, tzinfo=UTC)
"""When the sample is looked at: its deals are some hours old."""

CLOTHING = Topic(CATEGORY, "clothing")

EVERY = 5
"""Each fifth deal of the sample: several brands and categories, few enough to look through."""

READERS = {
    "ana": User("ana", "ana@mail.example", "Ana", "$argon2id$…", "member", NOW, account_id="4c9f1f0e"),
    "bo": User("bo", "bo@mail.example", "Bo", "$argon2id$…", "editor", NOW, account_id="81d2a7c3"),
    "cy": User("cy", "cy@mail.example", "Cy", "$argon2id$…", "member", NOW, account_id="f03b6e95"),
}

Json = dict[str, Any]


def document() -> Json:
    """The whole model, with its items."""
    with FAST.table() as table:
        tokens = itertools.count(1)
        fill(replace(table, token=lambda: str(UUID(int=next(tokens)))))
        items = _all_of(table)
    return {
        "ModelName": "Big Time Deals",
        "ModelMetadata": {
            "Author": "Big Time Deals",
            "DateCreated": "Aug 01, 2026, 09:00 AM",
            "DateLastModified": "Aug 01, 2026, 09:00 AM",
            "Description": _description(),
            "AWSService": "Amazon DynamoDB",
            "Version": "3.0",
        },
        "DataModel": [
            {
                "TableName": "big-time-deals",
                "KeyAttributes": _keys(PARTITION_KEY, SORT_KEY),
                "NonKeyAttributes": _attributes(items),
                "TableFacets": _facets(items),
                "GlobalSecondaryIndexes": [
                    {
                        "IndexName": index.name,
                        "KeyAttributes": _keys(index.partition_key, index.sort_key),
                        "Projection": {"ProjectionType": "ALL"},
                    }
                    for index in INDEXES
                ],
                "DataAccess": {"MySql": {}},
                "BillingMode": "PAY_PER_REQUEST",
            }
        ],
    }


def fill(table: Table) -> None:
    """Everything that happens on the first morning: deals, readers who follow them, editors who pick."""
    posted = _post(table)
    _pick(table, posted)
    _tell_everyone(table, posted[2])
    for number, reader in enumerate(READERS.values()):
        _follow(table, posted[number : number + 3], reader)
    for each in features.roles(hooks.Workbench):
        each.happens(table, posted, READERS, NOW)
    _keep_copies(table, posted)


def _post(table: Table) -> Sequence[Deal]:
    """Real deals, the newest first, with what the stream's functions write of them."""
    some = itertools.islice(real_deals.lines(), 0, None, EVERY)
    real_deals.create(table, [line for line in some if "withdrawnAt" not in line], NOW)
    posted = feeds.read(table, ALL_DEALS, limit=25, now=NOW).items
    edits = {"ends_at": NOW + timedelta(days=1), "variant": "Navy"}
    edited = deals.edit(table, posted[0].deal_id, edits, NOW, by="ana")
    changes.note(table, DealChange(posted[0], edited, NOW), "100000000000000000001")
    shops.remember_category(table, DealChange(None, edited, NOW))
    for deal in posted:
        offers.file(table, None, deal)
        search.file(table, None, deal)
    return posted


def _pick(table: Table, posted: Sequence[Deal]) -> None:
    picks.set_featured(table, FRONT_PAGE, [posted[0].deal_id], NOW)
    picks.set_featured(table, EDITORS_CHOICE, [posted[1].deal_id], NOW)
    of_category = [deal.deal_id for deal in posted if deal.category == CLOTHING.slug]
    picks.set_category_featured(table, CLOTHING.slug, of_category[:5], NOW)


def _follow(table: Table, posted: Sequence[Deal], reader: User) -> None:
    """A reader signs up, likes and watches, is notified of three deals, and reads one."""
    name, secret = reader.username, hashlib.sha256(reader.username.encode()).digest()
    rate_limits.sign_up(table, "203.0.113.7", NOW)
    users.create(table, reader)
    sessions.start(table, reader, NOW, secret)
    for topic in (Topic(BRAND, posted[0].brand), Topic(CATEGORY, posted[0].category)):
        follows.watch(table, topic, name, NOW)
        follows.like(table, topic, name, NOW)
    for deal in posted:
        table.write(messages.sending(messages.compose(messages.of_deal(deal, "brand"), name)))
    messages.mark_read(table, name, messages.message_id(messages.of_deal(posted[1], "brand"), name), NOW)
    alerts.on_price(table, posted[0], name, reader.account_id, Limits(posted[0].price, posted[0].currency), NOW)
    alerts.on_words(table, name, reader.account_id, Limits(words=posted[0].title.split()[-1], least_discount=20), NOW)


def _tell_everyone(table: Table, deal: Deal) -> None:
    """A deal is hot before anyone has signed up: moto does not know the statement that sends messages to many."""
    hot = deals.make_hot(table, deal.deal_id, NOW)
    nowhere = services.connect_queue("", **FAKE_CREDENTIALS)  # nothing is queued where there is but one cohort
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
    found = sorted(table.everything(), key=lambda item: (item[PARTITION_KEY], item[SORT_KEY]))
    types = defaultdict(set)
    for item in found:
        for name, value in item.items():
            types[name].add(type(value))
    mixed = {name for name, kinds in types.items() if len(kinds) > 1}
    shown = [marshal_item({name: _shown(item[name], name in mixed) for name in item}) for item in found]
    return [json.loads(json.dumps(item, sort_keys=True)) for item in shown]  # an engine orders maps as it likes


def _shown(value: Any, mixed: bool) -> Any:
    """A value as the model shows it: a compressed page is one word. Nobody can read it, and each zlib makes another.

    Workbench gives an attribute one type in the whole table: where types of items differ in it, it is shown as text.
    """
    if isinstance(value, bytes):
        return "(compressed)"
    return json.dumps(value, sort_keys=True) if mixed and not isinstance(value, str) else value


def _facets(items: list[Json]) -> list[Json]:
    """A facet for each type of item: the forms of its keys, its attributes, and its items.

    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/workbench.Modeler.Facets.html
    """
    forms: dict[str, list[Key]] = defaultdict(list)
    for entity in ROWS:
        forms[entity.type].append(entity.key)
    by_type: dict[str, list[Json]] = {name: [] for name in forms}
    for item in items:
        by_type[item["Type"]["S"]].append(item)
    return [
        {
            "FacetName": name,
            "KeyAttributeAlias": {
                f"{of}Alias": " or ".join(dict.fromkeys(key[attribute] for key in keys))
                for of, attribute in (("PartitionKey", PARTITION_KEY), ("SortKey", SORT_KEY))
            },
            "TableData": by_type[name],
            "NonKeyAttributes": sorted({name for item in by_type[name] for name in item} - {PARTITION_KEY, SORT_KEY}),
            "DataAccess": {"MySql": {}},
        }
        for name, keys in forms.items()
    ]


def _description() -> str:
    """The subject of the model, and its access patterns, as the documents list them."""
    table = "\n".join(documents_of_project.pattern_rows().values())
    rows = re.findall(r"^\| (\d+) \| ([^|]+) \| [^|]+ \| [^|]+ \| ([^|]+) \|$", table, re.MULTILINE)
    patterns = [f"{number}. {name} ({asked.replace('`', '')})" for number, name, asked in rows]
    about = (
        "One table for a deals site: docs/data-model.md says why each key is as it is.\nA facet shows one type of item."
    )
    return "\n".join([f"{about}\n\nThe access patterns:", *patterns])


def _keys(partition_key: str, sort_key: str | None) -> Json:
    named = {"PartitionKey": partition_key, "SortKey": sort_key}
    return {key: {"AttributeName": name, "AttributeType": "S"} for key, name in named.items() if name}


def _attributes(items: list[Json]) -> list[Json]:
    """Every attribute that an item has, with its type; the table's own keys apart."""
    types = {name: next(iter(value)) for item in items for name, value in item.items()}
    own = sorted(types.keys() - {PARTITION_KEY, SORT_KEY})
    return [{"AttributeName": name, "AttributeType": types[name]} for name in own]


if __name__ == "__main__":
    PATH.write_text(json.dumps(document(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
