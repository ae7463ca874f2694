"""The panel and the browser of the table in a real browser: a walk, accessible, and whole at each width."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import httpx
import pytest
from playwright.sync_api import Browser, expect

from features.workings import collections, page_cost
from features.workings.entry import wrap
from features.workings.tests.conftest import by_form
from functions.background import refresher
from shared.data import keys
from shared.http.requests import LAPTOP
from shared.models.catalog import BRAND, Topic, feed_of
from tests.site.conftest import Windows, _windows, client_of, cookie_of, pages, people, site, windows  # noqa: F401  # fixtures
from tests.site.states import OF_EDITORS, OF_MEMBERS, OF_NICK
from tests.site.test_states import MOST_SHIFTED, ON_A_PHONE, answer, few_prices, shifted
from tests.support.browser import Visit, sent_by_script
from tests.support.preview import Preview
from tests.support.quality import invalid_html, violations
from tests.support.states import State
from tests.support.surroundings import a_context, record


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The stage shows its work. The functions look for the setting with each request."""
    page_cost.trace.cache_clear()
    collections._counts.cache_clear()
    monkeypatch.setenv("SHOWS_WORK", "true")
    yield
    page_cost.trace.cache_clear()


def table_paths(site: Preview, token: str) -> dict[str, str]:
    """The pages that only such a stage has, and one that says what it took."""
    deal = site.deals[40]
    month = BRAND.period.start_of(deal.created_at)
    index = {"partition": keys.feed_partition(feed_of(Topic(BRAND, deal.brand)), month), "index": "GSI2"}
    return {
        "table": "/table",
        "collection": f"/table?{urlencode({'partition': keys.deal(deal.deal_id)['PK']})}",
        "index": f"/table?{urlencode(index)}",
        "user": f"/table?{urlencode({'partition': keys.user('ana')['PK']})}",
        "nothing": "/table?partition=DEAL",
        "form": f"/table/took/{_kept(site, token)}",
        "code": "/table/code/shared.data.catalog.feeds",
        "took": f"/deals/{deal.number}",
    }


def test_what_a_button_took_comes_to_its_page(visit: Visit, site: Preview, shown: None, people: dict[str, str]) -> None:
    page = sent_by_script(visit(f"/categories/{site.deals[43].category}", token=people["nick"]))
    press = page.get_by_role("button", name=re.compile("^Liked?$"))

    for function in ("follows.like", "follows.unlike"):
        press.click()
        expect(page.locator("#form-took code").first).to_have_text(function)
        expect(page.get_by_role("link", name="Cost of this form")).to_have_count(1)
    assert page.url.endswith(site.deals[43].category)


@by_form
@pytest.mark.thorough
def test_the_walk_goes_from_a_deal_to_a_fault_and_is_dismissed_for_ever(
    visit: Visit, site: Preview, shown: None, people: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STAGE", LAPTOP)
    page = visit("/")
    page.context.add_cookies([{"name": "btd", "value": people["eddy"], "url": site.origin}])
    on_with_it = page.get_by_role("link", name="Continue the walk")
    page.get_by_role("link", name="Post a deal and watch the table").click()
    expect(page.get_by_text("after the first step")).to_have_count(4)

    page.get_by_role("link", name="Post a deal", exact=True).click()
    page.get_by_label("Brand").fill(site.deals[43].brand_name)
    page.get_by_label("Category").select_option(site.deals[43].category)
    page.get_by_role("button", name="Post", exact=True).click()
    on_with_it.click()
    key = page.locator(".steps code").first.inner_text()
    assert violations(page) == []
    assert invalid_html({"walk": page.request.get(page.url).text()}, tmp_path)[-6000:] == ""

    page.get_by_role("link", name="See its writes").click()
    expect(page.locator(".writes.together")).to_contain_text(key)
    on_with_it.click()
    page.get_by_role("link", name="See the item").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(key)
    on_with_it.click()
    page.get_by_role("link", name="See what followed").click()
    expect(page.locator("#followed")).to_contain_text("No function has read it yet.")
    wrap(refresher)({"Records": [record(None, site.table.get(keys.deal(keys.id_in(key))))]}, a_context())
    expect(page.locator("#followed")).to_contain_text("copied")
    assert violations(page) == []
    on_with_it.click()
    page.get_by_role("link", name="Try a conflict").click()
    page.get_by_label("Price", exact=True).fill("49.90")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#form-took")).to_contain_text("First try: TransactionConflict")

    page.get_by_role("button", name="Dismiss").click()
    page.goto("/")
    expect(page.locator("#walk")).to_be_hidden()


@by_form
def test_a_form_that_is_no_step_of_the_walk_leads_to_its_beginning(
    visit: Visit, site: Preview, shown: None, people: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAGE", LAPTOP)
    page = visit(f"/brands/{site.deals[43].brand}", token=people["nick"], script=False)
    page.get_by_role("button", name=re.compile("^Watch(ing)?$")).first.click()

    expect(page.locator("#form-took")).to_be_attached()
    expect(page.locator("#walk a")).to_have_text("Post a deal and watch the table →")


def _kept(site: Preview, token: str) -> str:
    """The id of what someone's like took."""
    headers = {"Cookie": cookie_of(token), "Sec-Fetch-Site": "same-origin"}
    path = f"{site.origin}/my/likes/brand/{site.deals[40].brand}"
    sent = httpx.post(path, data={"on": "1"}, headers=headers, trust_env=False, timeout=120)
    return sent.headers["Location"].rpartition("trace=")[2]


@pytest.mark.thorough
def test_pages_that_say_what_they_took_are_accessible_and_no_wider_than_their_window(
    windows: Windows, site: Preview, shown: None, people: dict[str, str]
) -> None:
    for kind, path in table_paths(site, people["eddy"]).items():
        page = windows.show(State(path, who="eddy"))
        page.get_by_text("Cost of this page").click()

        expect(page.get_by_role("columnheader", name="Trip"), kind).to_be_visible()
        assert (page.locator("h1").count(), violations(page)) == (1, []), kind


@pytest.mark.thorough
def test_html_validate_finds_nothing_in_pages_with_their_cost(
    site: Preview, shown: None, people: dict[str, str], pages: dict[str, State], tmp_path: Path
) -> None:
    took = {name: answer(site, people, pages[name]) for name in OF_MEMBERS | OF_EDITORS | OF_NICK}
    took |= {
        f"of the table {kind}": answer(site, people, State(path, who="eddy"))
        for kind, path in table_paths(site, people["eddy"]).items()
    }

    assert all("Cost of this page" in each.text for each in took.values())
    assert invalid_html({name: each.text for name, each in took.items()}, tmp_path)[-6000:] == ""


@by_form
@pytest.mark.thorough
def test_the_walks_strip_moves_nothing_and_leaves_the_first_window_full_of_prices(
    chromium: Browser,
    site: Preview,
    pages: dict[str, State],
    people: dict[str, str],
    shown: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On the laptop's stage, whose pages have the strip above the first deals."""
    monkeypatch.setenv("STAGE", LAPTOP)

    moved = {kind: shifted(chromium, site, people, pages[kind].path, strip="#walk") for kind in ON_A_PHONE}

    assert {kind: shift for kind, shift in moved.items() if shift > MOST_SHIFTED} == {}
    assert few_prices(chromium, strip="#walk", STAGE=LAPTOP, SHOWS_WORK="true") == {}
