"""The two buttons that vote on a deal."""

from __future__ import annotations

from functools import partial

from features.votes.data import votes
from features.votes.models import Vote
from shared.data.catalog import deals
from shared.dynamodb.table import Table
from shared.errors import NoSuchPath
from shared.html.pages import Answer, Request, Routes
from shared.html.switches import switched
from shared.runtime.environment import table

routes = Routes()


@routes.post("/my/votes/<number>/<way>", form_page="/deals/<number>")
def vote(request: Request, number: str, way: str) -> Answer:
    """Vote on a deal. Pressing the same button again removes the vote."""
    if way not in list(Vote):
        raise NoSuchPath
    deal = deals.find(table(), number)
    cast = partial(votes.vote, table(), deal, now=request.now)

    def give(username: str, account_id: str | None) -> str:
        counts = cast(given=Vote(way), username=username, account_id=account_id)
        return "voted" if counts else "vote-noted"

    return switched(
        request,
        f"/deals/{deal.page_id}",
        on=give,
        off=partial(cast, given=None),
        notices=("voted", "vote-gone"),
        states=(way, *(other for other in Vote if other != way)),
    )


REPLAYED = (vote,)
"""Is sent after signing in, if it was pressed before."""


def states_of(table: Table, deal_id: str, username: str) -> dict[str, bool]:
    """Which of a deal's buttons are on. One GetItem."""
    given = votes.given(table, deal_id, username)
    return {way.value: given is way for way in Vote}
