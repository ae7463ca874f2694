"""Attacks by what a request carries, and on rights: others' routes, messages and roles.

Each is refused, or taken as the plain text it is. ``test_bad_input.py`` has each field, cursor and limit. Routes are
read from the document that the site serves, so that a new one is attacked too; anonymous callers at routes that need a
session are in ``tests/e2e/test_gateway.py``.
"""

from __future__ import annotations

import gzip
import itertools
import re
import socket
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from shared.data.catalog import deals
from shared.data.members import messages
from tests.api.conftest import filled
from tests.support.cases import cases, cases_by_name
from tests.support.factories import send
from tests.support.site import PASSWORD, Api, Visitor, a_deal, assert_problem, fresh

JSON = {"Content-Type": "application/json"}
MEGABYTE = 1024 * 1024

FORGED = {
    "another item's key": "target%23USER%23editor",
    "a session's key": "SESSION%230",
    "the front page": "FRONTPAGE",
    "a line break": "x%0d%0ay",
    "NUL": "x%00",
    "letters that look alike": "t%D0%B0rgets",
    "a question": "%3F",
    "an emoji": "%F0%9F%8E%89",
    "an id of nothing": "0" * 27,
    "a number of nothing": "999999999999",
    "a wildcard": "*",
    "a quote": "x%27%20OR%20%271%27=%271",
    "a template": "$%7Bjndi:ldap://127.0.0.1/x%7D",
    "not UTF-8": "%ff%fe",
    "encoded twice": "%2523",
    "beyond every key": "x" * 2000,
}
forged = pytest.mark.parametrize("name", FORGED.values(), ids=FORGED)


RIGHT_BODIES: dict[str, dict[str, Any]] = {
    "/categories/{category}/featured": {"dealIds": ["0" * 26 + str(number) for number in range(5)]},
    **cases_by_name("RIGHT_BODIES"),
}
"""Bodies that their routes take, so that nothing but the path is wrong."""

OWN_NAMES = cases("OWN_NAMES")
"""Paths with a name that is the member's to choose, and of which no key of an item is made."""


@pytest.mark.usefixtures("nothing_written")
@forged
def test_a_key_in_a_path_is_only_a_name(editor: Visitor, site: Api, name: str) -> None:
    attacked = 0
    for template, methods in site.contract.document["paths"].items():
        if "{" in template and template not in OWN_NAMES:
            for method, operation in methods.items():
                body = RIGHT_BODIES.get(template, {})
                answer = editor.request(
                    method.upper(), filled(template, name), json=body if "requestBody" in operation else None
                )
                assert_problem(answer, 404, *fields(answer))
                attacked += 1

    assert attacked >= 15


def fields(answer: httpx.Response) -> list[str]:
    return [error["field"] for error in answer.json().get("errors", [])]


@pytest.mark.usefixtures("nothing_written")
def test_the_method_is_the_method(member: Visitor) -> None:
    ways = ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "_method")

    for claimed in ("DELETE", "PUT"):
        claim: dict[str, Any] = {way: dict.fromkeys(ways, claimed) for way in ("headers", "params")}
        for method in ("GET", "POST"):
            assert_problem(member.request(method, "/brands/target/like", **claim), 404)
        assert member.get("/me", **claim).json()["username"] == member.username


WITH_BODIES = [("POST", "/deals"), ("POST", "/brands"), ("PATCH", "/me"), ("POST", "/users"), ("POST", "/sessions")]

NOT_JSON: dict[str, bytes] = {
    "half an object": b'{"name": "x"',
    "a trailing comma": b'{"name": "x",}',
    "two documents": b"{}{}",
    "lists in lists": b"[" * 16_000 + b"]" * 16_000,
    "objects in objects": b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
    "a number without end": b'{"name": ' + b"9" * 5_000 + b"}",
    "not a number": b'{"name": NaN}',
    "infinity": b'{"name": Infinity}',
    "one name twice": b'{"name": "Mine", "name": "Theirs"}',
    "one name twice, spelled in two ways": b'{"name": "Mine", "n\\u0061me": "Theirs"}',
    "one name twice, further in": b'{"name": {"a": 1, "a": 2}}',
    "not UTF-8": b'{"name": "\xc0\xaf"}',
    "half a surrogate in UTF-8": b'{"name": "\xed\xa0\x80"}',
    "UTF-16": '{"name": "x"}'.encode("utf-16"),
    "a mark of the byte order": b'\xef\xbb\xbf{"name": "x"}',
    "compressed": gzip.compress(b'{"name": "Mine"}'),
    "a bomb": gzip.compress(b'{"name": "' + b"x" * 10 * MEGABYTE + b'"}'),
}


@pytest.mark.usefixtures("nothing_written")
@pytest.mark.parametrize("body", NOT_JSON.values(), ids=NOT_JSON)
def test_what_is_no_json_is_not_read(editor: Visitor, body: bytes) -> None:
    for method, path in WITH_BODIES:
        for headers in (JSON, JSON | {"Content-Encoding": "gzip"}):
            assert_problem(editor.request(method, path, content=body, headers=headers), 400)


HUGE = {
    "an exponent": b'{"name": 1e400}',
    "a long fraction": b'{"name": 0.' + b"1" * 20_000 + b"}",
    "a long whole number": b'{"name": ' + b"9" * 4_000 + b"}",
    "many fields": b"{" + b",".join(b'"%d":0' % number for number in range(3_000)) + b"}",
}


@pytest.mark.usefixtures("nothing_written")
@pytest.mark.parametrize("body", HUGE.values(), ids=HUGE)
def test_numbers_and_names_without_end_are_refused(editor: Visitor, body: bytes) -> None:
    for method, path in WITH_BODIES:
        answer = editor.request(method, path, content=body, headers=JSON)
        assert_problem(answer, 422, *fields(answer))


@pytest.mark.usefixtures("nothing_written")
@pytest.mark.parametrize("size", [33 * 1024, MEGABYTE, 6 * MEGABYTE], ids=["33 KB", "1 MB", "6 MB"])
def test_a_body_that_is_too_large_is_refused(editor: Visitor, size: int) -> None:
    for method, path in WITH_BODIES:
        assert_problem(editor.request(method, path, content=b" " * size + b"{}", headers=JSON), 413)


INJECTED = [
    "\r\nSet-Cookie: stolen=1",
    "\nLocation: https://evil.example",
    "%0d%0aSet-Cookie: stolen=1",
    "\u560d\u560aX: y",  # which end in the bytes of CR and LF
]


@pytest.mark.parametrize("injected", INJECTED)
def test_no_value_gets_into_a_header(site: Api, editor: Visitor, deal_id: str, injected: str) -> None:
    name = fresh("header")
    answers = [
        editor.post("/brands", json={"name": name + injected}),
        editor.post("/deals", json=a_deal(f"target{injected}")),
        editor.post("/deals", json=a_deal("target"), headers={"Idempotency-Key": "%0d%0aSet-Cookie: stolen=1"}),
        site.visitor().get(f"/deals/{deal_id}", headers={"If-None-Match": '"%0d%0aSet-Cookie: stolen=1"'}),
        site.visitor().get("/deals", params={"cursor": injected}),
        site.visitor().get("/brands/%0d%0aSet-Cookie:%20stolen=1"),
        site.visitor().get("/deals", headers={"X-Correlation-Id": "%0d%0aSet-Cookie: stolen=1"}),
        site.visitor().get("/deals", headers={"X-Request-Id": "evil", "Origin": "https://evil.example"}),
    ]

    for answer in answers:
        location = answer.headers.pop("Location", "/v1/brands/none")
        assert re.fullmatch("/v1/(brands/[a-z0-9-]+|deals/[0-9A-Za-z]{27})", location)
        assert not {"set-cookie", "x"} & set(answer.headers)
        assert not any("evil" in value or "stolen" in value for value in answer.headers.values())


def test_every_answer_forbids_guessing_its_type(visitor: Visitor, member: Visitor, deal_id: str) -> None:
    answers = [
        visitor.get("/docs"),
        visitor.get(f"/deals/{deal_id}"),
        visitor.get("/deals/0"),
        visitor.get("/<script>alert(1)</script>"),
        visitor.get("/me"),
        member.post("/brands", json={}),
    ]

    assert all(answer.headers["X-Content-Type-Options"] == "nosniff" for answer in answers)
    for answer in (answers[0], answers[1], answers[2], answers[5]):  # the others are the gateway's
        assert answer.headers["Content-Security-Policy"].startswith("default-src 'none';")
        assert "base-uri 'none'; " in answer.headers["Content-Security-Policy"]
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"
    assert {answer.headers["Content-Type"].partition(";")[0] for answer in answers[1:]} == {
        "application/json",
        "application/problem+json",
    }


LINKS = [
    "javascript:alert(1)",
    " javascript:alert(1)",
    "java\u200bscript:alert(1)",
    "java\tscript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "data:text/html;base64,PHNjcmlwdD4=",
    "file:///etc/passwd",
    "https:javascript:alert(1)",
    "https:///shop.example",
    "https://shop.example@evil.example/",
    "https://shop.example\\@evil.example/",
    "https://shop.example/\u202egnp.exe",
    "https://shop.example/\r\nSet-Cookie: x",
    "https://shop.example/a b",
    "https://shop.example:99999/",
    "https://shop.example:0/",
    "http://shop.example:-1/",
    "//evil.example/",
    "/v1/me",
]


@pytest.mark.usefixtures("nothing_written")
def test_a_link_leads_to_a_page_and_nowhere_else(editor: Visitor, deal_id: str) -> None:
    for field, link in itertools.product(("link", "image"), LINKS):
        assert_problem(editor.post("/deals", json=a_deal("target") | {field: link}), 422, field)
        assert_problem(editor.patch(f"/deals/{deal_id}", json={field: link}), 422, field)


def test_no_function_follows_a_link(visitor: Visitor, editor: Visitor, brand: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as trap:
        trap.settimeout(0)
        address = f"http://127.0.0.1:{trap.getsockname()[1]}/latest/meta-data/"
        posted = editor.post("/deals", json=a_deal(brand, link=address, image=address))
        read = visitor.get(f"/deals/{posted.json()['dealId']}")

        with pytest.raises(BlockingIOError):  # nobody has called
            trap.accept()

    assert (posted.status_code, read.json()["image"]) == (201, address)


LOOKALIKES = ["ｍember", "𝐦ember", "  member  ", "m\u0435mber", "member\u200b", "me\u00admber", "member\u0301"]


@pytest.mark.usefixtures("nothing_written")
@pytest.mark.parametrize("spelling", LOOKALIKES)
def test_a_name_that_looks_alike_makes_no_second_account(visitor: Visitor, member: Visitor, spelling: str) -> None:
    alike = spelling + member.username.removeprefix("member")
    account = {"username": alike, "email": "alike@mail.example", "password": PASSWORD, "name": "Alike"}

    answer = visitor.post("/users", json=account)

    assert_problem(answer, answer.status_code, "username")
    assert answer.status_code in (409, 422)


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
        news = messages.of_deal(deals.get(site.table, about), "brand")
        send(site.table, messages.compose(news, reader.username))
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


def test_removing_ones_account_removes_no_other(site: Api, message_id: tuple[Visitor, str]) -> None:
    reader, _ = message_id
    neighbour = site.member(reader.username[:-1])  # whose name another's starts with

    assert neighbour.delete("/me", params={"username": reader.username}).status_code == 204

    assert reader.get("/me").json()["username"] == reader.username
    assert len(reader.get("/messages").json()["items"]) == 2
