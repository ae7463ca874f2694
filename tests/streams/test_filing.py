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
from shared.data.members.cohorts import Unit
from shared.dynamodb import aws_errors, damage
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put
from shared.models.catalog import Deal
from shared.runtime import environment
from shared.services import Queue
from shared.values import times
from tests.support.factories import a_deal
from tests.support.records import Record, batch, record
from tests.support.surroundings import taken
from tests.support.wire import Answer, answered, error, losing, watched

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


def announced(deals: list[Deal]) -> set[str]:
    """The ids of the deals that are news."""
    return {deal.deal_id for deal in deals if is_listed(to_item(deal, times.now()))}


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
    offered = [deal for deal in new if deal.withdrawn_at is None]
    assert len(offered) < len(new)
    assert wire.operations == {"TransactWriteItems": 2, "Query": len(offered)}, (
        "a Query tells that an offer is the first"
    )


def test_new_deals_are_announced_and_found_though_the_count_of_a_word_is_damaged(
    table: Table, queue: Queue, announce: Announce, new: list[Deal]
) -> None:
    bad = {**keys.word_count("trail"), "Type": item_types.WORD_COUNT, "Word": "trail", "Deals": "many"}
    table.write(put(bad, because="a hand's"))
    damage.taken()

    answer = announce(batch(records(new)))

    assert answer == {"batchItemFailures": []}
    assert {Unit.from_json(body).deal_id for body in taken(queue)} == announced(new)
    count = keys.word_count("trail")["PK"], keys.word_count("trail")["SK"]
    assert {**filed(table), count: None} == {**due(new), count: None}
    assert filed(table)[count] == bad
    assert set(damage.taken()) == {" / ".join(count)}

    withdrawn = replace(new[0], withdrawn_at=times.now())
    assert announce(batch([record(to_item(new[0], times.now()), to_item(withdrawn, times.now()))])) == answer
    assert keys.word_of_deal("trail", new[0].deal_id)["SK"] not in str(table.query(keys.word("trail")))


def test_announcing_does_not_wait_for_the_counts_of_words(
    table: Table, queue: Queue, announce: Announce, new: list[Deal], monkeypatch: pytest.MonkeyPatch
) -> None:
    def throttled(request: dict[str, Any]) -> Answer | None:
        return error("ThrottlingException") if "TransactItems" in request else None

    monkeypatch.setattr(aws_errors, "MAX_ATTEMPTS", 1)
    with answered(environment.table(), "TransactWriteItems", throttled):
        answer = announce(batch(records(new)))

    assert {Unit.from_json(body).deal_id for body in taken(queue)} == announced(new)
    assert len(answer["batchItemFailures"]) == len(new) - 2  # all that are listed come again


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
