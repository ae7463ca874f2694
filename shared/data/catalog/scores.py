"""The score that readers' votes give a deal, and its place among the popular deals.

The score is an item of its own, so that those who vote do not meet those who read or edit the deal. While the deal is
listed, the score is also in GSI1, among those of the deals of one month by their rank: ten times the votes are
worth as much as being 12 and a half hours newer, so time itself does the decaying, and nothing is ever ranked anew
because it has grown older. The rank is filed by the stream (``functions/background/refresher.py``), once for all votes
of a second, and follows from the score and the deal's id alone: filing it again changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain
from math import copysign, log10

from shared import settings
from shared.data import keys
from shared.data.catalog import deals
from shared.data.catalog.deals import readable
from shared.dynamodb import cursors, damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import GSI1, Key
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import Write, assign, update
from shared.errors import AlreadyExists
from shared.models.catalog import Deal, Page, Period, Status
from shared.values import identifiers

TENFOLD = 45_000
"""Seconds that a deal may be older than another one for ten times its score."""

_BEGAN = datetime(2020, 1, 1, tzinfo=UTC)
_SCOPE = "popular"
_SCORE = Projection.of("PK", "SK", "Score")
_RANKED = Projection.of("PK", "SK", "Score", "GSI1SK")


@dataclass(frozen=True, slots=True)
class Scored:
    """A deal and its score; None where no vote has counted yet."""

    deal: Deal
    score: int | None

    def shown(self, now: datetime) -> int | None:
        """The score as readers see it: 0 before the first vote, None while the deal is new."""
        return None if now < self.deal.created_at + settings.SCORE_HIDDEN else self.score or 0


def counting(deal_id: str, by: int) -> Write:
    """The write that counts votes; the first one makes the item."""
    return update(
        keys.score(deal_id),
        "SET #type = :type, DealId = :deal ADD Score :by",
        condition=None,
        names={"#type": "Type"},
        values={":type": keys.SCORE, ":deal": deal_id, ":by": by},
        refused=None,
    )


def of(table: Table, deal_id: str, *, consistent: bool = False) -> int | None:
    """The score of a deal, or None where no vote has counted yet. One GetItem."""
    item = table.get(keys.score(deal_id), projection=_SCORE, consistent=consistent)
    return None if item is None else damage.attribute_or(item, "Score", int, None)


def popular(table: Table, now: datetime, *, limit: int, cursor: str | None = None) -> Page[Scored]:
    """A page of the active deals of this month and the one before, those of the highest rank first.

    Two Queries at once, then a BatchGetItem of the deals; before them a GetItem of the score that a cursor names. On a
    month's first day, the deals of the month before are still the popular ones. Raises InvalidCursor.
    """
    after = None
    if cursor is not None:
        last = cursors.decode(_SCOPE, cursor)
        after = place(last, of(table, last) or 0)["GSI1SK"]
    months = [Period.MONTH.start_of(when) for when in (now, now.replace(day=1) - timedelta(days=1))]
    asked = [partial(_of_month, table, month, after, limit + 1) for month in months]
    ranked = sorted(chain.from_iterable(table.gather(asked)), key=lambda item: str(item["GSI1SK"]), reverse=True)
    scores = dict(damage.readable(ranked[:limit], lambda item: (keys.id_in(item["PK"]), _score_in(item))))
    found = deals.get_many(table, list(scores))
    shown = tuple(Scored(deal, scores[deal.deal_id]) for deal in found if deal.status(now) is Status.ACTIVE)
    return Page(shown, cursors.encode(_SCOPE, keys.id_in(ranked[limit - 1]["PK"])) if len(ranked) > limit else None)


def file(table: Table, deal_ids: Iterable[str], now: datetime, *, failures: damage.Failures | None = None) -> None:
    """Place the scores of some deals in GSI1: those of listed deals by rank, others nowhere.

    A BatchGetItem, and an update for each place that is another one, on the condition that the score is still the one
    that was read: where it is not, a later record of the stream files it. Each update has a record, too, which reads
    deal and score once more: so what two instances have read and written in any order comes right. One that fails keeps
    no other from its place, and is added to ``failures``, or else raised in the end.
    """
    wanted = list(dict.fromkeys(deal_ids))
    items = table.get_many([key for each in wanted for key in (keys.score(each), keys.deal(each))], consistent=True)
    found = {item["PK"]: item for item in items}
    current = readable(found[at] for each in wanted if (at := keys.deal(each)["PK"]) in found)
    listed = {deal.deal_id for deal in current if deal.status(now) is Status.ACTIVE}

    def give(item: Item) -> None:
        deal_id, score = keys.id_in(item["PK"]), _score_in(item)
        due = place(deal_id, score) if deal_id in listed else {}
        if item.get("GSI1SK") != due.get("GSI1SK"):
            placing = assign(
                keys.score(deal_id),
                due or {"GSI1PK": None, "GSI1SK": None},
                condition="Score = :score",
                values={":score": score},
                refused=AlreadyExists(),
            )
            with suppress(AlreadyExists):  # a later score is
                table.write(placing)

    due_scores = [found[at] for each in wanted if (at := keys.score(each)["PK"]) in found]
    list(damage.each(due_scores, give, failures=failures))


def place(deal_id: str, score: int) -> Key:
    """The place in GSI1 of the score of a listed deal."""
    posted = identifiers.time_of(deal_id)
    worth = copysign(log10(max(abs(score), 1)) * TENFOLD, score)
    rank = round(worth + (posted - _BEGAN).total_seconds())
    return keys.score_in_popular(deal_id, Period.MONTH.start_of(posted), rank)


def _of_month(table: Table, month: str, after: str | None, limit: int) -> list[Item]:
    partition = keys.popular(month)
    return list(table.query(partition, index=GSI1, after=after, newest_first=True, limit=limit, projection=_RANKED))


def _score_in(item: Item) -> int:
    return damage.attribute(item, "Score", int)
