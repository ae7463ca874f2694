"""Bad input gets a problem document that names the field, and nothing written."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.api.fields import MAX_NAME, MAX_UNKNOWN
from shared.values import identifiers
from tests.support.site import PASSWORD, Api, Visitor, a_deal, assert_problem, fresh

RTL = "\u202e"
EMOJI = "🎉"
NUL = "\x00"


@pytest.fixture(autouse=True)
def nothing_is_written(site: Api, editor: Visitor, member: Visitor, known_brand: str) -> Iterator[None]:
    writes = site.writes()
    yield
    assert writes.keys() == []


@pytest.fixture(scope="module")
def known_brand(editor: Visitor) -> str:
    """A brand with three deals."""
    slug = fresh("known")
    assert editor.post("/brands", json={"name": slug}).status_code == 201
    for _ in range(3):
        assert editor.post("/deals", json=a_deal(slug)).status_code == 201
    return slug


JSON = {"Content-Type": "application/json"}

ROUTES_WITH_BODIES = [
    ("POST", "/users"),
    ("POST", "/sessions"),
    ("PATCH", "/me"),
    ("POST", "/deals"),
    ("PATCH", "/deals/1"),
    ("POST", "/brands"),
    ("PUT", "/front-page/featured"),
    ("PUT", "/editors-choice/featured"),
    ("PUT", "/categories/shoes/featured"),
]


CONTENT_TYPES = ["text/plain", "application/x-www-form-urlencoded", "application/json-patch+json", "json", "*/*", ""]


@pytest.mark.parametrize("content_type", CONTENT_TYPES)
def test_a_wrong_content_type(editor: Visitor, content_type: str) -> None:
    headers = {"Content-Type": content_type}

    for method, path in ROUTES_WITH_BODIES:
        assert_problem(editor.request(method, path, content=json.dumps(a_deal("apple")), headers=headers), 415)


@pytest.mark.parametrize(("method", "path"), ROUTES_WITH_BODIES)
def test_what_is_no_object_or_has_unknown_fields(editor: Visitor, method: str, path: str) -> None:
    for body in ("", "[]", "[{}]", '"text"', "1", "true", "null"):
        assert_problem(editor.request(method, path, content=body, headers=JSON), 422, "body")

    answer = editor.request(method, path, json={"nonsense": 1, "PK": "DEAL#1"})

    assert answer.status_code == 422
    assert {"nonsense", "PK"} <= {error["field"] for error in answer.json()["errors"]}


def test_an_answer_names_no_more_than_twenty_unknown_fields_and_is_short(editor: Visitor) -> None:
    answer = editor.post("/deals", json={f"{'x' * 120}{number}": number for number in range(150)} | {"price": "cheap"})

    fields = [error["field"] for error in answer.json()["errors"]]
    assert [field[0] for field in fields].count("x") == MAX_UNKNOWN == 20
    assert "price" in fields
    assert max(map(len, fields)) == MAX_NAME
    assert len(answer.text) < 8_000


def test_a_field_is_known_by_its_name_in_camel_case_alone(editor: Visitor, known_brand: str) -> None:
    for name in ("source_id", "list_price", "created_at", "coupon_code", "SourceId"):
        assert_problem(editor.post("/deals", json=a_deal(known_brand) | {name: "2026-06-01T10:00:00Z"}), 422, name)
    change = {"email": "ana@mail.example", "current_password": PASSWORD}
    assert_problem(editor.patch("/me", json=change), 422, "current_password")


def test_every_field_that_is_missing_is_named(editor: Visitor) -> None:
    assert_problem(editor.post("/deals", json={}), 422, "title", "link", "price", "brand", "category")


FIELDS_OF_A_DEAL: dict[str, tuple[str, Any]] = {
    "a negative price": ("price", "-1.00"),
    "a price with an exponent": ("price", "1e5"),
    "a price that is a number": ("price", 31.90),
    "a price named NaN": ("price", "NaN"),
    "a price with three decimals": ("price", "1.999"),
    "a price with a comma": ("price", "1,50"),
    "a price with leading zeros": ("price", "007"),
    "a price with a sign": ("price", "+1"),
    "a price in other digits": ("price", "١٢"),
    "a price without end": ("price", "9" * 40),
    "an empty price": ("price", ""),
    "a price with a line break": ("price", "1\n0"),
    "a negative list price": ("listPrice", "-0.01"),
    "an empty title": ("title", ""),
    "a blank title": ("title", "   "),
    "a title that is a number": ("title", 1),
    "a title that is a list": ("title", ["x"]),
    "a title that is too long": ("title", "x" * 301),
    "a title with NUL": ("title", f"Trail{NUL}runner"),
    "a title with a right-to-left mark": ("title", f"Trail {RTL}runner"),
    "a title with a line break": ("title", "Trail\nrunner"),
    "a title with half a character": ("title", "\ud800"),
    "an empty brand": ("brand", ""),
    "a brand of emoji": ("brand", EMOJI),
    "a brand of punctuation": ("brand", "#/?%"),
    "a brand with NUL": ("brand", f"app{NUL}le"),
    "a category that does not exist": ("category", "cars"),
    "a category that forges a key": ("category", "shoes#2026"),
    "a currency that is none": ("currency", "dollars"),
    "a currency in lower case": ("currency", "usd"),
    "a currency that there is not": ("currency", "ZZZ"),
    "a metal": ("currency", "XAU"),
    "a description that is too long": ("description", "x" * 4001),
    "a description with NUL": ("description", NUL),
    "an empty coupon": ("couponCode", ""),
    "an empty source": ("sourceId", ""),
    "a source that is too long": ("sourceId", "x" * 257),
    "a source of too many bytes": ("sourceId", "\U0001f45f" * 256),
    "a time before KSUIDs": ("createdAt", "2014-01-01T00:00:00Z"),
    "a time in the far past": ("createdAt", "0001-01-01T00:00:00Z"),
    "a time in the year 9999": ("createdAt", "9999-12-31T23:59:59Z"),
    "a time in the year 10000": ("createdAt", "+10000-01-01T00:00:00Z"),
    "a time tomorrow": ("createdAt", f"{datetime.now(UTC) + timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}"),
    "a time without an offset": ("createdAt", "2026-06-04T20:28:53"),
    "a time that is a number": ("createdAt", 1780000000),
    "a time that is none": ("createdAt", "yesterday"),
    "a day that is none": ("createdAt", "2026-02-30T00:00:00Z"),
    "an end that is none": ("expiresAt", "soon"),
    "an end in the far past": ("expiresAt", "0001-01-01T00:00:00+14:00"),
}


@pytest.mark.parametrize(("field", "value"), FIELDS_OF_A_DEAL.values(), ids=FIELDS_OF_A_DEAL)
def test_a_field_of_a_new_or_an_edited_deal(editor: Visitor, known_brand: str, field: str, value: Any) -> None:
    posted, edited = json.dumps(a_deal(known_brand) | {field: value}), json.dumps({field: value})

    assert_problem(editor.post("/deals", content=posted, headers=JSON), 422, field)
    assert_problem(editor.patch("/deals/1", content=edited, headers=JSON), 422, field)


def test_what_every_deal_has_cannot_be_removed_and_what_is_given_once_cannot_be_edited(editor: Visitor) -> None:
    for field in ("title", "link", "price", "brand", "category", "currency", "withdrawn"):
        assert_problem(editor.patch("/deals/1", json={field: None}), 422, field)
    for field in ("createdAt", "sourceId", "dealId", "dealNumber", "hot", "status"):
        assert_problem(editor.patch("/deals/1", json={field: "2026-01-01T00:00:00Z"}), 422, field)


def test_a_deal_of_an_unknown_brand(editor: Visitor) -> None:
    assert_problem(editor.post("/deals", json=a_deal("no-such-brand")), 404, "brand")


def test_a_deal_of_more_than_8_kb_whose_fields_are_all_allowed(editor: Visitor, known_brand: str) -> None:
    assert_problem(editor.post("/deals", json=a_deal(known_brand, description="ü" * 4_000, title="ü" * 300)), 413)


@pytest.mark.parametrize("key", ["", "x" * 256, "ключ"], ids=["empty", "too long", "not ASCII"])
def test_an_idempotency_key_that_is_none(editor: Visitor, known_brand: str, key: str) -> None:
    headers = {b"Idempotency-Key": key.encode()}

    assert_problem(editor.post("/deals", json=a_deal(known_brand), headers=headers), 400, "Idempotency-Key")


NAMES_OF_BRANDS = {
    "empty": "",
    "blank": "  ",
    "punctuation": "#/?%&",
    "emoji": EMOJI,
    "too long": "x" * 101,
    "too long a slug": "ß" * 100,
    "right-to-left mark": f"App{RTL}le",
    "a line separator": "G\u2028Fore",
    "a space of no width": "\u200b",
    "NUL": f"App{NUL}le",
    "half a character": "\ud83c",
    "a number": 7,
    "none": None,
    "an object": {"name": "x"},
}


@pytest.mark.parametrize("name", NAMES_OF_BRANDS.values(), ids=NAMES_OF_BRANDS)
def test_a_brands_name(editor: Visitor, name: Any) -> None:
    assert_problem(editor.post("/brands", content=json.dumps({"name": name}), headers=JSON), 422, "name")


@pytest.fixture(scope="module")
def spelled_brands(editor: Visitor, known_brand: str) -> None:
    """Brands whose slugs are that one with a sign at its edges, which is spelled."""
    for slug in (f"{known_brand}-sharp", f"sharp-{known_brand}-sharp", f"{known_brand}-query", f"{known_brand}-bang"):
        assert editor.post("/brands", json={"name": slug}).status_code == 201


@pytest.mark.usefixtures("spelled_brands")
@pytest.mark.parametrize("spelling", ["{}#", "{} #", "{}/", "{}?", "{} " + EMOJI, "#{}#", "# {} #", "¡{}!"])
def test_a_name_with_signs_is_another_spelling_of_a_brand_and_never_another_key(
    editor: Visitor, known_brand: str, spelling: str
) -> None:
    assert_problem(editor.post("/brands", json={"name": spelling.format(known_brand.upper())}), 409, "name")


@pytest.mark.parametrize("username", ["ana#SESSION", "USER#ana", f"ana{NUL}", EMOJI, f"ana{RTL}", "аna"])
def test_a_username_to_sign_in_with(visitor: Visitor, username: str) -> None:
    assert_problem(visitor.post("/sessions", json={"username": username, "password": PASSWORD}), 401)


ACCOUNTS: dict[str, tuple[str, Any]] = {
    # tests/data/test_values.py has all that is no username.
    "a username that forges a key": ("username", "ana#SESSION"),
    "an empty username": ("username", ""),
    "a username that is too long": ("username", "a" * 31),
    "a username that is a number": ("username", 1),
    "no username": ("username", None),
    "an address without an at": ("email", "forger"),
    "an address that is too long": ("email", f"a@{'x' * 60}.{'y' * 60}.{'z' * 60}.{'w' * 60}.{'v' * 60}"),
    "a password that is too short": ("password", "short"),
    "a password that is too long": ("password", "x" * 201),
    "a password that is a number": ("password", 1234567890),
    "a name with a right-to-left mark": ("name", f"Ana{RTL}"),
    "a name with NUL": ("name", NUL),
    "an empty name": ("name", ""),
    "a name that is too long": ("name", "x" * 101),
}


@pytest.mark.parametrize(("field", "value"), ACCOUNTS.values(), ids=ACCOUNTS)
def test_a_field_of_an_account(visitor: Visitor, field: str, value: Any) -> None:
    account = {"username": "forger", "email": "forger@mail.example", "password": PASSWORD, "name": "Forger"}

    assert_problem(visitor.post("/users", json=account | {field: value}), 422, field)


LISTS = [
    "/deals",
    "/front-page",
    "/brands/{}",
    "/brands/{}/deals",
    "/categories/shoes",
    "/categories/shoes/deals",
    "/messages",
]


@pytest.mark.parametrize(
    "limit", ["0", "-1", "101", "1000000000", "1e2", "ten", "", "1.0", "٣", " 5", "0x10", "5,6", "+5"]
)
def test_a_limit_that_is_none(member: Visitor, known_brand: str, limit: str) -> None:
    for path in LISTS:
        assert_problem(member.get(path.format(known_brand), params={"limit": limit}), 400, "limit")


def test_unread_is_true_or_false(member: Visitor) -> None:
    assert_problem(member.get("/messages", params={"unread": "maybe"}), 400, "unread")


def forged(last_id: str, scope: str = "deals") -> str:
    """A cursor that a list would give."""
    return identifiers.cursor_after(scope, last_id)


CURSORS = {
    "empty": "",
    "text": "abc",
    "another's format": base64.urlsafe_b64encode(b'{"PK": "DEAL#1"}').decode(),
    "the id alone": base64.urlsafe_b64encode(b"0" * 27).decode(),
    "no base64": "%%%%",
    "a checksum of nothing": base64.urlsafe_b64encode(b"0" * 27 + bytes(6)).decode(),
    "no KSUID": forged("x" * 27),
    "another feed": forged("0" * 27, "brand/no-such-brand"),
    "another user's messages": forged("0" * 27, "messages/nobody/all"),
    "NUL": NUL * 44,
    "emoji": EMOJI,
    "very long": "A" * 4000,
}


@pytest.mark.parametrize("cursor", CURSORS.values(), ids=CURSORS)
def test_a_cursor_that_no_list_gave(member: Visitor, known_brand: str, cursor: str) -> None:
    for path in LISTS:
        assert_problem(member.get(path.format(known_brand), params={"cursor": cursor}), 400, "cursor")


def test_a_cursor_of_the_last_second_that_ids_can_hold_is_only_a_place(visitor: Visitor) -> None:
    """The year 9999 does not fit an id: they end in 2150. A cursor of then is before all deals, and no error."""
    for path in ("/deals", "/front-page"):
        assert visitor.get(path, params={"cursor": forged(identifiers._HIGHEST), "limit": 1}).status_code == 200


@pytest.mark.parametrize(
    "ids", ["x", 5, None, {"0": "x"}, ["x"], [1], [None], ["0" * 28], ["DEAL#" + "0" * 22], ["0" * 27] * 26]
)
def test_picks_that_are_no_list_of_ids(editor: Visitor, ids: Any) -> None:
    for page in ("/front-page", "/editors-choice", "/categories/shoes"):
        answer = editor.put(f"{page}/featured", json={"dealIds": ids})

        assert answer.status_code == 422
        assert all(error["field"].startswith("dealIds") for error in answer.json()["errors"])
