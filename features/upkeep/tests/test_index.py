"""Deals that no stream has told of are found once they are indexed."""

from __future__ import annotations

from datetime import timedelta

import pytest

from features.upkeep.backfills import index_steps
from features.upkeep.runs import Run
from shared.data.catalog import deals, offers, search, words
from shared.dynamodb.table import Table
from shared.models.catalog import BRAND, CATEGORY, Deal, Topic
from shared.values import times
from tests.support.factories import NOW, a_deal

MARCH = times.from_iso("2025-03-01T12:00:00Z")


@pytest.fixture
def old(table: Table) -> list[Deal]:
    """Two deals that no stream has told of."""
    return [deals.create(table, a_deal(MARCH), MARCH) for _ in range(2)]


def indexed(table: Table) -> int:
    run = Run("Words", 2, NOW)
    return sum(step.rewritten for segment in range(2) for step in index_steps(table, run, segment))


def found_by(table: Table) -> list[str]:
    return list(search.find(table, words.asked("trail"), limit=10).deal_ids)


def test_deals_without_words_are_found_once_they_are_indexed(table: Table, old: list[Deal]) -> None:
    assert found_by(table) == []

    assert indexed(table) == 2

    assert found_by(table) == sorted((deal.deal_id for deal in old), reverse=True)
    assert {deal.deal_id for deal in offers.offers(table, old[0].link)} >= {old[0].deal_id}


def test_indexing_twice_counts_each_word_once(table: Table, old: list[Deal]) -> None:
    for _ in range(2):
        indexed(table)

    for deal in old:
        deals.withdraw(table, deal.deal_id, MARCH)
        search.file(table, deal, None)
    assert search.find(table, words.asked("trai"), limit=10).deal_ids == ()
    assert found_by(table) == []


def test_a_deal_that_is_listed_nowhere_is_not_found(table: Table, old: list[Deal]) -> None:
    deals.withdraw(table, old[0].deal_id, MARCH)

    indexed(table)

    assert found_by(table) == [old[1].deal_id]
    assert len(offers.offers(table, old[0].link)) >= 1


def test_an_ended_deal_stands_under_its_brand_and_category_until_it_is_listed_again(
    table: Table, old: list[Deal]
) -> None:
    later = MARCH + timedelta(hours=2)
    of_brand, of_category = Topic(BRAND, old[0].brand), Topic(CATEGORY, old[0].category)
    deals.edit(table, old[0].deal_id, {"ends_at": MARCH + timedelta(hours=1)}, MARCH)
    deals.edit(table, old[0].deal_id, {}, later)
    deals.withdraw(table, old[1].deal_id, later)
    indexed(table)

    for topic in (of_brand, of_category):
        assert [deal.deal_id for deal in offers.ended(table, topic, 10)] == [old[0].deal_id]

    deals.edit(table, old[0].deal_id, {"ends_at": later + timedelta(hours=1)}, later)
    indexed(table)
    assert offers.ended(table, of_brand, 10) == offers.ended(table, of_category, 10) == []
