"""Members' routes for votes."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router

from features.votes import documents
from features.votes.data import votes
from features.votes.models import Scored, Vote
from shared.api.app import calling, of_members
from shared.data.catalog import deals
from shared.http.answers import json_answer
from shared.runtime.environment import table
from shared.values import times

router = Router()  # type: ignore[no-untyped-call]  # Powertools leaves it untyped


def _offer(given: Vote) -> None:
    """Add the idempotent route of an up or a down vote."""

    @router.put(f"/deals/<deal_id>/vote/{given}", **of_members(f"Vote a deal {given}", "Vote", errors=[404, 409]))
    def vote(deal_id: str) -> Response[Any]:
        return _voted(deal_id, given)


_offer(Vote.UP)
_offer(Vote.DOWN)


@router.delete("/deals/<deal_id>/vote", **of_members("Remove your vote", "Vote", errors=[404]))
def no_vote(deal_id: str) -> Response[Any]:
    return _voted(deal_id, None)


def _voted(deal_id: str, given: Vote | None) -> Response[Any]:
    deal, now, own = deals.find(table(), deal_id), times.now(), calling(router)
    counts = votes.vote(table(), deal, own.username, given, now, own.account_id)
    score = Scored(deal, votes.score_of(table(), deal.deal_id, consistent=True)).shown(now)
    return json_answer(documents.vote(given, score, counts=counts))
