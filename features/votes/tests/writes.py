"""The actions of votes, for ``tests/interleave``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from features.votes.data import votes
from features.votes.models import Vote
from tests.interleave.beginning import FIRST, LATER, SECOND
from tests.support.factories import NOW, account_of

if TYPE_CHECKING:
    from shared.models.catalog import Deal
    from tests.interleave.processes import Process


def prepare(at: Process) -> None:
    """Two members have voted."""
    for name in ("ana", "eve"):
        votes.vote(at.table, SECOND, name, Vote.UP, NOW)


def leave_pending(at: Process) -> None:
    """The stream has yet to rank a deal that was voted on."""
    votes.vote(at.table, FIRST, "bo", Vote.UP, NOW)


def vote(at: Process, deal: Deal, given: Vote | None, username: str = "ana") -> bool:
    return votes.vote(at.table, deal, username, given, LATER, account_of(username))


WRITES = {
    "vote": lambda at: vote(at, FIRST, Vote.UP),
    "vote of bo": lambda at: vote(at, FIRST, Vote.DOWN, "bo"),
    "change vote": lambda at: vote(at, SECOND, Vote.DOWN),
    "take vote back": lambda at: vote(at, SECOND, None),
    "file scores": lambda at: votes.file_scores(at.table, [FIRST.deal_id, SECOND.deal_id], LATER),
}
BEFORE_WRITES = (prepare,)
LEFT_PENDING = (leave_pending,)
DONT_WRITE_IN_ACTIONS = {"features.votes.data.votes.plant": "it makes the sample"}
