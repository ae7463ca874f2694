"""Accounts: signing up, in and out, changes, what a button does after signing in, and who reads what one types."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from shared import settings
from shared.data.members import follows, messages, sessions, users
from shared.dynamodb.table import Table
from shared.errors import NoSuchUser, NotSignedIn
from shared.html import cookies
from shared.http import requests
from shared.http.requests import DONE
from shared.models.catalog import Deal
from shared.values import times
from tests.signed_in.conftest import PASSWORD, PostDeal, another
from tests.support.browsing import Browser, Seen
from tests.support.cases import cases
from tests.support.factories import APPLE, a_message, send

ANA = {"username": "Ana", "name": "Ana Müller", "email": "Ana@Mail.example", "password": PASSWORD}


@pytest.fixture
def joined(anyone: Browser) -> Browser:
    """Ana's browser, in which she has just signed up."""
    anyone.post("/account/sign-up", ANA)
    return anyone


def test_signing_up_signs_in_at_once(anyone: Browser, table: Table) -> None:
    seen = anyone.post("/account/sign-up", ANA)

    assert (seen.status, seen.location) == (303, "/my/inbox?notice=signed-up")
    assert [line.partition("=")[0] for line in seen.headers["Set-Cookie"]][:2] == [cookies.SESSION, cookies.HINT]
    shown = anyone.get(seen.location).words
    assert "Welcome! Your account was created." in shown
    assert "We sent you a mail" not in shown  # this stage sends none
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
    [({"email": "other@mail.example"}, "That username is taken"), ({"username": "bo"}, "this address already exists")],
)
def test_a_name_or_address_that_is_taken_is_said_at_its_field(
    joined: Browser, changed: dict[str, str], said: str
) -> None:
    seen = another().post("/account/sign-up", ANA | changed)

    assert seen.status == 422
    assert said in seen.words


def test_signing_in_leads_to_where_one_came_from_and_never_away(joined: Browser) -> None:
    """All ways to lead away are in ``tests/html/test_views.py``."""
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


def test_a_wrong_name_or_password_gets_one_sentence_and_keeps_the_name(joined: Browser) -> None:
    for username, password in (("ana", "wrong password"), ("nobody", PASSWORD), ("#", PASSWORD)):
        seen = another().post("/account/sign-in", {"username": username, "password": password})

        assert seen.status == 422
        assert "Username, email address or password is wrong." in seen.words
        assert seen.values() | {"q": ""} == {"q": "", "username": username, "password": ""}
        assert "Set-Cookie" not in seen.headers


def test_the_account_lists_where_one_is_signed_in_and_ends_one_session(joined: Browser) -> None:
    elsewhere = another()
    elsewhere.post("/account/sign-in", {"username": ANA["email"], "password": PASSWORD})
    page = joined.get("/account")
    (ended,) = re.findall('name="session" value="([0-9a-f]{64})"', page.text)

    gone = joined.post("/account/sessions/end", {"session": ended})
    again = joined.post("/account/sessions/end", {"session": ended})

    assert "This browser" in page.words
    assert (gone.status, gone.location) == (303, "/account?notice=session-ended#sessions")
    assert again.status == 404
    assert elsewhere.get("/account").location.startswith("/account/sign-in")
    assert joined.get("/account").status == 200


AGENTS = {
    "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0": "Firefox on Linux",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 "
    "Edg/140.0.0.0": "Edge on Windows",
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile "
    "Safari/537.36": "Chrome on Android",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 "
    "Mobile/15E148 Safari/604.1": "Safari on iPhone",
    "curl/8.5.0": "curl",
    "<b>unheard of</b>": None,
    "": None,
}


@pytest.mark.parametrize(("agent", "name"), AGENTS.items())
def test_a_browser_is_named_without_its_version(agent: str, name: str | None) -> None:
    assert requests.browser({"headers": {"user-Agent": agent}}) == name


def test_too_many_sign_ups_must_wait_and_keep_what_was_typed(
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
        ("sign-in", {"username": "ana", "password": PASSWORD}),
        ("email", {"email": "new@mail.example", "email-password": PASSWORD}),
        ("password", {"current-password": PASSWORD, "password": "a new password"}),
        ("remove", {"password": PASSWORD}),
    ],
)
def test_too_many_attempts_must_wait_and_change_nothing(
    joined: Browser, table: Table, monkeypatch: pytest.MonkeyPatch, path: str, fields: dict[str, str]
) -> None:
    before = users.get(table, "ana")
    monkeypatch.setattr(settings, "SIGN_INS_PER_USER", 1)
    another().post("/account/sign-in", {"username": "ana", "password": "wrong password"})

    seen = joined.post(f"/account/{path}", fields)

    assert_slowed(seen)
    assert seen.values().get("email", "") == fields.get("email", "")
    assert users.get(table, "ana") == before


def assert_slowed(seen: Seen) -> None:
    assert seen.status == 429
    assert re.search(r"Too many attempts\. Try again in \d+ minutes?\.", seen.words)
    assert int(seen.headers["Retry-After"][0]) > 0
    assert "<title>Error: " in seen.text
    assert PASSWORD not in seen.text


def test_signing_in_ends_the_session_that_a_browser_brought_and_takes_over_none(joined: Browser, table: Table) -> None:
    planted, victim, old = "planted-by-someone-else", another(), another()
    victim.cookies[cookies.SESSION] = planted
    old.cookies.update(joined.cookies)

    for browser in (victim, joined):
        browser.post("/account/sign-in", {"username": "ana", "password": PASSWORD})

    assert victim.cookies[cookies.SESSION] != planted
    with pytest.raises(NotSignedIn):
        sessions.authenticate(table, planted, times.now())
    assert [each.get("/account").status for each in (joined, old)] == [200, 303]


@pytest.mark.parametrize(("path", "ends_others"), [("sign-out", False), ("sign-out-everywhere", True)])
def test_signing_out_ends_the_session_and_clears_the_browser(joined: Browser, path: str, *, ends_others: bool) -> None:
    old, other = another(), another()
    old.cookies.update(joined.cookies)
    other.post("/account/sign-in", {"username": "ana", "password": PASSWORD})

    seen = joined.post(f"/account/{path}")

    said = path.replace("sign-out", "signed-out")
    assert (seen.status, seen.location) == (303, f"/?notice={said}")
    assert seen.headers["Clear-Site-Data"] == ['"cache"']
    assert joined.cookies == {requests.name(DONE): said}  # for a minute: the notice of the form
    assert [each.get("/account").status for each in (old, other)] == [303, 303 if ends_others else 200]


def test_a_name_is_changed_on_a_page_that_is_not_cached(joined: Browser) -> None:
    empty = [joined.post(f"/account/{path}").status for path in ("name", "email", "password")]
    seen = joined.post("/account/name", {"name": "Ana M."})
    shown = joined.get(seen.location)

    assert empty == [422] * 3
    assert seen.location == "/account?notice=renamed"
    assert ("Ana M." in shown.words, shown.values()["name"]) == (True, "Ana M.")
    assert shown.headers["Cache-Control"] == ["no-store"]


def test_an_address_is_changed_by_who_knows_the_password(joined: Browser, table: Table) -> None:
    wrong = joined.post("/account/email", {"email": "new@mail.example", "email-password": "wrong password"})
    right = joined.post("/account/email", {"email": "new@mail.example", "email-password": PASSWORD})

    assert wrong.status == 422
    assert "This password is wrong." in wrong.words
    assert wrong.values()["email"] == "new@mail.example"
    assert right.location == "/account?notice=email"
    assert users.get(table, "ana").email == "new@mail.example"


def test_a_new_password_signs_out_everywhere_else_and_not_here(joined: Browser) -> None:
    other, new = another(), "a new password"
    for wrong in ({"password": new}, {"current-password": PASSWORD, "password": "short"}, {}):
        assert joined.post("/account/password", wrong).status == 422
    other.post("/account/sign-in", {"username": "ana", "password": PASSWORD})

    seen = joined.post("/account/password", {"current-password": PASSWORD, "password": new})

    assert seen.location == "/account?notice=password"
    assert [each.get("/account").status for each in (joined, other)] == [200, 303]
    assert other.post("/account/sign-in", {"username": "ana", "password": new}).location == "/my/inbox"


def test_leaving_says_what_goes_and_takes_the_password(joined: Browser, table: Table) -> None:
    asked = joined.get("/account/remove")
    wrong = joined.post("/account/remove", {"password": "wrong password"})
    still_there = users.get(table, "ana").name
    right = joined.post("/account/remove", {"password": PASSWORD})

    assert ("alerts" in asked.words, "password" in asked.values()) == (True, True)
    assert wrong.status == 422
    assert still_there == "Ana Müller"
    assert (right.status, right.location) == (303, "/?notice=removed")
    with pytest.raises(NoSuchUser):
        users.get(table, "ana")


def test_a_password_that_is_sent_after_the_sessions_end_is_never_written_into_a_page(anyone: Browser) -> None:
    for path in ("email", "password", "remove"):
        fields = {"password": PASSWORD, "current-password": PASSWORD, "email": "a@b.example"}
        seen = anyone.post(f"/account/{path}", fields)

        assert (seen.status, seen.location, PASSWORD in seen.text) == (303, "/account/sign-in", False)


NEWCOMER = {"username": "ana", "name": "Ana", "email": "ana@mail.example", "password": PASSWORD}


def pressed(anyone: Browser, path: str, form: dict[str, str]) -> Seen:
    """The page to sign in that nobody is led to who presses a button."""
    seen = anyone.post(path, form)
    assert (seen.status, seen.location.partition("?")[0]) == (303, "/account/sign-in")
    return anyone.get(seen.location)


def signed_up(anyone: Browser, asked: Seen) -> Seen:
    """The answer at the place that a new account is led to."""
    welcomed = anyone.post("/account/sign-up", {**NEWCOMER, "next": asked.values()["next"]})
    return anyone.get(welcomed.location)


@pytest.mark.parametrize(
    ("path", "form", "place", "did"),
    [
        (
            "/my/watches/brand/apple",
            {"on": "1", "next": "/brands/apple?a=b"},
            "/brands/apple?a=b&notice=watching",
            lambda table, _: follows.is_watched(table, APPLE, "ana"),
        ),
        (
            "/my/likes/brand/apple",
            {"on": "1"},
            "/brands/apple?notice=liked",
            lambda table, _: follows.is_liked(table, APPLE, "ana"),
        ),
        *cases("DEFERRED"),
    ],
)
def test_what_a_visitor_asked_for_is_done_once_they_have_an_account(
    anyone: Browser,
    table: Table,
    post_deal: PostDeal,
    path: str,
    form: dict[str, str],
    place: str,
    did: Callable[[Table, Deal], object],
) -> None:
    deal = post_deal()
    form = {name: text.format(number=deal.number) for name, text in form.items()}

    asked = pressed(anyone, path.format(number=deal.number), form)
    done = signed_up(anyone, asked)

    assert "we’ll finish what you started." in asked.words
    assert (done.status, done.location) == (303, place.format(number=deal.number))
    assert requests.name(cookies.COOKIE) not in anyone.cookies
    assert did(table, deal)


def test_a_form_is_kept_until_its_sender_has_signed_in_and_done_once(anyone: Browser, table: Table) -> None:
    place = pressed(anyone, "/my/likes/brand/apple", {"on": "1"}).values()["next"]
    still_nobody, kept = anyone.get(place), requests.name(cookies.COOKIE) in anyone.cookies
    anyone.post("/account/sign-up", {**NEWCOMER, "next": place})
    anyone.get(place)
    was_liked = follows.is_liked(table, APPLE, "ana")
    follows.unlike(table, APPLE, "ana")

    again = anyone.get(place)

    assert (still_nobody.location.startswith("/account/sign-in?next=%2Fmy%2Fwish"), kept) == (True, True)
    assert again.location == "/brands/apple"
    assert (was_liked, follows.is_liked(table, APPLE, "ana")) == (True, False)


@pytest.mark.parametrize(
    "wish",
    [
        "/my/inbox/read-all?",
        "/account/name?name=Another",
        "/my/likes/brand/apple/more?on=0",
        "?",
        "",
        "/my/likes/brand/apple?%ff=%ff",
    ],
)
def test_a_deferred_form_that_no_button_of_ours_made_does_nothing(
    ana: Browser, table: Table, post_deal: PostDeal, wish: str
) -> None:
    """Its owner alone can make one, and is signed in as whom it would be done for."""
    ana.post("/my/likes/brand/apple", {"on": "1"})
    send(table, a_message(post_deal(), "ana", now=times.now()))
    name = users.get(table, "ana").name
    ana.cookies[requests.name(cookies.COOKIE)] = wish

    ana.get("/my/wish")

    assert follows.is_liked(table, APPLE, "ana")
    assert messages.unread_count(table, "ana", times.now()) == 1
    assert users.get(table, "ana").name == name


def test_a_form_that_is_too_long_to_keep_leads_back_to_where_it_stood(anyone: Browser) -> None:
    seen = anyone.post("/my/likes/brand/apple", {"on": "1", "more": "x" * 1000})

    assert seen.location == "/account/sign-in?next=%2Fbrands%2Fapple"
    assert requests.name(cookies.COOKIE) not in anyone.cookies
    assert cookies.SESSION not in anyone.cookies
