"""A deal that was hardly meant: when its editor is asked, and when nobody is."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from shared.data.catalog import deals, editing
from shared.data.idempotency import Idempotency
from shared.dynamodb.table import Table
from shared.errors import DealIsOdd
from shared.models.catalog import Deal
from shared.values.times import ago as in_words
from tests.support.factories import NOW, a_deal, ago, ahead, post


@pytest.mark.parametrize(
    ("fields", "odd"),
    [
        ({}, set()),
        ({"list_price": None}, set()),
        ({"ends_at": ahead(seconds=1)}, set()),
        ({"ends_at": NOW}, {"expiresAt"}),
        ({"price": "157.99"}, set()),
        ({"price": "158.00"}, {"price"}),
        ({"price": "1000.00", "ends_at": ago(days=1)}, {"price", "expiresAt"}),
        ({"list_price": "0.00"}, {"price"}),
    ],
)
def test_what_has_ended_or_saves_nothing_is_odd_except_in_history(fields: dict[str, Any], odd: set[str]) -> None:
    assert editing.warnings_of(a_deal(**fields), NOW).keys() == odd
    assert editing.warnings_of(a_deal(ago(minutes=16), **fields), NOW) == {}


def test_an_edit_is_asked_about_what_it_makes_odd_itself(table: Table) -> None:
    (deal,) = post(table, [a_deal(ago(days=9), ends_at=ago(days=1), price="200.00")])

    editing.edit(table, deal.deal_id, {"title": "Road runner", "ends_at": ago(days=1)}, NOW, ())
    for changes in ({"ends_at": ago(days=2)}, {"price": "201.00"}, {"list_price": "150.00"}):
        with pytest.raises(DealIsOdd):
            editing.edit(table, deal.deal_id, changes, NOW, ())

    assert deals.get(table, deal.deal_id).price == "200.00"
    deals.edit(table, deal.deal_id, {"price": "201.00"}, NOW)
    assert deals.get(table, deal.deal_id).price == "201.00"


def test_what_an_editor_has_not_seen_is_asked_about_with_all_else(table: Table, deal: Deal) -> None:
    with pytest.raises(DealIsOdd) as asked:
        editing.edit(table, deal.deal_id, {"price": "200.00", "ends_at": ago(hours=1)}, NOW, ["price"])

    assert asked.value.warnings.keys() == {"expiresAt", "price"}


def test_a_repeated_request_finds_its_deal_also_when_that_has_ended_meanwhile(table: Table) -> None:
    (_,) = post(table, [a_deal()])
    once = Idempotency("account", "key", {"title": "Trail runner"})
    first = editing.create(table, a_deal(ends_at=ahead(minutes=1)), NOW, (), idempotency=once)

    again = editing.create(table, a_deal(ends_at=ahead(minutes=1)), ahead(minutes=2), (), idempotency=once)

    assert again == first


@pytest.mark.parametrize(
    ("when", "words"),
    [
        (NOW, "just now"),
        (ago(seconds=60), "1 minute ago"),
        (ago(minutes=119), "1 hour ago"),
        (ago(days=400), "400 days ago"),
    ],
)
def test_a_past_time_is_told_in_its_largest_unit(when: datetime, words: str) -> None:
    assert in_words(when, NOW) == words
