"""Brands and categories by themselves: their names."""

from __future__ import annotations

import pytest

from shared.data import keys
from shared.data.catalog import brands
from shared.dynamodb.table import Table
from shared.dynamodb.writes import update
from shared.errors import BrandsAreFull, NotSeeded
from shared.models.catalog import BRAND, Topic
from shared.values import slugs
from tests.support.engines import DYNOXIDE_ENGINE, on
from tests.support.factories import APPLE, NOW


def test_brands_are_listed_by_slug_with_the_names_editors_wrote(table: Table) -> None:
    for name in ("Nicoló", "G/Fore", "04651 / A Trip In A Bag"):
        brands.create(table, slugs.slug(name), name, NOW)

    named = brands.names(table)

    assert list(named.items()) == [
        ("04651-a-trip-in-a-bag", "04651 / A Trip In A Bag"),
        ("apple", "Apple"),
        ("asics", "ASICS"),
        ("g-fore", "G/Fore"),
        ("nicolo", "Nicoló"),
    ]


def test_a_table_that_was_not_seeded_has_no_brands(bare_table: Table) -> None:
    with pytest.raises(NotSeeded):
        brands.create(bare_table, "apple", "Apple", NOW)

    assert brands.names(bare_table) == {}
    assert bare_table.get(keys.topic(APPLE)) is None


@on(DYNOXIDE_ENGINE)
def test_a_full_list_of_brands_says_so_and_takes_no_brand(table: Table) -> None:
    full = {"one": "x" * (400 * 1024 - 200)}
    table.write(update(keys.brands(), "SET Brands = :full", values={":full": full}, refused=None))

    with pytest.raises(BrandsAreFull, match="full"):
        brands.create(table, "one-more", "y" * 300, NOW)

    assert table.get(keys.topic(Topic(BRAND, "one-more"))) is None
    assert brands.names(table) == full
