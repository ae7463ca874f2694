"""Accounts in a browser: up, in, out, changed and left."""

from __future__ import annotations

import re

import pytest

from shared import settings
from shared.data.members import sessions, users
from shared.data.orders import addresses
from shared.dynamodb.table import Table
from shared.errors import NoSuchUser, NotSignedIn
from shared.html import cookies
from shared.http.requests import DONE
from shared.values import times
from tests.signed_in.conftest import PASSWORD, Sell, another
from tests.support.browsing import Browser, Seen
from tests.support.shop import HOME_ADDRESS, buy

ANA = {"username": "Ana", "name": "Ana Müller", "email": "Ana@Mail.example", "password": PASSWORD}


@pytest.fixture
def ana(anyone: Browser) -> Browser:
    """Ana's browser, in which she has just signed up."""
    anyone.post("/account/sign-up", ANA)
    return anyone


def test_signing_up_signs_in_at_once(anyone: Browser, table: Table) -> None:
    seen = anyone.post("/account/sign-up", ANA)

    assert (seen.status, seen.location) == (303, "/my/inbox")
    assert [line.partition("=")[0] for line in seen.headers["Set-Cookie"]] == [cookies.SESSION, cookies.HINT]
    assert users.get(table, "ana").name == "Ana Müller"
    assert "Ana Müller" in anyone.get("/account").words


@pytest.mark.parametrize(
    ("field", "typed", "said"),
    [
        ("username", "", "This must be filled in."),
        ("username", "a#b", "This must be 1 to 30 letters, digits, dots and hyphens"),
        ("email", "ana", "This must be an email address."),
        ("password", "short", "This must have at least 10 characters."),
        ("name", "   ", "This must have a visible character."),
    ],
)
def test_a_field_that_cannot_be_used_is_named_and_what_was_typed_is_kept(
    anyone: Browser, table: Table, field: str, typed: str, said: str
) -> None:
    seen = anyone.post("/account/sign-up", ANA | {field: typed})

    kept = seen.values()
    assert seen.status == 422
    assert said in seen.words
    assert f'href="#f-{field}"' in seen.text
    assert "<title>Error: " in seen.text
    assert kept["name"] == (typed if field == "name" else "Ana Müller")
    assert kept["password"] == ""
    with pytest.raises(NoSuchUser):
        users.get(table, "ana")


@pytest.mark.parametrize(
    ("changed", "said"),
    [({"email": "other@mail.example"}, "That username is taken"), ({"username": "bo"}, "this address exists")],
)
def test_a_name_or_address_that_is_taken_is_said_at_its_field(ana: Browser, changed: dict[str, str], said: str) -> None:
    seen = another().post("/account/sign-up", ANA | changed)

    assert seen.status == 422
    assert said in seen.words


def test_signing_in_leads_to_where_one_came_from_and_never_away(ana: Browser) -> None:
    """All ways to lead away are in ``tests/html/test_forms.py``."""
    browser = another()
    asked = browser.get("/account/sign-in?next=/brands/g-fore%3Fa%3Db")
    away = browser.get("/account/sign-in?next=//evil.example")

    seen = browser.post("/account/sign-in", asked.values() | {"username": "ANA", "password": PASSWORD})
    at_home = another().post("/account/sign-in", {"username": "ana", "password": PASSWORD, "next": "//evil.example"})

    assert "After you sign in, you’ll return to where you were." in asked.words
    assert ("Then you continue" in away.words, "evil" in away.text) == (False, False)
    assert (seen.status, seen.location) == (303, "/brands/g-fore?a=b")
    assert browser.get("/account").status == 200
    assert at_home.location == "/my/inbox"


def test_a_wrong_name_or_password_gets_one_sentence_and_keeps_the_name(ana: Browser) -> None:
    for username, password in (("ana", "wrong password"), ("nobody", PASSWORD), ("#", PASSWORD)):
        seen = another().post("/account/sign-in", {"username": username, "password": password})

        assert seen.status == 422
        assert "Username or password is wrong." in seen.words
        assert seen.values() | {"q": ""} == {"q": "", "username": username, "password": ""}
        assert "Set-Cookie" not in seen.headers


def test_too_many_attempts_are_told_how_long_to_wait(ana: Browser) -> None:
    browser = another()
    for _ in range(10):
        browser.post("/account/sign-in", {"username": "ana", "password": "wrong password"})

    assert_slowed(browser.post("/account/sign-in", {"username": "ana", "password": PASSWORD}))


def test_too_many_sign_ups_are_told_how_long_to_wait_and_what_was_typed_is_kept(
    anyone: Browser, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "SIGN_UPS_PER_NETWORK", 1)
    another().post("/account/sign-up", ANA | {"username": "bo", "email": "bo@mail.example"})

    seen = anyone.post("/account/sign-up", ANA | {"next": "/brands/apple"})

    kept = {name: seen.values()[name] for name in (*ANA, "next")}
    assert_slowed(seen)
    assert kept == ANA | {"password": "", "next": "/brands/apple"}
    with pytest.raises(NoSuchUser):
        users.get(table, "ana")


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("email", {"email": "new@mail.example", "email-password": PASSWORD}),
        ("password", {"current-password": PASSWORD, "password": "a new password"}),
        ("remove", {"password": PASSWORD}),
    ],
)
def test_too_many_changes_are_told_how_long_to_wait_and_change_nothing(
    ana: Browser, table: Table, monkeypatch: pytest.MonkeyPatch, path: str, fields: dict[str, str]
) -> None:
    before = users.get(table, "ana")
    monkeypatch.setattr(settings, "SIGN_INS_PER_USER", 1)
    another().post("/account/sign-in", {"username": "ana", "password": "wrong password"})

    seen = ana.post(f"/account/{path}", fields)

    assert_slowed(seen)
    assert seen.values().get("email", "") == fields.get("email", "")
    assert users.get(table, "ana") == before


def assert_slowed(seen: Seen) -> None:
    assert seen.status == 429
    assert re.search(r"Too many attempts\. Try again in \d+ minutes?\.", seen.words)
    assert int(seen.headers["Retry-After"][0]) > 0
    assert "<title>Error: " in seen.text
    assert PASSWORD not in seen.text


def test_signing_in_ends_the_session_that_a_browser_brought_and_takes_over_none(ana: Browser, table: Table) -> None:
    planted, victim, old = "planted-by-somebody-else", another(), another()
    victim.cookies[cookies.SESSION] = planted
    old.cookies.update(ana.cookies)

    for browser in (victim, ana):
        browser.post("/account/sign-in", {"username": "ana", "password": PASSWORD})

    assert victim.cookies[cookies.SESSION] != planted
    with pytest.raises(NotSignedIn):
        sessions.authenticate(table, planted, times.now())
    assert [each.get("/account").status for each in (ana, old)] == [200, 303]


@pytest.mark.parametrize(("path", "ends_others"), [("sign-out", False), ("sign-out-everywhere", True)])
def test_signing_out_ends_the_session_and_clears_the_browser(ana: Browser, path: str, *, ends_others: bool) -> None:
    old, other = another(), another()
    old.cookies.update(ana.cookies)
    other.post("/account/sign-in", {"username": "ana", "password": PASSWORD})

    seen = ana.post(f"/account/{path}")

    said = path.replace("sign-out", "signed-out")
    assert (seen.status, seen.location) == (303, f"/?notice={said}")
    assert seen.headers["Clear-Site-Data"] == ['"cache"']
    assert ana.cookies == {DONE: said}  # for a minute: what was just done
    assert [each.get("/account").status for each in (old, other)] == [303, 303 if ends_others else 200]


def test_a_name_is_changed_on_a_page_that_nobody_keeps(ana: Browser) -> None:
    empty = [ana.post(f"/account/{path}").status for path in ("name", "email", "password")]
    seen = ana.post("/account/name", {"name": "Ana M."})
    shown = ana.get(seen.location)

    assert empty == [422] * 3
    assert seen.location == "/account?notice=renamed"
    assert ("Ana M." in shown.words, shown.values()["name"]) == (True, "Ana M.")
    assert shown.headers["Cache-Control"] == ["no-store"]


def test_an_address_is_changed_by_who_knows_the_password(ana: Browser, table: Table) -> None:
    wrong = ana.post("/account/email", {"email": "new@mail.example", "email-password": "wrong password"})
    right = ana.post("/account/email", {"email": "new@mail.example", "email-password": PASSWORD})

    assert wrong.status == 422
    assert "This is not the password." in wrong.words
    assert wrong.values()["email"] == "new@mail.example"
    assert right.location == "/account?notice=email"
    assert users.get(table, "ana").email == "new@mail.example"


def test_a_new_password_signs_out_everywhere_else_and_not_here(ana: Browser) -> None:
    other, new = another(), "a new password"
    for wrong in ({"password": new}, {"current-password": PASSWORD, "password": "short"}, {}):
        assert ana.post("/account/password", wrong).status == 422
    other.post("/account/sign-in", {"username": "ana", "password": PASSWORD})

    seen = ana.post("/account/password", {"current-password": PASSWORD, "password": new})

    assert seen.location == "/account?notice=password"
    assert [each.get("/account").status for each in (ana, other)] == [200, 303]
    assert other.post("/account/sign-in", {"username": "ana", "password": new}).location == "/my/inbox"


def test_leaving_says_what_goes_takes_the_password_and_waits_for_orders(ana: Browser, table: Table, sell: Sell) -> None:
    addresses.save(table, "ana", "home", HOME_ADDRESS)
    order = buy(table, "ana", sell(), now=times.now(), account_id=users.get(table, "ana").account_id)

    asked = ana.get("/account/remove")
    wrong = ana.post("/account/remove", {"password": "wrong password"})
    early = ana.post("/account/remove", {"password": PASSWORD})
    links = {" ".join(a.itertext()): a.get("href") for a in early.document.iter("a")}
    orders = ana.get(links["Orders to be sent"])
    still_there = users.get(table, "ana").name
    ana.post(f"/shop/orders/{order.order_id}/cancel")
    right = ana.post("/account/remove", {"password": PASSWORD})

    assert ("all saved deals" in asked.words, "password" in asked.values()) == (True, True)
    assert wrong.status == 422
    assert (early.status, "<title>Error: Remove the account" in early.text) == (409, True)
    assert "An order hasn’t been sent yet" in early.words
    assert links["Orders to be sent"] == "/shop/orders?status=placed"
    assert "Ana Blake" in orders.words
    assert still_there == "Ana Müller"
    assert (right.status, right.location) == (303, "/?notice=removed")
    with pytest.raises(NoSuchUser):
        users.get(table, "ana")


def test_a_password_that_is_sent_after_the_sessions_end_is_never_written_into_a_page(anyone: Browser) -> None:
    for path in ("email", "password", "remove"):
        fields = {"password": PASSWORD, "current-password": PASSWORD, "email": "a@b.example"}
        seen = anyone.post(f"/account/{path}", fields)

        assert (seen.status, seen.location, PASSWORD in seen.text) == (303, "/account/sign-in", False)
