"""Brands and categories by themselves: their names."""

from __future__ import annotations

import pytest

from shared.data import keys
from shared.data.catalog import brands
from shared.dynamodb.table import Table
from shared.errors import NotSeeded
from shared.values import slugs
from tests.support.making import APPLE, NOW


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
