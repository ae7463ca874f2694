"""Members' votes on deals: one each, up or down, which can be changed and removed. A score is the sum of the votes.

A vote is in its member's partition, so that an account's removal finds all by a consistent Query, and it is written in
a transaction with the score. It stores what it is worth: nothing if the account was younger than a day, until the
member votes again.

The score is a separate item, so that votes don't conflict with edits of the deal. While the deal is listed, GSI1 has
the scores of a month's deals by rank: ten times the votes equal 12 and a half hours, so newer deals rise without any
rewriting of older ones. The stream files the rank (``upkeep.py``), once for all votes of a
second, from the score and the deal's id alone, so filing it again changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain
from math import copysign, log10

from features.votes.data import keys
from features.votes.models import NEWCOMER, Scored, Vote
from shared.data import account_checks
from shared.data import keys as core_keys
from shared.data.catalog import deals
from shared.data.catalog.deals import readable
from shared.dynamodb import damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import GSI1, Key
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import Write, assign, change, delete_as, put_new, upsert
from shared.errors import AlreadyExists, Busy, DealIsOver, DealsError
from shared.models.catalog import Deal, Page, Period, Status
from shared.values import identifiers
from shared.values.times import from_iso, to_iso

WORTH = {Vote.UP: 1, Vote.DOWN: -1}

_GIVEN = Projection.of("PK", "SK", "Vote", "Worth", "CreatedAt", "Type", "Username", "DealId", "VotedAt")
"""The attributes of a vote, and of an account its creation time."""

_VOTE = Projection.of("Vote")

TENFOLD = 45_000
"""How many seconds of age ten times the score makes up for."""

MARKED = 100
"""Popular deals of a month whose scores the cards of new deals show."""

_BEGAN = datetime(2020, 1, 1, tzinfo=UTC)
_SCOPE = "popular"
_SCORE = Projection.of("PK", "SK", "Score")


class _Changed(DealsError):
    """The member has voted meanwhile."""


def vote(
    table: Table, deal: Deal, username: str, given: Vote | None, now: datetime, account_id: str | None = None
) -> bool:
    """Vote on a deal, or remove the vote (None); returns whether it counts. Repeating it changes nothing.

    A BatchGetItem of vote and account, then one transaction. Raises DealIsOver, NotSignedIn, NoSuchUser, Busy.
    """
    if given is not None and deal.status(now) is not Status.ACTIVE:
        raise DealIsOver(deal.deal_id)
    place, owner = keys.vote(username, deal.deal_id), core_keys.user(username)

    def attempt() -> bool:
        found = {item["PK"]: item for item in table.get_many([place, owner], consistent=True, projection=_GIVEN)}
        old = found.get(place["PK"])
        counts = given is not None and _is_counted(found.get(owner["PK"], {}), now)
        new = None
        if given is not None:
            new = _item(deal.deal_id, username, given, WORTH[given] if counts else 0, now)
        if _direction_and_worth(old) != _direction_and_worth(new):
            table.transact(account_checks.required(username, account_id), *_writes(deal.deal_id, old, new))
        return counts

    return table.retry(attempt, when=_Changed, gave_up=Busy("You are voting in many places at once; try again."))


def plant(table: Table, deal_id: str, username: str, worth: int, now: datetime) -> None:
    """Write one vote that counts as many, for the sample, whose readers share an account. One transaction."""
    table.transact(*_writes(deal_id, None, _item(deal_id, username, Vote.UP, worth, now)))


def given(table: Table, deal_id: str, username: str) -> Vote | None:
    """A member's vote on a deal, or None. One GetItem."""
    item = table.get(keys.vote(username, deal_id), projection=_VOTE)
    return None if item is None else damage.read_or(item, lambda each: Vote(each["Vote"]), otherwise=None)


def remove_some(table: Table, username: str, most: int, *, required: Write) -> int:
    """Remove at most ``most`` votes of a member, and their worth; returns how many."""
    found = list(table.query(keys.votes_by(username), limit=most, consistent=True))
    for item in found:
        with suppress(_Changed):  # another run of the removal may be faster
            table.transact(required, *_writes(core_keys.id_in(item["SK"]), item, None))
    return len(found)


def _item(deal_id: str, username: str, given: Vote, worth: int, now: datetime) -> Item:
    vote = {"Vote": given.value, "Worth": worth, "VotedAt": to_iso(now)}
    return {**keys.vote(username, deal_id), "Type": keys.VOTE, "Username": username, "DealId": deal_id, **vote}


def _writes(deal_id: str, old: Item | None, new: Item | None) -> Iterator[Write]:
    """The writes that replace one vote by another; at most one may be None. Refused with _Changed."""
    if new is None:
        yield delete_as(old or {}, refused=_Changed())
    elif old is None:
        yield put_new(new, refused=_Changed())
    else:
        yield change(old, new, version=None, refused=_Changed())
    by = sum(sign * damage.attribute_or(each, "Worth", int, 0) for sign, each in ((-1, old), (1, new)) if each)
    if by:
        yield counting(deal_id, by)


def _direction_and_worth(item: Item | None) -> tuple[object, object]:
    """A vote's direction and worth; None for both if there is no vote."""
    return (item or {}).get("Vote"), (item or {}).get("Worth")


def _is_counted(owner: Item, now: datetime) -> bool:
    """Whether an account is old enough for its votes to count."""
    made = damage.read_or(owner, lambda item: from_iso(item["CreatedAt"]), otherwise=now) if owner else now
    return now - made >= NEWCOMER


def counting(deal_id: str, by: int) -> Write:
    """The write that adds to a score."""
    left = {"Type": keys.SCORE, "DealId": deal_id}
    return upsert(keys.score(deal_id), left, {"Score": by}, because="the first vote creates it")


def score_of(table: Table, deal_id: str, *, consistent: bool = False) -> int | None:
    """A deal's score, or None before the first counted vote. One GetItem."""
    item = table.get(keys.score(deal_id), projection=_SCORE, consistent=consistent)
    return None if item is None else damage.attribute_or(item, "Score", int, None)


def popular(table: Table, now: datetime, *, limit: int, cursor: str | None = None) -> Page[Scored]:
    """A page of active deals of this month and the last one, highest rank first.

    Two Queries at once, then a BatchGetItem of the deals; before them, with a cursor, a GetItem of its score. The last
    month is included because on a month's first day its deals are still popular. Raises InvalidCursor.
    """
    after = None
    if cursor is not None:
        last = identifiers.read_cursor(_SCOPE, cursor)
        after = place(last, score_of(table, last) or 0)["GSI1SK"]
    months = [Period.MONTH.start_of(when) for when in (now, now.replace(day=1) - timedelta(days=1))]
    asked = [partial(_of_month, table, month, after, limit + 1) for month in months]
    ranked = sorted(chain.from_iterable(table.gather(asked)), key=lambda item: str(item["GSI1SK"]), reverse=True)
    scores = dict(damage.readable(ranked[:limit], lambda item: (core_keys.id_in(item["PK"]), _score_in(item))))
    found = deals.get_many(table, list(scores))
    shown = tuple(Scored(deal, scores[deal.deal_id]) for deal in found if deal.status(now) is Status.ACTIVE)
    return Page(shown, identifiers.next_cursor(_SCOPE, [core_keys.id_in(item["PK"]) for item in ranked], limit))


def of_popular(table: Table, days: Iterable[datetime]) -> dict[str, int]:
    """The scores, by deal, of the ``MARKED`` most popular deals of each month, for the newest two of these months.

    A Query of three read units at most for a month. A new deal with votes ranks high, so few of the newest are missing.
    """
    months = sorted({Period.MONTH.start_of(day) for day in days})[-2:]
    ranked = chain.from_iterable(table.gather([partial(_of_month, table, month, None, MARKED) for month in months]))
    return dict(damage.readable(list(ranked), lambda item: (core_keys.id_in(item["PK"]), _score_in(item))))


def file_scores(
    table: Table, deal_ids: Iterable[str], now: datetime, *, failures: damage.Failures | None = None
) -> None:
    """File deals' scores in GSI1: listed deals by rank, others nowhere.

    A BatchGetItem, and an update for each changed place if the score is unchanged since; otherwise a later stream
    record files it. Each update has a record, too, which makes the reader look at deal and score once more, so
    concurrent readers converge. A failing deal doesn't stop the others: its error is added to ``failures`` or, without
    that list, raised at the end.
    """
    wanted = list(dict.fromkeys(deal_ids))
    items = table.get_many(
        [key for each in wanted for key in (keys.score(each), core_keys.deal(each))], consistent=True
    )
    found = {item["PK"]: item for item in items}
    current = readable(found[at] for each in wanted if (at := core_keys.deal(each)["PK"]) in found)
    listed = {deal.deal_id for deal in current if deal.status(now) is Status.ACTIVE}

    def give(item: Item) -> None:
        deal_id, score = core_keys.id_in(item["PK"]), _score_in(item)
        due = place(deal_id, score) if deal_id in listed else {}
        if item.get("GSI1SK") != due.get("GSI1SK"):
            placing = assign(
                keys.score(deal_id),
                due or {"GSI1PK": None, "GSI1SK": None},
                condition="Score = :score",
                values={":score": score},
                refused=AlreadyExists(),
            )
            with suppress(AlreadyExists):  # a later score is filed
                table.write(placing)

    due_scores = [found[at] for each in wanted if (at := keys.score(each)["PK"]) in found]
    list(damage.each(due_scores, give, failures=failures))


def place(deal_id: str, score: int) -> Key:
    """The key attributes in GSI1 of a listed deal's score."""
    posted = identifiers.time_of(deal_id)
    worth = copysign(log10(max(abs(score), 1)) * TENFOLD, score)
    rank = round(worth + (posted - _BEGAN).total_seconds())
    return keys.score_in_popular(deal_id, Period.MONTH.start_of(posted), rank)


def _of_month(table: Table, month: str, after: str | None, limit: int) -> list[Item]:
    """The scores of a month's deals, whole: a projection would save no units, and hide how many are taken."""
    return list(table.query(keys.popular(month), index=GSI1, after=after, newest_first=True, limit=limit))


def _score_in(item: Item) -> int:
    return damage.attribute(item, "Score", int)
