"""Script and style on public pages: the reader's own zone and colours, a copied code, one's own state, the filter."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, Route, expect

from shared.data.catalog import deals, topics
from shared.data.members import follows, messages
from shared.models.catalog import BRAND, Deal, Topic
from shared.values import times
from tests.support.browser import Visit, press, sent_by_script
from tests.support.factories import send
from tests.support.preview import Preview, entered, started

ENDS = datetime(times.now().year + 1, 6, 15, 20, 30, tzinfo=UTC)
TOKYO = timedelta(hours=9)

BACK = "dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))"
"""Do as a browser does when Back brings a page again as it was left; the one of these tests keeps no page."""

_serial = itertools.count()


@pytest.fixture(scope="module")
def site() -> Iterator[Preview]:
    """The running site. Each test writes only to deals and members that no other one looks at."""
    with started(most=60) as preview:
        yield preview


@pytest.fixture
def deal(site: Preview) -> Deal:
    """A deal of a test's own, the newest of its brand, that ends on a known evening and has a code."""
    newest = {each.brand: each for each in reversed(site.deals)}
    found = list(newest.values())[next(_serial)]
    return deals.edit(site.table, found.deal_id, {"ends_at": ENDS, "coupon_code": "BIGTIME15"}, times.now())


def ends_of(page: Page, deal: Deal) -> str:
    """The end of a deal, in the words of its card on its brand's page."""
    card = page.locator(".card").filter(has=page.locator(f"a[href='/deals/{deal.number}']"))
    return card.locator("time[data-ends]").inner_text()


@pytest.mark.parametrize(
    ("left", "shown"),
    [(timedelta(days=3), "$"), (timedelta(hours=5, minutes=40), ", in 5 h$"), (timedelta(minutes=20), ", in 20 min$")],
    ids=["days", "hours", "minutes"],
)
def test_an_end_is_shown_in_the_readers_zone_and_on_the_last_day_what_is_left(
    visit: Visit, deal: Deal, left: timedelta, shown: str
) -> None:
    page = visit(f"/deals/{deal.number}", zone="Asia/Tokyo", at=ENDS - left)

    there = ENDS + TOKYO
    words = rf"^{there.day} {there:%B} {there.year} at {there:%H:%M} GMT\+9{shown}"
    expect(page.locator(".facts time[data-ends]")).to_have_text(re.compile(words))


def test_a_card_shows_an_end_in_the_readers_zone_with_another_year_or_what_is_left(visit: Visit, deal: Deal) -> None:
    there, path = ENDS + TOKYO, f"/brands/{deal.brand}"

    before, last_day, a_year_before = (
        ends_of(visit(path, zone="Asia/Tokyo", at=ENDS - left), deal)
        for left in (timedelta(days=3), timedelta(hours=3), timedelta(days=366))
    )

    assert before == f"{there.day} {there:%b}"
    assert last_day == "in 3 h"
    assert str(ENDS.year) in a_year_before


def test_a_code_is_copied(visit: Visit, deal: Deal) -> None:
    page = visit(f"/deals/{deal.number}", permissions=("clipboard-read", "clipboard-write"))

    page.get_by_role("button", name="Copy").click()

    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "BIGTIME15"


def test_the_unread_count_is_a_number_and_a_word_for_those_who_listen(visit: Visit, site: Preview, deal: Deal) -> None:
    token = entered(site, "lena")
    send(site.table, messages.compose(messages.of_deal(deal, "brand"), "lena"))

    count = visit("/about", token=token).locator("#unread")

    expect(count).to_have_text("1 unread")
    expect(count.locator(".vh")).to_have_text("unread")
    assert count.get_attribute("aria-label") is None


def test_a_page_that_back_brings_again_shows_what_is_so_now(visit: Visit, site: Preview, deal: Deal) -> None:
    page = visit(f"/brands/{deal.brand}", token=entered(site, "mara"))
    button, unread = page.locator("form[data-state=liked] button"), page.locator("#unread")
    expect(button).to_have_attribute("aria-pressed", "false")
    follows.like(site.table, Topic(BRAND, deal.brand), "mara", times.now())
    send(site.table, messages.compose(messages.of_deal(deal, "brand"), "mara"))

    page.evaluate(BACK)
    expect(button).to_have_text("Liked")
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(unread).to_have_text("1 unread")
    page.context.clear_cookies()
    page.evaluate(BACK)

    expect(button).to_have_text("Like")
    expect(button).to_have_attribute("aria-pressed", "false")
    expect(unread).to_be_hidden()
    expect(unread).to_have_text("")


def test_an_alert_that_one_has_is_shown_and_changed_where_the_deal_is(visit: Visit, site: Preview, deal: Deal) -> None:
    page = visit(f"/deals/{deal.number}", token=entered(site, "alma"))
    price, form = page.locator("#f-ceiling"), page.locator("form.alert")
    expect(form.locator("label")).to_contain_text("Too much?")

    for button, typed, shown in (("Set alert", "1", "Alert at $1.00"), ("Change", "1.50", "Alert at $1.50")):
        price.fill(typed)
        press(page, button)
        expect(page.locator(".notice")).to_contain_text("Saved.")
        expect(form.locator("label")).to_contain_text(shown)

    expect(price).to_have_value("1.50")
    expect(page.get_by_text("Too much?")).to_be_hidden()
    stranger = visit(f"/deals/{deal.number}")
    expect(stranger.get_by_role("button", name="Set alert")).to_be_visible()


def test_what_script_cannot_send_is_sent_as_a_form(visit: Visit, site: Preview, deal: Deal) -> None:
    page = sent_by_script(visit(f"/brands/{deal.brand}", token=entered(site, "olga")))

    def only_forms(route: Route) -> None:
        route.abort() if route.request.resource_type == "fetch" else route.continue_()

    page.route("**/my/likes/brand/*", only_forms)

    page.get_by_role("button", name="Like", exact=True).click()

    expect(page.locator(".notice")).to_have_text("Added to your likes.")


def test_what_an_address_says_was_done_is_shown_in_the_browser_that_did_it(visit: Visit, site: Preview) -> None:
    page = visit("/account", token=entered(site, "olaf"))

    page.get_by_role("button", name="Sign out", exact=True).click()

    expect(page.get_by_role("status")).to_have_text("You’re signed out.")
    elsewhere = visit("/?notice=signed-out").locator(".notice")
    expect(elsewhere).to_have_text("You’re signed out.")
    expect(elsewhere).to_be_hidden()


FOUND = {
    "apple": ("1 brand", ["A"]),
    "manana": ("1 brand", ["M"]),
    "MAÑANA": ("1 brand", ["M"]),
    "g fore": ("1 brand", ["G"]),
    "orsted": ("1 brand", ["O"]),
    "go": ("2 brands", ["G", "P"]),
    "arc't": ("1 brand", ["A"]),
    "zeppelin": ("No brand has that in its name.", []),
}


def test_the_filter_says_how_many_brands_it_found_and_keeps_their_letters(visit: Visit, site: Preview) -> None:
    topics.create_brand(site.table, "orsted", "Ørsted", times.now())  # its letter is no other one with an accent
    page = visit("/brands")

    for typed, (told, letters) in FOUND.items():
        page.get_by_label("Show only").fill(typed)

        expect(page.get_by_role("status")).to_have_text(told)
        expect(page.locator(".letters a:visible")).to_have_text(letters)
        expect(page.locator("[data-letter]:visible")).to_have_count(len(letters))


def test_the_ring_of_a_cards_brand_is_not_cut_at_the_cards_edge(visit: Visit) -> None:
    page = visit("/deals")
    card = page.locator(".card").first
    is_cut = "card => getComputedStyle(card).contentVisibility !== 'visible'"
    before = card.evaluate(is_cut)

    card.locator(".by a").focus()

    assert before
    assert not card.evaluate(is_cut)


def test_in_forced_colours_unread_messages_have_their_dot(visit: Visit, site: Preview) -> None:
    token = entered(site, "pia")
    send(site.table, messages.compose(messages.of_deal(site.deals[0], "brand"), "pia"))
    page = visit("/my/inbox", token=token)

    page.emulate_media(forced_colors="active")
    dot = page.locator(".row.unread").evaluate(
        "row => { const dot = getComputedStyle(row, '::before'); return [dot.borderTopStyle, dot.borderTopColor]; }"
    )

    assert dot[0] == "solid"
    assert dot[1] != page.evaluate("getComputedStyle(document.body).backgroundColor")
