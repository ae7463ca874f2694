"""The API's answers about votes."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from features.votes.models import Vote as GivenVote
from shared.api.fields import Answer, Cursor
from shared.api.schemas import Deal, Models, list_of

Score = Annotated[
    int | None, Field(description="Upvotes minus downvotes; null while the deal is less than ten minutes old.")
]


class PopularDeal(Deal):
    score: Score


class Vote(Answer):
    """Your vote on a deal. A vote of an account less than a day old is stored but never counts."""

    vote: Annotated[str, Field(json_schema_extra={"enum": list(GivenVote)})] | None
    counts: bool
    score: Score


ANSWERS: Models = {"PopularDeal": PopularDeal, "PopularList": list_of(PopularDeal, Cursor), "Vote": Vote}
