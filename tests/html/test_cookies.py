"""The cookies of a signed-in user: how they are set, and which user those of a request belong to."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from shared.data.members import sessions, users
from shared.dynamodb.table import Table
from shared.html import cookies
from shared.html.pages import Request
from tests.support.engines import FAST, on
from tests.support.factories import NOW, a_user

ENTROPY = bytes(range(32))


def bringing(*lines: str, now: datetime = NOW) -> Request:
    event = {"headers": {"Cookie": lines[-1]}, "multiValueHeaders": {"Cookie": list(lines)}, "requestContext": {}}
    return Request(event, "/my/inbox", {}, now)


@pytest.fixture
def token(table: Table) -> str:
    ana = a_user("ana")
    users.create(table, ana)
    token, _ = sessions.start(table, ana, NOW, ENTROPY)
    return token


def test_the_session_is_kept_from_scripts_from_plain_http_and_from_sibling_hosts() -> None:
    session, hint = cookies.signed_in("t0ken")

    assert session == "__Host-btd=t0ken; Path=/; Secure; SameSite=Lax; HttpOnly; Max-Age=2592000"
    assert hint == "btd-in=1; Path=/; Secure; SameSite=Lax; Max-Age=2592000"


@on(FAST)
def test_the_laptops_cookies_are_taken_by_browsers_that_want_https_for_the_others(
    table: Table, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAGE", "local")

    session, hint = cookies.signed_in(token)

    assert session == f"btd={token}; Path=/; SameSite=Lax; HttpOnly; Max-Age=2592000"
    assert not [line for line in (session, hint, *cookies.signed_out()) if "Secure" in line or "__Host-" in line]
    assert cookies.session_of(table, bringing(f"btd={token}")) is not None
    assert cookies.session_of(table, bringing(f"__Host-btd={token}")) is None


def test_signing_out_ends_both() -> None:
    assert [value.partition("=")[0] for value in cookies.signed_out()] == ["__Host-btd", "btd-in"]
    assert all("Max-Age=0" in value for value in cookies.signed_out())


@on(FAST)
def test_a_session_is_found_among_other_cookies(table: Table, token: str) -> None:
    request = bringing("theme=dark; btd-in=1", f"a=b;__Host-btd={token}")

    session = cookies.session_of(table, request)

    assert session is not None
    assert session.username == request.username == "ana"


GUESSED = [
    "", "__Host-btd=", "__Host-btd=guessed", "btd={token}", "__host-btd={token}",
    "__Host-btd={token}; __Host-btd=another", "__Host-btd={token}é", "__Host-btd={token}" + "x" * 200, "btd-in=1",
]  # fmt: skip


@on(FAST)
def test_what_was_guessed_belongs_to_nobody(table: Table, token: str) -> None:
    for cookie in GUESSED:
        request = bringing(cookie.replace("{token}", token))

        assert cookies.session_of(table, request) is None
        assert request.username is None


@on(FAST)
def test_a_session_that_has_expired_or_was_ended_is_nobodys_at_once(table: Table, token: str) -> None:
    late = bringing(f"__Host-btd={token}", now=NOW + sessions.LIFETIME + timedelta(seconds=1))

    assert cookies.session_of(table, late) is None
    sessions.end(table, token)
    assert cookies.session_of(table, bringing(f"__Host-btd={token}")) is None
