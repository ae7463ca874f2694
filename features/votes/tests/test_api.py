"""The routes of votes."""

from __future__ import annotations

from datetime import timedelta

from features.votes.models import NEWCOMER
from shared.data import keys
from shared.dynamodb.writes import update
from shared.values import times
from tests.api.conftest import brand, editor, site  # noqa: F401  # fixtures
from tests.support.site import Api, Visitor, a_deal, assert_problem


def test_a_vote_is_given_changed_and_taken_back(site: Api, editor: Visitor, brand: str) -> None:
    then = times.now() - timedelta(minutes=20)
    deal = editor.post("/deals", json=a_deal(brand, createdAt=times.to_iso(then))).json()
    newcomer, member = site.member(), site.member()
    joined = {":then": times.to_iso(then - NEWCOMER)}
    site.table.write(update(keys.user(member.username), "SET CreatedAt = :then", values=joined, refused=None))
    vote = f"/deals/{deal['dealNumber']}/vote"

    answers = [newcomer.put(f"{vote}/up")]
    answers += [member.request(*each) for each in (("PUT", f"{vote}/down"), ("PUT", f"{vote}/down"), ("DELETE", vote))]

    assert [answer.json() for answer in answers] == [
        {"vote": "up", "counts": False, "score": 0},
        {"vote": "down", "counts": True, "score": -1},
        {"vote": "down", "counts": True, "score": -1},
        {"vote": None, "counts": False, "score": 0},
    ]
    editor.patch(f"/deals/{deal['dealId']}", json={"withdrawn": True})
    assert_problem(member.put(f"{vote}/up"), 409)
