"""Forms: who may post one, how it is read, and where it may lead."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode, urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.api.orders import CartChange
from shared.errors import BadRequest, NotAForm
from shared.html import form_validation, forms

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
        form_validation.check(CartChange, {"quantity": "many"})

    assert refused.value.errors == {"quantity": "This must be a whole number."}
