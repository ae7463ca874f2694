"""Drawings of items, the queries that find them, and counts of them."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from features.workings.drawings import drawn
from shared.dynamodb.attributes import Item
from tests.support.factories import NOW

KEY = {"PK": "DEALS", "SK": "DEALS"}


def cell(value: Any, name: str = "Value") -> tuple[str, str, str]:
    """The letters of an attribute's type, its value as it is drawn, and what is beside that."""
    (group,) = drawn([{**KEY, name: value}], NOW)["groups"]
    (column,), (row,) = group["columns"], group["rows"]
    (only,) = row["cells"]
    return column["kinds"], only["text"], only["remark"]


@pytest.mark.parametrize(
    ("value", "letters", "text"),
    [
        ("shoes", "S", "shoes"), (7, "N", "7"), (Decimal("1.5"), "N", "1.5"), (True, "BOOL", "true"),
        ([1, {"a": "b"}], "L", '[1, {"a": "b"}]'), ({"USD": "4.90"}, "M", '{"USD": "4.90"}'), (b"123", "B", "3 bytes"),
        ({"b", "a"}, "SS", '["a", "b"]'), ({1, 2}, "NS", "[1, 2]"), (None, "NULL", "null"),
        ([None, Decimal("1.5")], "L", '[null, "1.5"]'), ("x" * 200, "S", "x" * 120 + "… (200 characters)"),
    ],
)  # fmt: skip
def test_an_attribute_is_drawn_with_its_type_whatever_it_is(value: Any, letters: str, text: str) -> None:
    assert cell(value)[:2] == (letters, text)


@pytest.mark.parametrize(
    ("away", "words"),
    [
        (timedelta(days=29, hours=3), "in 29 days"), (timedelta(minutes=1), "in 1 minute"),
        (timedelta(seconds=59), "in less than a minute"), (timedelta(hours=-3), "expired 3 hours ago"),
    ],
)  # fmt: skip
def test_when_an_item_expires_is_said_in_words(away: timedelta, words: str) -> None:
    when = int((NOW + away).timestamp())

    assert cell(when, "ExpiresAt") == ("N TTL", words, str(when))


def test_items_of_each_type_have_columns_of_their_own_and_stay_in_order() -> None:
    items: list[Item] = [
        {"PK": "X", "SK": "1", "Type": "A", "Zone": "z", "Title": "t"},
        {"PK": "X", "SK": "2", "Type": "A", "Price": "1"},
        {"PK": "X", "SK": "3", "Type": "B", "Count": 1},
        {"PK": "X", "SK": "4", "Type": "A"},
    ]

    groups = drawn(items, NOW)["groups"]

    assert [(each["type"], [row["sort_key"] for row in each["rows"]]) for each in groups] == [
        ("A", ["1", "2"]), ("B", ["3"]), ("A", ["4"]),
    ]  # fmt: skip
    assert [[column["name"] for column in each["columns"]] for each in groups] == [
        ["Title", "Price", "Zone"],
        ["Count"],
        [],
    ]
    assert [cell and cell["text"] for cell in groups[0]["rows"][1]["cells"]] == [None, "1", None]


def test_what_is_hidden_is_named_and_its_value_left_out() -> None:
    user = {"PK": "USER#ana", "SK": "USER#ana", "Type": "User", "Username": "ana", "Email": "ana@mail.example"}

    shown = drawn([user], NOW, hidden={"User": {"Email": "someone's email address"}})

    assert "ana@mail.example" not in str(shown)
    assert {"name": "Email", "kinds": "", "because": "someone's email address"} in shown["groups"][0]["columns"]
    assert (shown["least"], shown["groups"][0]["rows"][0]["size"][0]) == (True, "≥")


def test_the_sizes_are_those_of_items() -> None:
    """By the rules that ``shared/dynamodb/capacity.py`` holds: 2 + 5 + 2 + 5 bytes of keys, and 1 + 4,096."""
    shown = drawn([{**KEY, "v": "x" * 4096}], NOW)

    assert (shown["size"], shown["capacity"], shown["dollars"]) == ("4.0 KB", "1 RRU", "$0.12")
    assert shown["groups"][0]["rows"][0]["size"] == "4.0 KB"
    three = drawn([{**KEY, "v": "x" * 3000}] * 3, NOW)
    assert (three["count"], three["size"], three["capacity"], three["dollars"]) == (3, "8.8 KB", "1.5 RRU", "$0.19")


@pytest.mark.parametrize("key", [{"PK": "LEARN#x", "SK": "PERIODS#x"}, {"PK": "CATEGORY#shoes", "SK": "PERIODS#x"}])
def test_counts_that_were_written_by_hand_are_drawn_without_links(key: dict[str, str]) -> None:
    (group,) = drawn([{**key, "Type": "Periods", "Day01": 3}], NOW)["groups"]

    assert [cell["link"] for row in group["rows"] for cell in row["cells"]] == [""]
