"""Attacks on rights: members at editors' routes, other people's messages, roles that are claimed.

Which routes there are is read from the document that the site serves, so that a new one is attacked too. Anonymous
callers at routes that need a session are in ``tests/e2e/test_gateway.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from shared.data.catalog import deals
from shared.data.members import announcements
from tests.api.conftest import filled
from tests.support.factories import send
from tests.support.site import PASSWORD, Api, Visitor, a_deal, assert_problem

BODIES: tuple[Any, ...] = ({}, {"name": "Mine"}, {"dealIds": []}, {"title": "Mine"}, "no object", None)
"""Bodies of which each route may find one right: who may not call it hears nothing about them."""


def routes(site: Api, who: str) -> Iterator[tuple[str, str]]:
    """Method and path of every route for members or editors."""
    for template, methods in site.contract.document["paths"].items():
        for method, operation in methods.items():
            if operation["tags"] == [who]:
                yield method.upper(), filled(template)


@pytest.mark.usefixtures("nothing_written")
def test_a_member_is_refused_on_every_route_of_editors(site: Api, member: Visitor) -> None:
    editors_routes = list(routes(site, "editor"))
    assert len(editors_routes) >= 8
    bodies = [*BODIES, a_deal("target")]

    for method, path in editors_routes:
        for body in bodies:
            assert_problem(member.request(method, path, json=body), 403)


CLAIMS: dict[str, Any] = {
    "headers": {
        **dict.fromkeys(("X-Role", "X-User-Role", "X-Amzn-Authorizer-Role", "X-Amz-Authorizer"), "editor"),
        **dict.fromkeys(("role", "username", "principalId", "requestContext.authorizer.role"), "editor"),
        "X-Amzn-Request-Context": '{"authorizer": {"username": "editor", "role": "editor"}}',
        "X-Apigateway-Event": '{"requestContext": {"authorizer": {"role": "editor"}}}',
        "Cookie": "role=editor; username=editor",
    },
    "params": {"role": "editor", "username": "editor", "requestContext": "editor"},
}


@pytest.mark.usefixtures("nothing_written")
def test_a_role_that_a_request_claims_is_not_believed(visitor: Visitor, member: Visitor) -> None:
    assert_problem(visitor.post("/brands", json={"name": "Mine"}, **CLAIMS), 401)
    assert_problem(visitor.get("/me", **CLAIMS), 401)
    assert_problem(member.post("/brands", json={"name": "Mine"}, **CLAIMS), 403)
    assert member.get("/me", **CLAIMS).json()["username"] == member.username


OTHERS_FIELDS = ["role", "Role", "passwordHash", "PasswordHash", "createdAt", "PK", "GSI1PK", "ExpiresAt"]


@pytest.mark.usefixtures("nothing_written")
def test_what_is_not_ones_own_to_set_is_refused(visitor: Visitor, member: Visitor) -> None:
    account = {"username": "climber", "email": "climber@mail.example", "password": PASSWORD, "name": "Climber"}
    login = {"username": member.username, "password": PASSWORD}

    assert_problem(member.patch("/me", json={"name": "Climber", "username": "editor"}), 422, "username")
    for field in OTHERS_FIELDS:
        assert_problem(member.patch("/me", json={"name": "Climber", field: "editor"}), 422, field)
        assert_problem(visitor.post("/users", json=account | {field: "editor"}), 422, field)
        assert_problem(visitor.post("/sessions", json=login | {field: "editor"}), 422, field)


@pytest.fixture(scope="module")
def message_id(site: Api, editor: Visitor, deal_id: str) -> tuple[Visitor, str]:
    """A reader, and one of their two messages."""
    reader = site.member("reader")
    for about in (deal_id, editor.post("/deals", json=a_deal("target")).json()["dealId"]):
        news = announcements.of_deal(deals.get(site.table, about), "brand")
        send(site.table, announcements.compose(news, reader.username))
    items = reader.get("/messages").json()["items"]
    assert len(items) == 2
    return reader, str(items[0]["messageId"])


def test_another_users_messages_are_neither_seen_nor_marked(
    site: Api, editor: Visitor, message_id: tuple[Visitor, str]
) -> None:
    reader, found = message_id
    thief = site.member("thief")
    cursor = reader.get("/messages", params={"limit": 1}).json()["next"]
    before = reader.get("/messages").json()

    for spelling in (found, f"{found}%23", f"MESSAGE%23{found}", f"..%2f{found}", f"{reader.username}%23{found}"):
        assert_problem(thief.put(f"/messages/{spelling}/read"), 404)
        assert_problem(editor.put(f"/messages/{spelling}/read"), 404)
    for path in ("/messages", f"/messages?username={reader.username}", "/messages?unread=true"):
        assert thief.get(path, headers={"X-Username": reader.username}).json() == {"items": [], "next": None}
    assert_problem(thief.get("/messages", params={"cursor": cursor}), 400, "cursor")
    assert thief.get("/messages/unread-count").json() == {"unread": 0}
    assert thief.post("/messages/read-all").json() == {"marked": 0}

    assert reader.get("/messages").json() == before
    assert reader.get("/messages/unread-count").json() == {"unread": 2}


def test_removing_ones_account_removes_nobody_elses(site: Api, message_id: tuple[Visitor, str]) -> None:
    reader, _ = message_id
    neighbour = site.member(reader.username[:-1])  # whose name another's starts with

    assert neighbour.delete("/me", params={"username": reader.username}).status_code == 204

    assert reader.get("/me").json()["username"] == reader.username
    assert len(reader.get("/messages").json()["items"]) == 2
