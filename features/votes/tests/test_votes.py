"""Votes: one each, to be changed and taken back; the score they make, and the rank that time outweighs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from features.votes.data import keys as vote_keys
from features.votes.data import votes
from features.votes.models import HIDDEN, Scored, Vote
from shared.data import account_checks
from shared.data.catalog import deals
from shared.data.members import users
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from shared.dynamodb.writes import update
from shared.errors import DealIsOver, InvalidCursor
from shared.models.catalog import Deal
from shared.values.prices import READ, WRITE
from tests.data.test_costs import cost
from tests.support.engines import DYNOXIDE_ENGINE, MINISTACK, on
from tests.support.factories import NOW, a_deal, a_user, ago, ahead, every_page, ids, join, post
from tests.support.wire import before, watched

UP, DOWN = Vote.UP, Vote.DOWN


@pytest.fixture
def deal(table: Table) -> Deal:
    """A deal of half an hour ago, in a table with two accounts."""
    join(table, "ana", "bo")
    return post(table, [a_deal(ago(minutes=30))])[0]


def test_a_vote_counts_once_is_changed_and_taken_back(table: Table, deal: Deal) -> None:
    came = []
    for given in (UP, UP, DOWN, None, None, DOWN):
        counts = votes.vote(table, deal, "ana", given, NOW)
        came.append((counts, votes.score_of(table, deal.deal_id), votes.given(table, deal.deal_id, "ana")))
    votes.vote(table, deal, "bo", DOWN, NOW)

    assert came == [
        (True, 1, UP), (True, 1, UP), (True, -1, DOWN), (False, 0, None), (False, 0, None), (True, -1, DOWN),
    ]  # fmt: skip
    assert votes.score_of(table, deal.deal_id) == -2


def test_the_vote_of_an_account_younger_than_a_day_is_kept_and_counts_only_when_it_is_given_anew(
    table: Table, deal: Deal
) -> None:
    users.create(table, a_user("new", created_at=ago(hours=23)))

    at_first = votes.vote(table, deal, "new", DOWN, NOW)
    was = votes.score_of(table, deal.deal_id), votes.given(table, deal.deal_id, "new")
    a_day_old = votes.vote(table, deal, "new", DOWN, ahead(hours=1))

    assert (at_first, was, a_day_old) == (False, (None, DOWN), True)
    assert votes.score_of(table, deal.deal_id) == -1


def test_a_deal_that_is_over_takes_no_vote_and_gives_them_back(table: Table, deal: Deal) -> None:
    votes.vote(table, deal, "ana", UP, NOW)
    over = deals.withdraw(table, deal.deal_id, NOW)

    with pytest.raises(DealIsOver):
        votes.vote(table, over, "bo", UP, NOW)
    votes.vote(table, over, "ana", None, NOW)

    assert votes.score_of(table, deal.deal_id) == 0


def test_two_votes_of_one_member_at_once_count_as_the_later_one(table: Table, deal: Deal) -> None:
    for meanwhile, later, score in ((UP, DOWN, -1), (UP, None, 0)):
        with before(table, "TransactWriteItems", partial(votes.vote, table, deal, "ana", meanwhile, NOW)):
            votes.vote(table, deal, "ana", later, NOW)

        assert (votes.score_of(table, deal.deal_id), votes.given(table, deal.deal_id, "ana")) == (score, later)


def test_a_leavers_votes_go_with_what_they_are_worth(table: Table, deal: Deal) -> None:
    others = post(table, [a_deal(ago(hours=hours)) for hours in range(1, 5)])
    for each in (deal, *others):
        votes.vote(table, each, "ana", UP, NOW)
    votes.vote(table, deal, "bo", UP, NOW)

    gone = [votes.remove_some(table, "ana", 3, required=account_checks.required("ana")) for _ in range(3)]

    assert gone == [3, 2, 0]
    assert [votes.score_of(table, each) for each in (deal.deal_id, *ids(others))] == [1, 0, 0, 0, 0]


@on(DYNOXIDE_ENGINE)
def test_what_a_vote_its_rank_and_a_page_of_popular_deals_take(table: Table, deal: Deal) -> None:
    def vote(name: str) -> float:
        return cost(table, lambda: votes.vote(table, deal, name, UP, NOW))

    def rank() -> float:
        return cost(table, lambda: rank_of(table, deal))

    reads = 2  # the vote and the account's age, consistent
    first, ranked, again, more, moved, nothing = vote("ana"), rank(), vote("ana"), vote("bo"), rank(), rank()
    with watched(table) as wire:
        page = cost(table, lambda: votes.popular(table, NOW, limit=25))

    # Two each for the vote and the score, two to require the account; a score that is ranked is in GSI1, too.
    assert (first, again, more) == (reads + 6, reads, reads + 6 + 1)
    # Deal and score are read consistently. A new rank is written, and put into GSI1; one that moves leaves it, too.
    assert (ranked, moved, nothing) == (2 + 2, 2 + 3, 2)
    # A Query of each month, and the deal.
    assert (page, wire.round_trips) == (3 * 0.5, 2)


@on(DYNOXIDE_ENGINE, MINISTACK)
def test_a_page_of_popular_deals_says_the_units_that_it_takes_where_they_are_counted_too(table: Table) -> None:
    for each in post(table, [a_deal(ago(minutes=number)) for number in range(26)], NOW):
        score(table, each, 1)
    trace = Trace().attach(table)

    votes.popular(table, NOW, limit=25)

    trace.detach(table)
    taken = [str(each.capacity).lstrip("~") for each in trace.requests if each.operation == "Query"]
    assert sorted(taken) == ["0.5 RRU", "1 RRU"]


def rank_of(table: Table, deal: Deal) -> None:
    votes.file_scores(table, [deal.deal_id], NOW)


def score(table: Table, deal: Deal, points: int) -> None:
    """Give a deal a score without the votes, and file its rank."""
    table.write(votes.counting(deal.deal_id, points))
    rank_of(table, deal)


def popular(table: Table, now: datetime = NOW) -> list[tuple[str, int | None]]:
    return [(each.deal.title, each.score) for each in votes.popular(table, now, limit=25).items]


def test_ten_times_the_votes_outweigh_twelve_and_a_half_hours(table: Table) -> None:
    older, newer = post(
        table, [a_deal(ago(hours=12, minutes=31), title="older"), a_deal(ago(seconds=1), title="newer")]
    )[::-1]
    score(table, older, 10)
    score(table, newer, 1)
    behind = popular(table)

    score(table, older, 1)

    assert behind == [("newer", 1), ("older", 10)]
    assert popular(table) == [("older", 11), ("newer", 1)]


def test_below_zero_a_deal_is_behind_older_ones(table: Table) -> None:
    posted = post(table, [a_deal(ago(hours=hours), title=f"{hours} hours") for hours in (1, 2, 20)])
    for each, points in zip(posted, (-10, -1, 1), strict=True):
        score(table, each, points)

    assert popular(table) == [("2 hours", -1), ("1 hours", -10), ("20 hours", 1)]


@pytest.mark.parametrize("when", [datetime(2014, 6, 1, tzinfo=UTC), datetime(2140, 6, 1, tzinfo=UTC)])
def test_ranks_of_any_time_sort_as_texts(when: datetime) -> None:
    times = [when, when + timedelta(days=1), datetime(2020, 1, 1, tzinfo=UTC)]
    places: dict[str, tuple[datetime, int]] = {}
    for each in times:
        deal_id = a_deal(each).deal_id
        places |= {votes.place(deal_id, points)["GSI1SK"].partition("#")[0]: (each, points) for points in (-9, 0, 9)}

    assert {len(place) for place in places} == {10}
    assert [places[place] for place in sorted(places)] == [
        (each, points) for each in sorted(times) for points in (-9, 0, 9)
    ]


def test_at_the_beginning_of_a_month_the_deals_of_the_one_before_are_still_popular_page_by_page(table: Table) -> None:
    first = datetime(2050, 6, 1, 0, 5, tzinfo=UTC)
    times = [first - timedelta(minutes=minutes) for minutes in (1, 3, 30, 40, 60)]
    long_ago = datetime(2050, 4, 30, 23, 59, tzinfo=UTC)
    for number, each in enumerate(post(table, [a_deal(when, title=str(when)) for when in (*times, long_ago)], first)):
        score(table, each, number + 1)

    pages = every_page(lambda cursor: votes.popular(table, first, limit=2, cursor=cursor))

    assert [len(page.items) for page in pages] == [2, 2, 1]
    shown = [each for page in pages for each in page.items]
    assert {each.deal.title for each in shown} == {str(when) for when in times}
    assert shown == sorted(
        shown, key=lambda each: votes.place(each.deal.deal_id, each.score or 0)["GSI1SK"], reverse=True
    )
    with pytest.raises(InvalidCursor):
        votes.popular(table, first, limit=2, cursor="forged")


def test_a_rank_is_not_filed_over_a_later_score(table: Table, deal: Deal) -> None:
    votes.vote(table, deal, "ana", UP, NOW)

    def later() -> None:
        votes.vote(table, deal, "bo", UP, NOW)
        rank_of(table, deal)

    with before(table, "UpdateItem", later):
        rank_of(table, deal)

    item = table.get(vote_keys.score(deal.deal_id)) or {}
    assert {name: item.get(name) for name in ("GSI1PK", "GSI1SK")} == votes.place(deal.deal_id, 2)


def test_a_deal_leaves_the_popular_ones_when_it_is_over_and_comes_back(table: Table, deal: Deal) -> None:
    votes.vote(table, deal, "ana", UP, NOW)
    rank_of(table, deal)
    deals.withdraw(table, deal.deal_id, NOW)

    before_the_stream = popular(table)
    rank_of(table, deal)
    gone = "GSI1SK" in (table.get(vote_keys.score(deal.deal_id)) or {})
    deals.edit(table, deal.deal_id, {"withdrawn_at": None}, NOW)
    rank_of(table, deal)

    assert (before_the_stream, gone) == ([], False)
    assert popular(table) == [(deal.title, 1)]


def test_a_damaged_score_takes_no_other_deal_away(table: Table, deal: Deal) -> None:
    (other,) = post(table, [a_deal(ago(hours=1), title="Whole")])
    for each in (deal, other):
        score(table, each, 3)
    table.write(update(vote_keys.score(deal.deal_id), "SET Score = :text", values={":text": "three"}, refused=None))

    assert popular(table) == [("Whole", 3)]
    assert votes.score_of(table, deal.deal_id) is None


def test_a_new_deals_score_is_hidden(table: Table, deal: Deal) -> None:
    scored = Scored(deal, None)

    assert scored.shown(deal.created_at + HIDDEN) == 0
    assert scored.shown(deal.created_at + HIDDEN - timedelta(seconds=1)) is None


def test_the_document_says_what_votes_cost() -> None:
    """Their units are held by the test above."""
    said = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")

    assert f"A thousand votes are {1000 * (7 * WRITE.each + 2 * READ.each):.4f} dollars of DynamoDB" in said
