"""Brands and categories by themselves: their names; and a table without any."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from shared.data import keys
from shared.data.catalog import endings, feeds, imports, topics
from shared.dynamodb.table import Table
from shared.dynamodb.writes import update
from shared.errors import BrandsAreFull, NotSeeded
from shared.models.catalog import ALL_DEALS, BRAND, Topic
from shared.values import naming
from tests.support.engines import DYNOXIDE_ENGINE, on
from tests.support.factories import APPLE, NOW, a_deal


def test_brands_are_listed_by_slug_with_the_names_editors_wrote(table: Table) -> None:
    for name in ("Nicoló", "G/Fore", "04651 / A Trip In A Bag"):
        topics.create_brand(table, naming.slug(name), name, NOW)

    named = topics.brand_names(table)

    assert list(named.items()) == [
        ("04651-a-trip-in-a-bag", "04651 / A Trip In A Bag"),
        ("apple", "Apple"),
        ("asics", "ASICS"),
        ("g-fore", "G/Fore"),
        ("nicolo", "Nicoló"),
    ]


@pytest.mark.parametrize(
    "ask",
    [
        lambda table: topics.create_brand(table, "apple", "Apple", NOW),
        lambda table: imports.create_many(table, [a_deal()], NOW),
        lambda table: feeds.read(table, ALL_DEALS, limit=25, now=NOW),
        lambda table: endings.sweep(table, NOW),
    ],
    ids=["brands", "deals", "feeds", "endings"],
)
def test_a_table_that_was_not_seeded_says_so(bare_table: Table, ask: Callable[[Table], object]) -> None:
    with pytest.raises(NotSeeded):
        ask(bare_table)

    assert topics.brand_names(bare_table) == {}
    assert bare_table.get(keys.topic(APPLE)) is None


@on(DYNOXIDE_ENGINE)
def test_a_full_list_of_brands_says_so_and_takes_no_brand(table: Table) -> None:
    full = {"one": "x" * (400 * 1024 - 200)}
    table.write(update(keys.brands(), "SET Brands = :full", values={":full": full}, refused=None))

    with pytest.raises(BrandsAreFull, match="full"):
        topics.create_brand(table, "one-more", "y" * 300, NOW)

    assert table.get(keys.topic(Topic(BRAND, "one-more"))) is None
    assert topics.brand_names(table) == full
