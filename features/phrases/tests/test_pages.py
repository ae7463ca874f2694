"""Limits in searches that are typed: on the site's pages, in the API, and in an alert's words."""

from __future__ import annotations

import json

import pytest

from shared.data.members import limits
from shared.errors import InvalidLimits
from shared.models.catalog import Deal
from tests.pages.conftest import ask, now, posted, table  # noqa: F401  # fixtures
from tests.pages.test_lists import api, links, titles  # noqa: F401  # a fixture
from tests.support.browsing import Ask, parsed


def test_limits_that_are_typed_are_links_that_remove_them_and_go_into_an_alert(ask: Ask, posted: list[Deal]) -> None:
    document = parsed(ask("/search", query={"q": "runner under $80 half price"}))

    (chips,) = document.findall(".//nav[@class='chips']")
    assert [link.get("href") for link in chips.findall("a")] == [
        "/search?q=runner+half+price",
        "/search?q=runner+under+%2480",
    ]
    (form,) = (form for form in document.findall(".//form[@method='post']") if form.get("action") == "/my/alerts")
    fields = {field.get("name"): field.get("value") for field in form.findall("input")}
    assert fields == {"words": "runner", "ceiling": "80.00", "currency": "USD", "leastDiscount": "50"}


def test_typed_limits_are_in_the_fields_and_are_changed_there(ask: Ask, posted: list[Deal]) -> None:
    document = parsed(ask("/search", query={"q": "runner $20 to $80 half price", "sort": "cheapest"}))

    (form,) = document.findall(".//details//form")
    fields = {field.get("name"): field.get("value") for field in form.findall("input")}
    fields |= {"off": next(each.get("value") for each in form.iter("option") if "selected" in each.attrib)}
    assert fields == {"q": "runner", "sort": "cheapest", "currency": "USD", "off": "50", "from": "20", "to": "80"}


def test_a_phrase_that_is_not_certain_is_searched_and_its_reading_offered(ask: Ask, posted: list[Deal]) -> None:
    pages = {
        typed: links(ask("/search", query={"q": typed}))
        for typed in ("runner 29.99", "runner $20 off", "runner up to 50% off under $80")
    }

    assert pages["runner 29.99"]["runner, up to 29.99"] == "/search?q=runner&to=29.99"
    assert pages["runner $20 off"]["runner"] == "/search?q=runner"
    both = "runner under $80, 50% off or more"
    assert pages["runner up to 50% off under $80"][both] == "/search?q=runner+under+%2480&off=50"


def test_contradictory_limits_have_an_answer(ask: Ask, posted: list[Deal]) -> None:
    for query in (
        {"q": "runner over $100 under $50"},
        {"q": "over $100 under $50"},
        {"q": "runner under $50", "from": "60"},
    ):
        assert ask("/search", query=query)["statusCode"] == 200


def test_a_search_of_limits_alone_leads_to_all_deals_within_them(ask: Ask) -> None:
    led = {
        typed: ask("/search", query={"q": typed})["multiValueHeaders"]["Location"]
        for typed in ("under $50", "half price", "$20-$40 -30%")
    }

    assert led == {
        "under $50": ["/deals?sort=cheapest&to=50&currency=USD"],
        "half price": ["/deals?off=50"],
        "$20-$40 -30%": ["/deals?sort=cheapest&from=20&to=40&currency=USD&off=30"],
    }


def test_limits_stay_in_a_search_that_is_corrected_or_finds_nothing(ask: Ask, posted: list[Deal]) -> None:
    typed = ("runner under $1 half price", "runnnner under $1", "zzzz under $1", "runnner under $1000")
    answers = [ask("/search", query={"q": each}) for each in typed]
    too_cheap, misspelt, unknown, corrected = map(links, answers)

    assert too_cheap["runner, 50% off or more"] == "/search?q=runner&off=50"
    assert 'href="/categories/home?to=1&amp;currency=USD&amp;off=50"' in answers[0]["body"]
    assert misspelt["runner"] == "/search?q=runner+under+%241"
    assert unknown["Search without the limits"] == "/search?q=zzzz"
    assert "No deals match <em>runnner</em>. Showing results for <em>runner</em>." in answers[-1]["body"]
    assert corrected["under $1000 ×"] == "/search?q=runner"


@pytest.mark.parametrize(
    "typed", ["under $", "shoes under $1.2.3", "shoes under $99999999999999", "under €80 $90", "$20 to $", "-0%"]
)
def test_a_price_that_is_none_is_answered(ask: Ask, posted: list[Deal], typed: str) -> None:
    assert ask("/search", query={"q": typed})["statusCode"] == 200


def test_the_api_finds_deals_within_limits_that_are_typed(api: Ask, posted: list[Deal]) -> None:
    found = {
        typed: [deal["price"] for deal in json.loads(api("/deals", query={"q": typed})["body"])["items"]]
        for typed in ("runner", "runner over $70", "runner under $70")
    }

    assert found == {
        "runner": ["60.00", "60.00", "80.00"],
        "runner over $70": ["80.00"],
        "runner under $70": ["60.00", "60.00"],
    }


def test_an_alerts_words_have_no_limits_among_them() -> None:
    with pytest.raises(InvalidLimits) as refused:
        limits.read({"words": "lamp under $60"})

    assert [field for field, _ in refused.value.faults] == ["words"]
