"""The chart of the entities, the kinds of collections and what is shown of people, held against items and models."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest

from shared.data import item_counts, item_types, keys, partitions
from shared.data.entities import OF_LESSONS, PLACES, ROWS, Entity
from shared.dynamodb.attributes import unmarshal_items
from shared.dynamodb.schema import INDEXES, key_names
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put
from shared.html.patterns import KINDS
from shared.learn import lessons
from shared.models.members import User
from shared.models.orders import Order, OrderItem
from shared.values.stored import attribute_of

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

    assert len({item["Type"] for item in items}) > 40
    assert [item for item in items if not any(fits(entity, item) for entity in ROWS)] == []


def test_every_type_of_item_is_in_the_chart() -> None:
    types: set[str] = set()
    for name, value in vars(item_types).items():
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


def test_the_patterns_of_the_kinds_have_pages_that_a_collection_leads_to() -> None:
    patterns = {number for *_, kind in KINDS for number, _ in kind.patterns}

    assert len(patterns) > 30
    assert {f"pattern-{number}" for number in patterns} <= lessons.by_slug().keys() | lessons.moved().keys()


@pytest.mark.parametrize(("of", "type_"), [(User, item_types.USER), (Order, item_types.ORDER), (OrderItem, "")])
def test_it_is_decided_of_each_attribute_of_people_whether_it_is_shown(of: Any, type_: str) -> None:
    stored = {attribute.name for field in dataclasses.fields(of) if (attribute := attribute_of(field))}
    hidden = set(partitions.HIDDEN_ATTRIBUTES.get(type_, {}))

    assert stored - hidden - set(partitions.SHOWN_ATTRIBUTES) == set()
    assert not hidden & set(partitions.SHOWN_ATTRIBUTES)


def test_items_are_counted_by_their_types_and_places(table: Table) -> None:
    for number in range(3):
        place = {"GSI1PK": "DEALS#x", "GSI1SK": f"DEAL#{number}"} if number else {}
        table.write(put({"PK": f"DEAL#{number}", "SK": "x", "Type": "Counted", **place}, because="a test's own"))

    counts = item_counts.count(table)

    assert (counts.counts["Counted", None], counts.counts["Counted", "GSI1"]) == (3, 2)
    assert counts.examples["Counted", "GSI1"]["PK"] in ("DEAL#1", "DEAL#2")
    assert counts.is_whole


def test_items_of_lessons_are_counted_as_such_whatever_they_say_that_they_are(table: Table) -> None:
    for number, type_ in enumerate([{}, {"Type": "Deal"}]):
        place = {"PK": keys.scratch("visitor-0001", str(number)), "GSI1PK": keys.scratch("visitor-0001", "x")}
        table.write(put({**place, "SK": "x", "GSI1SK": "y", **type_}, because="a test's own"))

    counts = item_counts.count(table).counts

    assert (counts[OF_LESSONS.type, None], counts[OF_LESSONS.type, "GSI1"], counts["Deal", None]) == (2, 2, 0)


def test_counting_stops_in_a_large_table_and_says_so(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(item_counts, "MOST", 1)
    for number in range(4):
        large = {"PK": f"DEAL#{number}", "SK": "x", "Type": "Large", "Value": "x" * 390_000}
        table.write(put(large, because="a test's own"))

    counts = item_counts.count(table)

    assert 0 < counts.counts["Large", None] < 4
    assert not counts.is_whole
