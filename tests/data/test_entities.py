"""The rows of item types, against a table in which everything has happened and each damage that may be done to it.

The chart of the entities, the kinds of collections and what is shown of people, held against items and models.
"""

from __future__ import annotations

import dataclasses
import json
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from shared.data import idempotency, keys, partitions, removal
from shared.data.catalog import deals, feeds, offers, page_cache, search
from shared.data.catalog.deals import from_item
from shared.data.entities import PLACES, ROWS, row_of
from shared.data.entity import Entity
from shared.data.idempotency import Idempotency
from shared.data.members import rate_limits, users
from shared.dynamodb.attributes import Item, unmarshal_items
from shared.dynamodb.schema import INDEXES, key_names
from shared.dynamodb.table import Table
from shared.models.catalog import ALL_DEALS, Deal
from shared.models.members import User
from shared.values.stored import attribute_of
from tests.support.cases import cases
from tests.support.checks import faults
from tests.support.engines import FAST
from tests.support.factories import a_user
from tools import workbench

NOW = workbench.NOW


def upkeep(table: Table, _deal: Deal) -> None:
    rate_limits.remember(table, "ana", "203.0.113.7", NOW)
    table.write(idempotency.receipt(Idempotency("account-ana", "a key", {}), "a result", NOW))
    for part in page_cache.PARTS:
        copy = page_cache.Copy("<ul></ul>" if part.picks else None, "<ul></ul>" if part.feed else None)
        page_cache.write(table, part, copy, began=NOW, expires=NOW + timedelta(minutes=1), form=page_cache.HTML)


def imported(table: Table, deal: Deal) -> None:
    again: dict[str, Any] = {
        "deal_id": deals.new_id(NOW, None, bytes(16)),
        "created_at": NOW,
        "number": None,
        "source_id": None,
    }
    deals.create_many(table, [replace(deal, **again)], NOW)


def leaving(table: Table, _deal: Deal) -> None:
    users.create(table, a_user("flo"))
    removal.leave(table, users.get(table, "flo", consistent=True), NOW)


def filed(table: Table, _deal: Deal) -> None:
    """What the stream's readers write: they come after all of it."""
    for item in [item for item in table.everything() if item["Type"] == keys.DEAL]:
        search.file(table, None, from_item(item))
        offers.file(table, None, from_item(item))
    for item in [item for item in table.everything() if item["Type"] == keys.DEAL]:
        offers.judge_anew(table, None, from_item(item))
        judged = from_item(table.get(keys.primary(item), consistent=True) or {})
        offers.file(table, None, judged)
        search.file(table, from_item(item), judged)


PARTS = (*cases("HAPPENS"), upkeep, imported, leaving, filed)
"""What happens in a table besides what the model for Workbench shows."""


def everything(table: Table) -> None:
    """What the model for Workbench shows, and what it leaves out."""
    workbench.fill(table)
    deal = feeds.read(table, ALL_DEALS, limit=9, now=NOW).items[4]
    for part in PARTS:
        part(table, deal)


@pytest.fixture(scope="module")
def items() -> list[Item]:
    with FAST.table() as table:
        everything(table)
        return list(table.everything())


def of(row: Entity, items: list[Item]) -> list[Item]:
    """The items of a row."""
    return [item for item in items if row_of(item)[0] is row]


def named(row: Entity) -> str:
    return f"{row.type} {row.own.keys[1]}"


rows = pytest.mark.parametrize("row", ROWS, ids=named)


@rows
def test_everything_has_an_item_of_each_type(row: Entity, items: list[Item]) -> None:
    assert of(row, items)


def owner_of(item: Item) -> str | None:
    """The account that an item or its key names."""
    name: str | None = ({**item, **row_of(item)[1]}).get("Username")
    return name


def test_what_an_account_owns_goes_with_it() -> None:
    with FAST.table() as table:
        everything(table)
        ana = users.get(table, "ana", consistent=True)
        for release in cases("RELEASES"):
            release(table, "ana")
        before = list(table.everything())

        removal.remove_account(table, ana, NOW)

        after = list(table.everything())
    owned = [item for item in before if owner_of(item) == "ana"]
    assert [named(row) for row in ROWS if row.owned and not of(row, owned)] == []
    assert [item for item in after if owner_of(item) == "ana"] == []
    # Receipts are kept under the account's id, which nothing leads to any more, until they expire.
    named_by_id = [row_of(item)[0] for item in after if ana.account_id in str(item)]
    assert [row.type for row in named_by_id if row and not row.expires] == []
    assert faults(after, NOW) == []


ROOT = Path(__file__).resolve().parents[2]
MODEL = json.loads((ROOT / "docs" / "nosql-workbench.json").read_text(encoding="utf-8"))["DataModel"][0]


def matches(form: str, key: Any) -> bool:
    """Whether a key has the form that the chart says."""
    return re.fullmatch(re.sub(r"<[^>]+>", ".+", form.replace("<", "\0<")).replace("\0", ""), key) is not None


def fits(entity: Entity, item: dict[str, Any]) -> bool:
    """Whether an item is as the chart says: its type, its key, and all of its places in indexes that are shown."""
    there = [index for index in (None, *INDEXES) if index is None or index.partition_key in item]
    return entity.type == item["Type"] and all(
        any(all(map(matches, pair, [item.get(name or "") for name in key_names(index)])) for pair in entity.at(index))
        for index in there
        if index is None or index.sort_key
    )


def test_every_item_of_the_sample_is_in_the_chart() -> None:
    items = unmarshal_items(item for facet in MODEL["TableFacets"] for item in facet["TableData"])

    assert len({item["Type"] for item in items}) > 30
    assert [item for item in items if not any(fits(entity, item) for entity in ROWS)] == []


def test_every_type_of_item_is_in_the_chart() -> None:
    types: set[str] = set()
    for name, value in vars(keys).items():
        if name.isupper() and isinstance(value, str):
            types.add(value)
        elif name in ("TOPIC", "LIKE", "WATCH"):
            types.update(value.values())

    assert types - {entity.type for entity in ROWS} == set()


def test_every_partition_is_of_a_kind_or_is_hidden_and_not_both() -> None:
    kinds = [(place.index, keys.pattern_of(place.partition), place.kind, place.because) for place in PLACES]

    for index, pattern in {(index, pattern) for index, pattern, *_ in kinds}:
        same = [(kind, because) for at, of, kind, because in kinds if (at, of) == (index, pattern)]
        assert any(kind for kind, _ in same) != any(because for _, because in same), (index, pattern)


@pytest.mark.parametrize(("of", "type_"), [(User, keys.USER), *cases("OF_PEOPLE")])
def test_it_is_decided_of_each_attribute_of_people_whether_it_is_shown(of: Any, type_: str) -> None:
    stored = {attribute.name for field in dataclasses.fields(of) if (attribute := attribute_of(field))}
    hidden = set(partitions.HIDDEN_ATTRIBUTES.get(type_, {}))

    assert stored - hidden - set(partitions.SHOWN_ATTRIBUTES) == set()
    assert not hidden & set(partitions.SHOWN_ATTRIBUTES)
