"""A deal's item that someone has damaged by hand: left out of all that lists it, counted, and it stops nothing."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from shared.data.catalog import deals, feeds, page_cache
from shared.data.catalog.deals import to_item
from shared.data.catalog.page_cache import HTML, JSON, NEWEST, PICKED
from shared.dynamodb import damage
from shared.dynamodb.attributes import marshal_item
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from shared.values import times
from tests.caches.conftest import Refresh
from tests.support.cases import cases_by_name
from tests.support.engines import MOTO, Engine
from tests.support.factories import FEEDS, SHOES, a_deal, ids, post
from tests.support.surroundings import of_deal, record

NOW = times.now()
GONE = object()

WAYS: dict[str, dict[str, Any]] = {
    "no id": {"DealId": GONE},
    "an id that is a number": {"DealId": {"N": "7"}},
    "an id that is none": {"DealId": {"S": "deal"}},
    "another deal's id": {"DealId": {"S": "0ujsswThIGTUYm2K8FjOOfXtY1K"}},
    "no title": {"Title": GONE},
    "an empty title": {"Title": {"S": ""}},
    "a title of bytes": {"Title": {"B": b"Trail runner"}},
    "a title that is a number": {"Title": {"N": "501"}},
    "a title that is null": {"Title": {"NULL": True}},
    "a title that is a list": {"Title": {"L": [{"S": "Trail"}, {"S": "runner"}]}},
    "no link": {"Link": GONE},
    "a link that is a map": {"Link": {"M": {"href": {"S": "https://shop.example/"}}}},
    "an image of bytes": {"Image": {"B": b"\xff\xd8"}},
    "no price": {"Price": GONE},
    "a price that is a number": {"Price": {"N": "31.90"}},
    "a price that is a whole number": {"Price": {"N": "31"}},
    "a price that is a word": {"Price": {"S": "free"}},
    "a price below nothing": {"Price": {"S": "-1.00"}},
    "a price with a comma": {"Price": {"S": "31,90"}},
    "a price of several": {"Price": {"NS": ["31", "29.5"]}},
    "a list price that is a number": {"ListPrice": {"N": "158"}},
    "a list price that is a word": {"ListPrice": {"S": "much"}},
    "a currency that is true": {"Currency": {"BOOL": True}},
    "a brand that is a set": {"Brand": {"SS": ["apple", "asics"]}},
    "no name of the brand": {"BrandName": GONE},
    "a category that there is not": {"Category": {"S": "hats"}},
    "a time that is a number": {"CreatedAt": {"N": "1781265600"}},
    "a time that is a word": {"CreatedAt": {"S": "yesterday"}},
    "a time without an offset": {"CreatedAt": {"S": "2026-06-04T20:28:53"}},
    "an end that is a number": {"EndsAt": {"N": "1781265600"}},
    "a description of bytes in a set": {"Description": {"BS": [b"a", b"b"]}},
    **cases_by_name("DAMAGED_DEALS"),
    "a number that is a word": {"DealNumber": {"S": "twelve"}},
}
"""Attributes that someone may write into a Deal item, in DynamoDB's own form."""


@pytest.fixture(scope="session")
def engine() -> Engine:
    """One that takes what no client of ours would write."""
    return MOTO


def posted(table: Table, damaged: int = 1) -> list[Deal]:
    """Some deals to be damaged between two that are not; newest first. Each is a card of its own."""
    made = [
        a_deal(
            NOW - timedelta(seconds=60 + number),
            title=f"Runner-{number}-of-many",
            link=f"https://shop.example/{number}",
        )
        for number in range(damaged + 2)
    ]
    return post(table, made, NOW)


def spoil(table: Table, deal: Deal, way: dict[str, Any]) -> None:
    """Damage a deal's item as someone might who writes to the table by hand."""
    item = {**marshal_item(to_item(deal, NOW)), **way}
    table.client.put_item(TableName=table.name, Item={name: value for name, value in item.items() if value is not GONE})


def test_deals_damaged_in_each_way_are_noted_and_left_out_of_every_page_and_copy(
    table: Table, refresh: Refresh
) -> None:
    first, *damaged, last = posted(table, len(WAYS))
    for deal, way in zip(damaged, WAYS.values(), strict=True):
        spoil(table, deal, way)

    found = {feed.index: ids(feeds.read(table, feed, limit=25, now=NOW).items) for feed in FEEDS}
    noted = damage.taken()
    answer = refresh(of_deal(None, first))

    assert found == {feed.index: ids([first, last]) for feed in FEEDS}
    assert set(noted) == set(ids(damaged))
    assert ids(deals.get_many(table, ids([first, *damaged, last]))) == ids([first, last])
    assert answer == {"batchItemFailures": []}
    for form in (JSON, HTML):
        for copy in page_cache.read(table, [NEWEST, PICKED[SHOES]], shard=1, now=NOW, form=form):
            assert copy is not None
            shown = [deal.title for deal in (first, *damaged, last) if deal.title in copy.text]
            assert shown == [first.title, last.title]


def test_pages_go_on_behind_a_damaged_deal_on_which_a_read_ends(table: Table) -> None:
    made = post(table, [a_deal(NOW - timedelta(seconds=number)) for number in range(30)], NOW)
    for deal in made[2:26]:
        spoil(table, deal, {"DealId": GONE})

    first = feeds.read(table, FEEDS[0], limit=3, now=NOW)
    second = feeds.read(table, FEEDS[0], limit=3, now=NOW, cursor=first.next)

    assert ids([*first.items, *second.items]) == ids([*made[:2], *made[26:]])
    assert second.next is None


def test_a_deal_that_is_damaged_leaves_the_copies_and_comes_back_when_it_is_repaired(
    table: Table, refresh: Refresh
) -> None:
    first, damaged, _ = posted(table)
    whole = to_item(damaged, NOW)
    refresh(of_deal(None, first))

    spoil(table, damaged, {"Price": {"N": "31.90"}})
    refresh(record(whole, {**whole, "Price": 31}))
    (without,) = page_cache.read(table, [NEWEST], shard=1, now=NOW)
    spoil(table, damaged, {})
    refresh(record({**whole, "Price": 31}, whole))
    (mended,) = page_cache.read(table, [NEWEST], shard=1, now=NOW)

    assert without is not None
    assert mended is not None
    assert (damaged.deal_id in without.text, damaged.deal_id in mended.text) == (False, True)
