"""Members' routes that vote deals up or down."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router

from shared.api import member_documents
from shared.api.app import calling
from shared.api.documentation import of_members
from shared.data.catalog import deals, scores
from shared.data.catalog.scores import Scored
from shared.data.members import votes
from shared.http.answers import json_answer
from shared.http.requests import segment
from shared.models.catalog import Vote
from shared.runtime.environment import table
from shared.values import times

router = Router()  # type: ignore[no-untyped-call]  # Powertools leaves it untyped


def offer_vote(given: Vote) -> None:
    """The route by which members vote a deal up, or down. Saying it twice counts once."""

    @router.put(f"/deals/<deal_id>/vote/{given}", **of_members(f"Vote a deal {given}", "Vote", errors=[404, 409]))
    def vote(deal_id: str) -> Response[Any]:
        return _voted(deal_id, given)


offer_vote(Vote.UP)
offer_vote(Vote.DOWN)


@router.delete("/deals/<deal_id>/vote", **of_members("Take one's vote back", "Vote", errors=[404]))
def no_vote(deal_id: str) -> Response[Any]:
    return _voted(deal_id, None)


def _voted(deal_id: str, given: Vote | None) -> Response[Any]:
    deal, now, own = deals.find(table(), segment(deal_id)), times.now(), calling(router)
    counts = votes.vote(table(), deal, own.username, given, now, own.account_id)
    score = Scored(deal, scores.of(table(), deal.deal_id, consistent=True)).shown(now)
    return json_answer(member_documents.vote(given, score, counts=counts))
