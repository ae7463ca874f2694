"""The API's answers about votes."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from features.votes.models import Vote as GivenVote
from shared.api.fields import Answer, Cursor
from shared.api.schemas import Deal, Models, list_of

Score = Annotated[
    int | None, Field(description="Votes up less votes down; null while the deal is younger than ten minutes.")
]


class PopularDeal(Deal):
    score: Score


class Vote(Answer):
    """One's vote on a deal. That of an account younger than a day is kept and does not count, then or later."""

    vote: Annotated[str, Field(json_schema_extra={"enum": list(GivenVote)})] | None
    counts: bool
    score: Score


ANSWERS: Models = {"PopularDeal": PopularDeal, "PopularList": list_of(PopularDeal, Cursor), "Vote": Vote}
