"""Scores are ranked by the refresher, once for the votes of a batch."""

from __future__ import annotations

import pytest

from features.votes.data import keys as vote_keys
from features.votes.data import votes
from shared.data import keys
from shared.data.catalog import deals
from shared.dynamodb.table import Table
from shared.dynamodb.writes import update
from shared.errors import Busy
from shared.models.catalog import Deal
from shared.runtime import environment
from tests.caches.conftest import Get, Refresh, functions_of, get, refresh  # noqa: F401  # fixtures
from tests.caches.test_following import NOW, latest, picked  # noqa: F401  # the fixture
from tests.support.factories import ids
from tests.support.surroundings import of_deal, record
from tests.support.wire import watched


def test_what_was_voted_on_in_a_second_is_ranked_once_and_what_is_over_no_more(
    table: Table, picked: list[Deal], refresh: Refresh, get: Get
) -> None:
    deal = picked[2]
    for _ in range(3):
        table.write(votes.counting(deal.deal_id, 1))
    of_vote = record(None, table.get(vote_keys.score(deal.deal_id)))

    with watched(environment.table()) as wire:
        refresh(of_vote, of_vote, of_vote)
    popular = [each["dealId"] for each in get("/popular")["items"]]
    withdrawn = deals.withdraw(table, deal.deal_id, NOW)
    refresh(of_deal(deal, withdrawn))

    assert wire.operations["UpdateItem"] == 1
    assert popular == [deal.deal_id]
    assert get("/popular")["items"] == []
    assert "GSI1SK" not in (table.get(vote_keys.score(deal.deal_id)) or {})


def test_a_damaged_deal_or_score_keeps_no_other_vote_from_being_ranked(
    table: Table, picked: list[Deal], refresh: Refresh, get: Get
) -> None:
    for deal in picked[:4]:
        table.write(votes.counting(deal.deal_id, 1))
    without_type, without_score, untyped, sound = picked[:4]
    for key, change in (
        (keys.deal(without_type.deal_id), "REMOVE #of"),
        (vote_keys.score(untyped.deal_id), "REMOVE #of"),
    ):
        table.write(update(key, change, names={"#of": "Type"}, condition=None, refused=None))
    table.write(update(vote_keys.score(without_score.deal_id), "SET Score = DealId", condition=None, refused=None))

    answer = refresh(*(record(None, {**vote_keys.score(deal.deal_id), "Type": "Score"}) for deal in picked[:4]))

    assert answer == {"batchItemFailures": []}
    assert {each["dealId"] for each in get("/popular")["items"]} == set(ids([without_type, untyped, sound]))


def test_parts_are_rebuilt_though_votes_cannot_be_ranked(
    table: Table, picked: list[Deal], refresh: Refresh, get: Get, monkeypatch: pytest.MonkeyPatch
) -> None:
    def file(*_: object, **__: object) -> None:
        raise Busy("throttled")

    edited = deals.edit(table, picked[0].deal_id, {"title": "Anew"}, NOW)
    monkeypatch.setattr(votes, "file_scores", file)

    with pytest.raises(Busy):
        refresh(of_deal(picked[0], edited))

    assert latest(get, "/deals")[edited.deal_id] == "Anew"
