"""The buttons that vote."""

from __future__ import annotations

from features.votes.data import votes
from features.votes.models import NEWCOMER
from shared.data import keys
from shared.data.catalog import deals
from shared.dynamodb.table import Table
from shared.dynamodb.writes import update
from shared.values import times
from tests.signed_in.conftest import PostDeal, ana, post_deal, table  # noqa: F401  # fixtures
from tests.support.browsing import Browser


def test_a_vote_is_given_changed_and_taken_back_by_its_buttons(ana: Browser, table: Table, post_deal: PostDeal) -> None:
    deal = post_deal()
    a_day_ago = times.to_iso(times.now() - NEWCOMER)
    values = {":then": a_day_ago}
    table.write(update(keys.user("ana"), "SET CreatedAt = :then", values=values, refused=None))
    button, came = f"/my/votes/{deal.number}", []

    for way, on, script in (("up", "1", ""), ("up", "1", "json"), ("down", "1", "json"), ("up", "0", "")):
        seen = ana.post(f"{button}/{way}", {"on": on}, Accept=f"application/{script or 'xhtml+xml'}")
        status = ana.get(f"/my/status?deal={deal.number}").json
        came.append((seen.json if script else seen.location, status["up"], status["down"]))

    said = {"notice": "Your vote counts until you change it."}
    assert came == [
        (f"/deals/{deal.number}?notice=voted", True, False),
        ({"up": True, "down": False, **said}, True, False),
        ({"up": False, "down": True, **said}, False, True),
        (f"/deals/{deal.number}?notice=vote-gone", False, False),
    ]
    assert votes.score_of(table, deal.deal_id) == 0
    deals.withdraw(table, deal.deal_id, times.now())
    late = ana.post(f"{button}/up", {"on": "1"})
    assert (late.status, "This deal has ended or was withdrawn." in late.words) == (409, True)
    assert ana.post(f"{button}/left", {"on": "1"}).status == 404
