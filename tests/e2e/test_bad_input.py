"""Some bad input over HTTP, where the gateway and what decodes for it have a part; ``tests/api`` has all of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.api.test_bad_input import (
    BRANDS_IN_PATHS,
    CURSORS,
    FIELDS_OF_A_DEAL,
    JSON,
    NAMES_OF_BRANDS,
    NOT_JSON,
    USERNAMES,
)
from tests.support.contract import assert_problem
from tests.support.site import PASSWORD, Site, Visitor, a_deal

FIELDS = (
    *("a negative price", "a price named NaN", "a price in other digits", "a javascript link in disguise"),
    *("a link with a line break", "a title with NUL", "a title with a right-to-left mark", "a brand of emoji"),
    *("a title with half a character", "a category that forges a key", "a source of too many bytes", "a time tomorrow"),
)
BODIES = ("half an object", "deep nesting", "Infinity")
BYTES = (b'{"title": "\xff"}', b"\xfe\xff\x00{\x00}", b"\x1f\x8b\x08\x00")


@pytest.fixture(autouse=True)
def nothing_is_written(site: Site, editor: Visitor, member: Visitor) -> Iterator[None]:
    writes = site.writes()
    yield
    assert writes.keys() == []


@pytest.mark.parametrize("name", FIELDS)
def test_a_field_of_a_deal(editor: Visitor, name: str) -> None:
    field, value = FIELDS_OF_A_DEAL[name]

    assert_problem(
        editor.post("/deals", content=json.dumps(a_deal("apple") | {field: value}), headers=JSON), 422, field
    )


@pytest.mark.parametrize("body", [*map(NOT_JSON.get, BODIES), *BYTES], ids=repr)
def test_a_body_that_is_not_json(editor: Visitor, body: str | bytes) -> None:
    assert_problem(editor.post("/deals", content=body, headers=JSON), 400)


@pytest.mark.parametrize(("method", "path"), [("POST", "/users"), ("PATCH", "/me"), ("PUT", "/front-page/featured")])
def test_another_content_type_and_another_kind_of_json(editor: Visitor, method: str, path: str) -> None:
    assert_problem(editor.request(method, path, content="{}", headers={"Content-Type": "text/plain"}), 415)
    assert_problem(editor.request(method, path, content="[{}]", headers=JSON), 422, "body")


@pytest.mark.parametrize("name", BRANDS_IN_PATHS.values(), ids=BRANDS_IN_PATHS)
def test_a_brand_in_a_path(member: Visitor, name: str) -> None:
    # MiniStack decodes the path, and then not every name even reaches the function; each answer is a problem document.
    assert member.get(f"/brands/{name}").status_code == 404
    assert member.put(f"/brands/{name}/like").status_code == 404


@pytest.mark.parametrize("key", ["", "x" * 256, "ключ"], ids=["empty", "too long", "not ASCII"])
def test_an_idempotency_key_that_is_none(editor: Visitor, key: str) -> None:
    headers = {"Idempotency-Key": key.encode()}

    assert_problem(editor.post("/deals", json=a_deal("apple"), headers=headers), 400, "Idempotency-Key")


@pytest.mark.parametrize("size", [33_000, 400_000])
def test_a_body_that_is_too_large(editor: Visitor, size: int) -> None:
    assert_problem(editor.post("/deals", json=a_deal("apple", description="x" * size)), 413)


@pytest.mark.parametrize("name", ["emoji", "half a character"])
def test_a_name_of_a_brand(editor: Visitor, name: str) -> None:
    assert_problem(
        editor.post("/brands", content=json.dumps({"name": NAMES_OF_BRANDS[name]}), headers=JSON), 422, "name"
    )


@pytest.mark.parametrize("name", ["a forged key", "NUL"])
def test_a_username(visitor: Visitor, name: str) -> None:
    account: dict[str, Any] = {
        "username": USERNAMES[name],
        "email": "a@mail.example",
        "password": PASSWORD,
        "name": "A",
    }

    assert_problem(visitor.post("/users", json=account), 422, "username")


@pytest.mark.parametrize("name", ["no base64", "NUL", "emoji", "very long"])
def test_a_cursor_that_no_list_gave(visitor: Visitor, name: str) -> None:
    assert_problem(visitor.get("/deals", params={"cursor": CURSORS[name]}), 400, "cursor")


@pytest.mark.parametrize("limit", ["0", "٣", " 5"])
def test_a_limit_that_is_none(visitor: Visitor, limit: str) -> None:
    assert_problem(visitor.get("/deals", params={"limit": limit}), 400, "limit")
