"""The gateway's own work, before a function is asked: unknown addresses, missing sessions; and where the API is."""

from __future__ import annotations

import httpx
import pytest

from tests.support.contract import assert_problem
from tests.support.site import Site, Visitor
from tests.support.waiting import PATIENCE


@pytest.mark.parametrize("path", ["/", "/nothing", "/deals/1/2/3", "/me/nothing", "/.env", "/brands/x/likes"])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_an_unknown_path_is_404(visitor: Visitor, method: str, path: str) -> None:
    assert_problem(visitor.request(method, path), 404)


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/front-page"), ("DELETE", "/deals"), ("PUT", "/users"), ("GET", "/sessions")]
)
def test_a_method_that_a_path_does_not_have_is_404(visitor: Visitor, method: str, path: str) -> None:
    assert_problem(visitor.request(method, path, json={}), 404)


@pytest.mark.parametrize("path", ["/front-page", "/brands", "/openapi.json"])
def test_head_is_answered_as_get_is_but_for_the_body(visitor: Visitor, path: str) -> None:
    read, asked = visitor.get(path), visitor.request("HEAD", path)

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


@pytest.mark.parametrize(
    "authorization",
    [
        "Bearer",
        "Bearer unknown",
        "Bearer " + "A" * 43,
        "Bearer " + "A" * 4000,
        "Bearer SESSION#x",
        "Basic dXNlcjpwYXNz",
        "unknown",
        "Bearer a b",
        "Bearer \x7f",
    ],
)
def test_a_token_that_nobody_was_given_is_401(visitor: Visitor, authorization: str) -> None:
    assert_problem(visitor.get("/me", headers={"Authorization": authorization}), 401)


def test_the_scheme_of_a_token_is_named_in_any_case(site: Site, member: Visitor) -> None:
    answer = site.visitor().get("/me", headers={"Authorization": f"bearer {member.token}"})

    assert answer.json()["username"] == member.username


def test_a_wrong_token_does_no_harm_where_none_is_needed(visitor: Visitor) -> None:
    assert visitor.get("/deals", headers={"Authorization": "Bearer unknown"}).status_code == 200


def test_the_api_is_found_where_names_below_localhost_do_not_resolve(site: Site) -> None:
    answer = httpx.get(
        f"{site.endpoint}/_aws/execute-api/{site.api_id}/v1/categories", trust_env=False, timeout=PATIENCE
    )

    assert len(answer.json()["items"]) == 8


def test_a_path_of_the_cloud_itself_needs_the_checkouts_key(site: Site) -> None:
    answer = httpx.get(
        f"{site.endpoint}/restapis/{site.api_id}/v1/_user_request_/categories", trust_env=False, timeout=PATIENCE
    )

    assert answer.status_code == 403


def test_ministack_has_no_route_for_an_encoded_slash(visitor: Visitor) -> None:
    """API Gateway hands ``%2F`` on as part of one segment (tests/functions has its event); MiniStack splits it."""
    assert_problem(visitor.get("/brands/g%2Ffore"), 404)
