"""Members vote deals up or down: one vote each, to be changed and taken back.

A vote is in a partition of the member's own, so that a removal finds all of them there, by a consistent Query and
without an index; and it is written in one transaction with the deal's score (``catalog.scores``). It says what it is
worth in that score: nothing, where the account was younger than a day. It is worth that until its member votes anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime

from shared import settings
from shared.data import account_checks, keys
from shared.data.catalog import scores
from shared.dynamodb import damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import Write, change, delete_as, put_new
from shared.errors import Busy, DealIsOver, DealsError
from shared.models.catalog import Deal, Status, Vote
from shared.values.times import from_iso, to_iso

WORTH = {Vote.UP: 1, Vote.DOWN: -1}

_GIVEN = Projection.of("PK", "SK", "Vote", "Worth", "CreatedAt", "Type", "Username", "DealId", "VotedAt")
"""The attributes of a vote, and when an account was made."""

_VOTE = Projection.of("Vote")


class _Changed(DealsError):
    """The member has voted meanwhile."""


def vote(
    table: Table, deal: Deal, username: str, given: Vote | None, now: datetime, account_id: str | None = None
) -> bool:
    """Vote a deal up or down, or take a vote back (None); returns whether it counts. Repeating it changes nothing.

    A BatchGetItem of vote and account, then one transaction. Raises DealIsOver, NotSignedIn, NoSuchUser, Busy.
    """
    if given is not None and deal.status(now) is not Status.ACTIVE:
        raise DealIsOver(deal.deal_id)
    place, owner = keys.vote(username, deal.deal_id), keys.user(username)

    def attempt() -> bool:
        found = {item["PK"]: item for item in table.get_many([place, owner], consistent=True, projection=_GIVEN)}
        old = found.get(place["PK"])
        counts = given is not None and _is_counted(found.get(owner["PK"], {}), now)
        new = None
        if given is not None:
            new = _item(deal.deal_id, username, given, WORTH[given] if counts else 0, now)
        if _said(old) != _said(new):
            table.transact(account_checks.required(username, account_id), *_writes(deal.deal_id, old, new))
        return counts

    return table.retry(attempt, when=_Changed, gave_up=Busy("You are voting in many places at once; try again."))


def plant(table: Table, deal_id: str, username: str, worth: int, now: datetime) -> None:
    """One vote that is worth many, for a sample, whose readers are one account. A transaction of vote and score."""
    table.transact(*_writes(deal_id, None, _item(deal_id, username, Vote.UP, worth, now)))


def given(table: Table, deal_id: str, username: str) -> Vote | None:
    """A member's vote on a deal, or None. One GetItem."""
    item = table.get(keys.vote(username, deal_id), projection=_VOTE)
    return None if item is None else damage.read_or(item, lambda each: Vote(each["Vote"]), otherwise=None)


def remove_some(table: Table, username: str, most: int, *, required: Write) -> int:
    """Take a member's votes back, ``most`` of them, with what they are worth; returns how many."""
    found = list(table.query(keys.votes_by(username), limit=most, consistent=True))
    for item in found:
        with suppress(_Changed):  # another run of the removal may have been here first
            table.transact(required, *_writes(keys.id_in(item["SK"]), item, None))
    return len(found)


def _item(deal_id: str, username: str, given: Vote, worth: int, now: datetime) -> Item:
    vote = {"Vote": given.value, "Worth": worth, "VotedAt": to_iso(now)}
    return {**keys.vote(username, deal_id), "Type": keys.VOTE, "Username": username, "DealId": deal_id, **vote}


def _writes(deal_id: str, old: Item | None, new: Item | None) -> Iterator[Write]:
    """The writes that put one vote in the place of another; they are not both None. Refused with _Changed."""
    if new is None:
        yield delete_as(old or {}, refused=_Changed())
    elif old is None:
        yield put_new(new, refused=_Changed())
    else:
        yield change(old, new, version=None, refused=_Changed())
    by = sum(sign * damage.attribute_or(each, "Worth", int, 0) for sign, each in ((-1, old), (1, new)) if each)
    if by:
        yield scores.counting(deal_id, by)


def _said(item: Item | None) -> tuple[object, object]:
    """A vote's direction and worth; None for both where there is none."""
    return (item or {}).get("Vote"), (item or {}).get("Worth")


def _is_counted(owner: Item, now: datetime) -> bool:
    """Whether an account is old enough for its votes to count."""
    made = damage.read_or(owner, lambda item: from_iso(item["CreatedAt"]), otherwise=now) if owner else now
    return now - made >= settings.NEWCOMER
