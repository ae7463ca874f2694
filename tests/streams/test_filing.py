"""New deals that one batch of the stream brings are filed together, and once, whatever goes wrong meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from shared.data import item_types, keys
from shared.data.catalog import offers, search, words
from shared.data.catalog.deal_items import is_listed, to_item
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from shared.runtime import environment
from shared.values import times
from tests.support.factories import a_deal
from tests.support.records import Record, batch, record
from tests.support.wire import losing, watched

FILED = {item_types.WORD, item_types.WORD_COUNT, item_types.PRODUCT_OFFER}
COLOURS = ("Black", "Blue", "Brown", "Green", "Grey", "Olive", "Pink", "Red", "White", "Yellow")

Announce = Callable[[Any], dict[str, Any]]


@pytest.fixture
def new() -> list[Deal]:
    """Twenty deals of an import: one was taken back before, and one has ended."""
    now = times.now()
    made = [
        a_deal(title=f"{colour} trail {name}", link=f"https://s.example/{name}/{colour}")
        for colour in COLOURS
        for name in ("boots", "T-Shirt")
    ]
    made[4], made[7] = replace(made[4], withdrawn_at=now), replace(made[7], ends_at=now)
    return made


def records(deals: list[Deal]) -> list[Record]:
    return [record(None, to_item(deal, times.now())) for deal in deals]


def filed(table: Table) -> dict[tuple[str, str], Any]:
    """The words, their counts and the offers in the table."""
    return {(item["PK"], item["SK"]): item for item in table.scan()[0] if item["Type"] in FILED}


def due(deals: list[Deal]) -> dict[tuple[str, str], Any]:
    """The words, their counts and the offers that should be there."""
    listed = [deal for deal in deals if is_listed(to_item(deal, times.now()))]
    counts = Counter(word for deal in listed for word in words.of_deal(deal))
    expected = [item for deal in listed for item in search.items_of(deal).values()]
    for deal in deals:
        item = to_item(deal, times.now())
        expected.append(offers_item(deal, ended=not is_listed(item) and deal.withdrawn_at is None))
    for word, number in counts.items():
        forms = {words.of_deal(deal)[word] for deal in listed if word in words.of_deal(deal)}
        expected.append({**keys.word_count(word), "Type": "WordCount", "Word": word, "Deals": number, "Forms": forms})
    return {(item["PK"], item["SK"]): item for item in expected}


def offers_item(deal: Deal, *, ended: bool) -> Any:
    return {name: value for name, value in offers.to_item(deal, has_ended=ended).items() if value is not None}


def test_new_deals_of_a_batch_take_a_transaction_for_as_many_as_fit(
    table: Table, announce: Announce, new: list[Deal]
) -> None:
    with watched(environment.table()) as wire:
        answer = announce(batch(records(new)))

    assert answer == {"batchItemFailures": []}
    assert filed(table) == due(new)
    assert wire.operations == {"TransactWriteItems": 2}


def test_new_deals_are_filed_and_counted_once_however_often_they_come(
    table: Table, announce: Announce, new: list[Deal]
) -> None:
    search.file(table, None, new[0])  # an earlier delivery of the same record got so far
    written = records(new)

    with losing(environment.table(), "TransactWriteItems", times=2):
        announce(batch(written))
    answer = announce(batch(written))

    assert answer == {"batchItemFailures": []}
    assert filed(table) == due(new)
