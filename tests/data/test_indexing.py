"""``btd index``: deals that were there before search was are found like new ones."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cli import upkeep
from shared.data.catalog import deals, offers, search, words
from shared.dynamodb.table import Table
from shared.models.catalog import BRAND, CATEGORY, Deal, Topic
from shared.values import times
from tests.support.factories import a_deal
from tests.support.wire import before

NOW = times.from_iso("2025-03-01T12:00:00Z")


@pytest.fixture
def old(table: Table) -> list[Deal]:
    """Two deals that no stream has told of."""
    return [deals.create(table, a_deal(NOW), NOW) for _ in range(2)]


def indexed(table: Table) -> int:
    return sum(step.rewritten for segment in range(2) for step in upkeep.index_steps(table, segment, 2))


def found(table: Table) -> list[str]:
    return list(search.find(table, words.asked("trail"), limit=10).deal_ids)


def test_deals_without_words_are_found_once_they_are_indexed(table: Table, old: list[Deal]) -> None:
    assert found(table) == []

    assert indexed(table) == 2

    assert found(table) == sorted((deal.deal_id for deal in old), reverse=True)
    assert {deal.deal_id for deal in offers.offers(table, old[0].link)} >= {old[0].deal_id}


def test_indexing_twice_counts_each_word_once(table: Table, old: list[Deal]) -> None:
    for _ in range(2):
        indexed(table)

    for deal in old:
        deals.withdraw(table, deal.deal_id, NOW)
        search.file(table, deal, None)
    assert search.find(table, words.asked("trai"), limit=10).deal_ids == ()
    assert found(table) == []


def test_a_deal_that_is_listed_nowhere_is_not_found(table: Table, old: list[Deal]) -> None:
    deals.withdraw(table, old[0].deal_id, NOW)

    indexed(table)

    assert found(table) == [old[1].deal_id]
    assert len(offers.offers(table, old[0].link)) >= 1


def test_what_is_withdrawn_while_it_is_indexed_is_not_found(table: Table, old: list[Deal]) -> None:
    def withdraw_all() -> None:
        for deal in old:
            deals.withdraw(table, deal.deal_id, NOW)

    with before(table, "PutItem", withdraw_all):  # the first offer's: both deals have been read as they were
        indexed(table)

    assert found(table) == []


def test_an_ended_deal_stands_under_its_brand_and_category_until_it_is_listed_again(
    table: Table, old: list[Deal]
) -> None:
    later = NOW + timedelta(hours=2)
    of_brand, of_category = Topic(BRAND, old[0].brand), Topic(CATEGORY, old[0].category)
    deals.edit(table, old[0].deal_id, {"ends_at": NOW + timedelta(hours=1)}, NOW)
    deals.edit(table, old[0].deal_id, {}, later)
    deals.withdraw(table, old[1].deal_id, later)
    indexed(table)

    for topic in (of_brand, of_category):
        assert [deal.deal_id for deal in offers.ended(table, topic, 10)] == [old[0].deal_id]

    deals.edit(table, old[0].deal_id, {"ends_at": later + timedelta(hours=1)}, later)
    indexed(table)
    assert offers.ended(table, of_brand, 10) == offers.ended(table, of_category, 10) == []
