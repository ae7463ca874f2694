"""The functions behind CloudFront: its rules as documented, its settings as synthesized, our own answers."""

from __future__ import annotations

import json

import pytest

from features.cdn.tests.edge import Edge
from shared import settings
from shared.data.catalog import deals
from shared.data.members import rate_limits
from shared.dynamodb.table import Table
from shared.errors import SlowDown
from shared.values import times
from tests.functions.conftest import deployed, table
from tests.infra.conftest import Synthesized
from tests.support.factories import a_deal, token_of_new
from tests.support.gateway import NEIGHBOUR, Origin, api

__all__ = ["api", "deployed", "table"]


@pytest.fixture
def edge(closed: Synthesized, api: Origin) -> Edge:
    return Edge(closed.template, api)


@pytest.fixture
def session(table: Table) -> str:
    """The Authorization header of someone signed in."""
    return f"Bearer {token_of_new(table, 'ana')}"


PAGES = ["/v1/front-page", "/v1/deals?limit=2", "/v1/brands/g-fore", "/v1/categories/shoes/deals", "/v1/openapi.json"]


def test_a_page_is_made_once_for_all_its_readers(edge: Edge, api: Origin) -> None:
    for page in PAGES:
        answers = [edge.get(page, user_agent=f"browser {reader}", accept="*/*") for reader in range(5)]

        assert [answer.result for answer in answers] == ["Miss", "Hit", "Hit", "Hit", "Hit"]
        assert len({answer.body for answer in answers}) == 1
    assert len(api.asked) == len(PAGES)


def test_a_page_that_has_not_changed_is_revalidated_without_its_body(edge: Edge, api: Origin) -> None:
    first = edge.get("/v1/deals")
    edge.now += 36  # longer than fresh and stale together

    second = edge.get("/v1/deals")

    assert second.result == "RefreshHit"
    assert second.body == first.body
    assert api.asked[1].headers["if-none-match"] == first.headers["etag"]


def test_a_stale_page_is_served_while_it_is_made_again(edge: Edge, api: Origin, table: Table) -> None:
    edge.get("/v1/deals")
    deals.create(table, a_deal(times.now(), brand="g-fore", title="Brand new"), times.now())
    edge.now += 6  # a second after five

    stale, after = edge.get("/v1/deals"), edge.get("/v1/deals")

    assert stale.result == "Hit"
    assert "Brand new" not in stale.body
    assert after.result == "Hit"
    assert "Brand new" in after.body
    assert len(api.asked) == 2


def test_a_reader_who_has_the_page_gets_304_at_the_edge(edge: Edge, api: Origin) -> None:
    first = edge.get("/v1/deals")

    again = edge.get("/v1/deals", if_none_match=first.headers["etag"])

    assert (again.status, again.body) == (304, "")
    assert len(api.asked) == 1


def test_a_parameter_that_the_api_does_not_know_splits_nothing_and_goes_no_further(edge: Edge, api: Origin) -> None:
    edge.get("/v1/deals?limit=2")

    answer = edge.get("/v1/deals?utm_source=mail&limit=2")
    other = edge.get("/v1/deals?limit=1")

    assert answer.result == "Hit"
    assert other.result == "Miss"
    assert [dict(asked.query) for asked in api.asked] == [{"limit": "2"}, {"limit": "1"}]


@pytest.mark.parametrize("name", ["authorization", "cookie"])
def test_a_request_with_credentials_neither_gets_nor_leaves_a_stored_page(
    edge: Edge, api: Origin, session: str, name: str
) -> None:
    credentials = {"authorization": session, "cookie": "theme=dark"}[name]

    for page in PAGES:
        api.asked.clear()
        edge.get(page)
        stored = dict(edge.stored)
        answers = [edge.get(page, **{name: credentials}) for _ in range(2)]

        assert [answer.result for answer in answers] == ["Miss", "Miss"]
        assert [answer.directives.keys() & {"public", "private"} for answer in answers] == [{"private"}, {"private"}]
        assert edge.stored == stored
        assert [asked.headers.get(name) for asked in api.asked] == [None, credentials, credentials]


def test_what_is_a_members_own_is_never_stored(edge: Edge, api: Origin, session: str) -> None:
    for path in ("/v1/me", "/v1/me/watches", "/v1/messages", "/v1/messages/unread-count"):
        mine, anonymous = edge.get(path, authorization=session), edge.get(path)

        assert (mine.status, mine.result) == (200, "Pass")
        assert mine.directives.keys() == {"no-store"}
        assert anonymous.status == 401

    assert edge.stored == {}


def test_what_members_write_goes_through_with_all_it_needs(edge: Edge, api: Origin, session: str) -> None:
    liked = edge.send("PUT", "/v1/brands/g-fore/like", authorization=session)
    posted = edge.send(
        "POST", "/v1/deals", "{}", authorization=session, content_type="application/json", idempotency_key="once"
    )

    assert json.loads(liked.body) == {"liked": True, "likes": 1}
    assert posted.status == 403  # said by the function: a member is no editor
    assert api.asked[-1].headers.items() >= {
        ("authorization", session),
        ("content-type", "application/json"),
        ("idempotency-key", "once"),
    }
    assert edge.stored == {}


@pytest.mark.parametrize("path", ["/v1/deals/none-such", "/v1/deals?limit=0", "/v1/deals?cursor=forged"])
def test_an_error_is_not_kept(edge: Edge, api: Origin, path: str) -> None:
    answers = [edge.get(path) for _ in range(2)]

    assert [answer.result for answer in answers] == ["Error", "Error"]
    assert all(answer.directives.keys() == {"no-store"} for answer in answers)
    assert len(api.asked) == 2


def test_an_api_in_trouble_is_asked_again_at_once_when_it_is_well(edge: Edge, api: Origin) -> None:
    api.fails = True
    busy = edge.get("/v1/deals")
    api.fails = False

    assert busy.status == 503
    assert edge.get("/v1/deals").status == 200


def test_attempts_to_sign_in_are_counted_for_the_viewer_not_for_the_edge(edge: Edge, api: Origin, table: Table) -> None:
    body = json.dumps({"username": "ana", "password": "not the password"})
    viewer, now = "203.0.113.9", times.now()
    made_up = {"x_forwarded_for": "10.0.0.1"}

    edge.send("POST", "/v1/sessions", body, content_type="application/json", viewer_address=viewer, **made_up)

    for number in range(settings.SIGN_INS_PER_NETWORK - 1):
        rate_limits.begin(table, f"user{number}", viewer, now)
    with pytest.raises(SlowDown):
        rate_limits.begin(table, "another", viewer, now)
    rate_limits.begin(table, "another", NEIGHBOUR, now)
