"""The gateway's own work, before a function is asked: unknown addresses, missing sessions; and where the API is."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import urlsplit

import httpx
import pytest

from shared.data import keys
from shared.data.catalog import clicks
from shared.data.members import rate_limits
from tests.support.contract import assert_problem
from tests.support.site import Site, Visitor, a_deal, fresh
from tests.support.waiting import PATIENCE


def test_an_unknown_path_and_a_method_that_a_path_does_not_have_are_404(visitor: Visitor) -> None:
    for path in ("/", "/nothing", "/deals/1/2/3", "/me/nothing", "/.env", "/brands/x/likes"):
        for method in ("GET", "POST", "DELETE"):
            assert_problem(visitor.request(method, path), 404)
    for method, path in (("POST", "/front-page"), ("DELETE", "/deals"), ("PUT", "/users"), ("GET", "/sessions")):
        assert_problem(visitor.request(method, path, json={}), 404)


def test_odd_bytes_reach_a_function_as_they_were_sent(site: Site, editor: Visitor, visitor: Visitor) -> None:
    """The gateway encodes bodies and decodes paths and queries; ``tests/api/test_bad_input.py`` has all bad input."""
    writes, headers = site.writes(), {"Content-Type": "application/json"}

    for body in (b'{"title": "\xff"}', b"\xfe\xff\x00{\x00}", b"\x1f\x8b\x08\x00", b'{"title": "x"'):
        assert_problem(editor.post("/deals", content=body, headers=headers), 400)
    for cursor in ("%%%%", "\x00" * 44, "\N{PARTY POPPER}"):
        assert_problem(visitor.get("/deals", params={"cursor": cursor}), 400, "cursor")
    for name in ("%23", "x%23USER%23ana", "%00", "%F0%9F%8E%89", "%FF%FE", "%25"):
        assert editor.put(f"/brands/{name}/like").status_code == 404
    assert_problem(editor.post("/deals", content=b" " * 400_000, headers=headers), 413)
    assert writes.keys() == []


def test_head_is_answered_as_get_is_but_for_the_body(visitor: Visitor) -> None:
    read, asked = visitor.get("/openapi.json"), visitor.request("HEAD", "/openapi.json")

    assert (asked.status_code, asked.content) == (200, b"")
    assert asked.headers["Content-Type"] == read.headers["Content-Type"]
    assert visitor.request("HEAD", "/me").status_code == 401


def test_every_route_that_needs_a_session_is_401_without_one(site: Site, visitor: Visitor) -> None:
    writes = site.writes()
    refused = 0

    for template, methods in site.contract.document["paths"].items():
        for method, operation in methods.items():
            if operation["security"]:
                path = template.replace("{", "").replace("}", "")
                answer = visitor.request(method.upper(), path, json={"name": "Anonymous"})
                assert_problem(answer, 401)
                assert answer.headers["WWW-Authenticate"] == "Bearer"
                refused += 1

    assert refused > 20
    assert writes.keys() == []


NOBODYS = [
    "Bearer", "Bearer unknown", "Bearer " + "A" * 43, "Bearer " + "A" * 4000, "Bearer SESSION#x", "Basic dXNlcjpwYXNz",
    "unknown", "Bearer a b", "Bearer \x7f",
]  # fmt: skip


def test_a_token_that_nobody_was_given_is_401(visitor: Visitor) -> None:
    for authorization in NOBODYS:
        assert_problem(visitor.get("/me", headers={"Authorization": authorization}), 401)


def test_the_scheme_of_a_token_is_named_in_any_case(site: Site, member: Visitor) -> None:
    answer = site.visitor().get("/me", headers={"Authorization": f"bearer {member.token}"})

    assert answer.json()["username"] == member.username


def test_a_wrong_token_does_no_harm_where_none_is_needed(visitor: Visitor) -> None:
    assert visitor.get("/deals", headers={"Authorization": "Bearer unknown"}).status_code == 200


def test_the_api_has_a_path_for_who_resolves_no_names_and_the_clouds_own_needs_the_checkouts_key(site: Site) -> None:
    ours, the_clouds = (
        httpx.get(f"{site.endpoint}/{path}/categories", trust_env=False, timeout=PATIENCE)
        for path in (f"_aws/execute-api/{site.api_id}/v1", f"restapis/{site.api_id}/v1/_user_request_")
    )

    assert len(ours.json()["items"]) == 8
    assert the_clouds.status_code == 403


def test_a_reader_is_led_to_the_shop_and_the_click_is_counted(site: Site, editor: Visitor, brand: str) -> None:
    deal = editor.post("/deals", json=a_deal(brand)).json()
    reader = {"Host": urlsplit(site.origin).netloc, "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"}

    for _ in range(2):
        led = httpx.get(f"{site.endpoint}/go/{deal['dealNumber']}", headers=reader, trust_env=False, timeout=PATIENCE)
        assert (led.status_code, led.headers["Location"]) == (302, deal["link"])

    assert clicks.of(site.table, [deal["dealId"]]) == {deal["dealId"]: 1}


def test_ministack_has_no_route_for_an_encoded_slash(visitor: Visitor) -> None:
    """API Gateway hands ``%2F`` on as part of one segment (tests/functions has its event); MiniStack splits it."""
    assert_problem(visitor.get("/brands/g%2Ffore"), 404)


@pytest.mark.thorough  # about MiniStack, not about our code
def test_ministack_believes_x_forwarded_for(site: Site) -> None:
    """API Gateway's ``sourceIp`` is the address that the connection came from, whatever a header says."""
    login, claimed = {"username": fresh("far-away"), "password": "a guess"}, "203.0.113.9"
    window = int(datetime.now(UTC).timestamp()) // rate_limits.WINDOW_SECONDS

    assert_problem(site.visitor().post("/sessions", json=login, headers={"X-Forwarded-For": claimed}), 401)

    # The next window may have begun meanwhile.
    (counted,) = site.table.get_many([keys.attempts("ADDRESS", claimed, each) for each in (window, window + 1)])
    assert len(counted["Counted"]) == 1
