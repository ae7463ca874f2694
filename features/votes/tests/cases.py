"""Votes in tests of all features."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from playwright.sync_api import Page, expect

from features.votes.data import keys, votes
from features.votes.models import HIDDEN, NEWCOMER, Vote
from shared.data import keys as core_keys
from shared.data.partitions import of
from shared.dynamodb.schema import GSI1
from shared.dynamodb.table import Table
from shared.dynamodb.writes import forget, update
from shared.models.catalog import Deal
from shared.values import times
from tests.support.commands import until
from tests.support.factories import NOW
from tests.support.site import Site, Visitor
from tests.support.states import PUBLIC as OF_EVERYONE
from tests.support.tab import at, press, site_in

DEAL_ID = "0ujtsYcg"


def own(table: Table, deal: Deal, username: str, now: datetime) -> None:
    """A member votes on a deal, a day later if the account is too young; the stream ranks the deal."""
    if not votes.vote(table, deal, username, Vote.UP, now):
        votes.vote(table, deal, username, Vote.UP, now + NEWCOMER)
    votes.file_scores(table, [deal.deal_id], now)


OWNS = (own,)

GOLDEN = (
    (keys.vote, ("ana", DEAL_ID), {"PK": "VOTES#ana", "SK": "DEAL#0ujtsYcg"}),
    (keys.votes_by, ("ana",), "VOTES#ana"),
    (keys.score, (DEAL_ID,), {"PK": "SCORE#0ujtsYcg", "SK": "SCORE#0ujtsYcg"}),
    (keys.popular, ("2026-06-01",), "POPULAR#2026-06-01T00:00:00"),
    (
        keys.score_in_popular,
        (DEAL_ID, "2026-06-01", -176_000_000),
        {"GSI1PK": "POPULAR#2026-06-01T00:00:00", "GSI1SK": "0824000000#0ujtsYcg"},
    ),
)

DAMAGES = {
    "a score is miscounted": (
        "scores of deals",
        lambda lamp: update(
            keys.score(lamp.deal_id), "SET Score = :wrong", condition=None, values={":wrong": 7}, refused=None
        ),
    ),
    "a score is gone": (
        "scores of deals",
        lambda lamp: forget(keys.score(lamp.deal_id), because="this is the damage"),
    ),
}

LATE = {
    "vote": lambda table, deal, account: votes.vote(table, deal, "ana", Vote.DOWN, NOW, account),
    "take vote back": lambda table, deal, account: votes.vote(table, deal, "ana", None, NOW, account),
}
UNDOES = {"take vote back": "vote"}

_VOTE, _SCORE = keys.vote("ana", DEAL_ID)["PK"], keys.score(DEAL_ID)["PK"]
_REMOVERS = "accounts account remover"

RIGHTS = (
    # Votes are written for members, scores by those and by who ranks them.
    (("PutItem",), _VOTE, "", "members mine"),
    (("DeleteItem",), _VOTE, "", f"members mine {_REMOVERS}"),
    (("Query",), _VOTE, "", _REMOVERS),
    (("UpdateItem", "PutItem", "DeleteItem"), _SCORE, "", f"members mine refresher {_REMOVERS}"),
)

PUBLIC = (("", of(keys.SCORE)), (GSI1.name, of(keys.SCORE, GSI1)))


def _vote(site: Site, member: Visitor, other: Visitor, deal_ids: Sequence[str]) -> None:
    """Vote, change a vote and take it back; the other's vote stays until the account goes."""
    for each in (member, other):
        then = times.to_iso(times.now() - NEWCOMER)
        key = core_keys.user(each.username)
        site.table.write(update(key, "SET CreatedAt = :then", values={":then": then}, refused=None))
    for way in ("up", "down"):
        assert member.put(f"/deals/{deal_ids[0]}/vote/{way}").json()["counts"]
    assert other.put(f"/deals/{deal_ids[1]}/vote/up").status_code == 200
    assert until(lambda: member.get("/popular?limit=1").json()["next"])
    cursor = member.get("/popular?limit=1").json()["next"]
    assert member.get("/popular", params={"cursor": cursor}).json()["items"]
    assert member.delete(f"/deals/{deal_ids[0]}/vote").json()["vote"] is None


USES = (_vote,)


def _fill(table: Table, listed: Sequence[Deal], now: datetime) -> None:
    """Thirty deals have votes."""
    voted = [deal for deal in listed if deal.created_at < now - HIDDEN][:30]
    for place, deal in enumerate(voted):
        table.write(votes.counting(deal.deal_id, 30 - 2 * place))
    votes.file_scores(table, [deal.deal_id for deal in voted], now)


FILLS = (_fill,)

DEFERRED = (
    (
        "/my/votes/{number}/up",
        {"on": "1"},
        "/deals/{number}?notice=vote-noted",
        lambda table, deal: votes.given(table, deal.deal_id, "ana"),
    ),
)
FORM_PAGES = {"/my/votes/12/up": "/deals/12"}
EVERYONES = {"popular": "/popular"}
BUDGETS = {"popular": OF_EVERYONE}
SITE_PAGES = {"/popular": "No votes yet this month."}
BESIDE = ("GetItem",)
COSTS = {"/popular": ("Query 2", 1)}

COMMANDS = {
    "Vote a deal up or down, take it back": (
        "deals vote {deal} ana up",
        ["GetItem", "BatchGetItem", "TransactWriteItems", "GetItem"],
    ),
    "Popular deals": ("deals popular", ["Query GSI1", "Query GSI1"]),
}
ASKED = (("", "/popular"),)


def _vote_in_the_tab(page: Page, deal: str) -> None:
    press(page, "▲ Worth it")
    expect(site_in(page).get_by_role("button", name="▲ Voted up")).to_be_visible()
    at(page, deal)
    expect(site_in(page).get_by_role("button", name="▲ Voted up")).to_be_visible()


IN_THE_TAB = (_vote_in_the_tab,)
