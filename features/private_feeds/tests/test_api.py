"""The routes of a private feed."""

from __future__ import annotations

from tests.api.conftest import site  # noqa: F401  # the fixture
from tests.support.site import Api


def test_a_private_feed_is_made_listed_and_revoked(site: Api) -> None:
    member = site.member()

    before, made, there = member.get("/me/feed"), member.post("/me/feed"), member.get("/me/feed")
    revoked = [member.delete("/me/feed").status_code for _ in range(2)]

    assert before.json() == member.get("/me/feed").json() == {"createdAt": None, "ended": False}
    assert made.status_code == 201
    assert len(made.json()["key"]) == 43
    assert there.json() == {"createdAt": made.json()["createdAt"], "ended": False}
    assert revoked == [204, 204]
