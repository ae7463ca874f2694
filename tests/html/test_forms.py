"""Forms and cookies: what is believed, and what is not."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from urllib.parse import quote, urlencode, urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.api.orders import CartChange
from shared.data.members import sessions, users
from shared.dynamodb.table import Table
from shared.errors import BadRequest, NotAForm
from shared.html import cookies, forms
from shared.html.pages import Request
from tests.support.engines import FAST, on
from tests.support.factories import NOW, a_user

ORIGIN = "https://deals.example"


def posted(body: str, media_type: str = "application/x-www-form-urlencoded") -> dict[str, Any]:
    """A form as a page function's routes see it: its body decoded."""
    return {"headers": {"Content-Type": media_type}, "body": body}


@pytest.mark.parametrize(
    "headers",
    [{"Sec-Fetch-Site": "same-origin"}, {"sec-fetch-site": "same-origin", "origin": "null"}, {"Origin": ORIGIN}],
)
def test_a_form_of_our_own_is_taken(headers: dict[str, str]) -> None:
    forms.from_our_pages({"headers": headers}, ORIGIN)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Sec-Fetch-Site": "cross-site", "Origin": ORIGIN},
        {"Sec-Fetch-Site": "same-site", "Origin": "https://blog.deals.example"},
        {"Sec-Fetch-Site": "none", "Origin": ORIGIN},
        {"Sec-Fetch-Site": ""},
        {"Origin": "null"},
        {"Origin": "https://evil.example", "Host": "evil.example"},
        {"Origin": "https://gateway.example", "Host": "gateway.example", "X-Forwarded-Host": "gateway.example"},
        {"Origin": f"{ORIGIN}.evil.example"},
        {"Origin": ORIGIN.replace("https", "http")},
        {"Referer": f"{ORIGIN}/account/sign-in"},
    ],
)
def test_a_form_from_elsewhere_is_refused(headers: dict[str, str]) -> None:
    with pytest.raises(forms.FromElsewhere):
        forms.from_our_pages({"headers": headers}, ORIGIN)


def test_a_site_that_does_not_know_its_origin_believes_no_origin() -> None:
    with pytest.raises(forms.FromElsewhere):
        forms.from_our_pages({"headers": {"Origin": ""}}, "")


def test_fields_are_read_as_they_were_typed() -> None:
    fields = forms.read(posted(urlencode({"title": "Größe 42 — 50 % & more", "note": "", "q": "  a=b+c "})))

    assert fields == {"title": "Größe 42 — 50 % & more", "note": "", "q": "  a=b+c "}
    assert forms.read({"headers": {}, "body": None}) == {}


@pytest.mark.parametrize(
    "body", ["title=%ff%fe", "title=%ED%A0%80", "a=1&a=2", "&".join(f"f{n}=" for n in range(101)), "title=é"]
)
def test_what_no_form_of_ours_sends_is_refused(body: str) -> None:
    with pytest.raises(BadRequest):
        forms.read(posted(body))


def test_another_media_type_is_no_form() -> None:
    with pytest.raises(NotAForm):
        forms.read(posted("{}", "application/json"))


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.dictionaries(TEXTS, TEXTS, max_size=20))
def test_whatever_a_browser_encodes_comes_back(fields: dict[str, str]) -> None:
    assert forms.read(posted(urlencode(fields))) == fields


def test_a_forms_key_makes_its_sendings_one() -> None:
    key = forms.new_key()

    once = forms.idempotency({"key": key, "pieces": "3"}, "ana", {"add": 3})

    assert once is not None
    assert (once.account_id, once.client_key, once.request) == ("ana", key, {"add": 3})


@pytest.mark.parametrize("fields", [{}, {"key": ""}, {"key": "x" * 256}, {"key": "é"}, {"key": "a\nb"}])
def test_a_form_without_a_valid_key_has_no_promise_to_be_sent_once(fields: dict[str, str]) -> None:
    assert forms.idempotency(fields, "ana", {}) is None


@pytest.mark.parametrize("path", ["/", "/brands/g-fore", "/my/inbox?unread=yes&cursor=abc", "/search?q=%C3%A9t%C3%A9"])
def test_a_path_of_ours_is_led_to(path: str) -> None:
    assert forms.own_path(path, "/") == path


AWAY = [
    None, "", "brands", "//evil.example", "///evil.example", "/\\evil.example", "\\\\evil.example", "https://evil.example",
    "https:/evil.example", "javascript:alert(1)", "/\t/evil.example", "/\n/evil.example", " //evil.example",
    "/brands\r\nSet-Cookie: a=b", "/é", "/a b", "/../x", "/./" + "/evil.example", "/" + "a" * 2000,
]  # fmt: skip


@pytest.mark.parametrize("text", AWAY)
def test_what_leads_away_is_ignored(text: str | None) -> None:
    assert forms.own_path(text, "/my/inbox") == "/my/inbox"


@given(st.text(st.sampled_from("/\\.:@ahtps\t\n?#%2fF")), st.booleans())
def test_wherever_it_leads_the_host_stays_ours(text: str, encoded: bool) -> None:
    led = forms.own_path(quote(text) if encoded else text, "/")

    assert urlsplit(urljoin(f"{ORIGIN}/account/sign-in", led))[:2] == ("https", "deals.example")


def test_a_field_says_in_plain_words_that_it_wants_a_number() -> None:
    with pytest.raises(forms.InvalidFields) as refused:
        forms.check(CartChange, {"quantity": "many"})

    assert refused.value.errors == {"quantity": "This must be a whole number."}


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
def test_a_guessed_cookie_belongs_to_no_one(table: Table, token: str) -> None:
    for cookie in GUESSED:
        request = bringing(cookie.replace("{token}", token))

        assert cookies.session_of(table, request) is None
        assert request.username is None
