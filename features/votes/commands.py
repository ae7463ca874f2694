"""``btd deals vote`` and ``btd deals popular``."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.catalog import deals_app
from cli.commands import DealName, Row, Username, Work, offer
from cli.output import Json, table
from features.votes import documents
from features.votes.data import votes
from features.votes.models import Vote
from shared.data.catalog import deals


def vote(
    work: Work,
    deal: DealName,
    username: Username,
    way: Annotated[str, typer.Argument(metavar="WAY", help="up, down, or none to remove the vote.")],
) -> Json:
    """Vote on a deal as a user; the deployed system then ranks it."""
    if way not in (*Vote, "none"):
        raise typer.BadParameter("must be up, down or none.", param_hint="WAY")
    given = None if way == "none" else Vote(way)
    found = deals.find(work.table, deal, consistent=True)
    counts = votes.vote(work.table, found, username, given, work.now)
    score = votes.score_of(work.table, found.deal_id, consistent=True)
    return documents.vote(given, score, counts=counts)


SUBCOMMANDS = {"deals": (vote,)}

popular = table(
    {
        "Score": "score",
        "Number": "dealNumber",
        "Title": "title",
        "Brand": "brand",
        "Created": "createdAt",
        "Deal": "dealId",
    }
)
offer(
    deals_app,
    Row(
        "popular --limit --cursor",
        "GET /popular",
        "List deals by the votes of readers, of this month and the previous one.",
        popular,
    ),
)
