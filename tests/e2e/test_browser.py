"""Journeys in a browser, and by keyboard alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from shared.data.catalog import deals, topics
from shared.models.catalog import Deal
from shared.values import times
from tests.support.browser import Visit, press, sent_by_script, with_and_without_script
from tests.support.commands import until
from tests.support.factories import a_deal
from tests.support.preview import entered
from tests.support.site import PASSWORD, Site, Visitor, fresh
from tests.support.site import a_deal as body_of

WARES = 14
"""Deals of one brand."""


@pytest.fixture(scope="module")
def wares(site: Site) -> Sequence[Deal]:
    """Deals of some days ago, which were news to nobody. Each test takes its own of them."""
    now = times.now()
    name = fresh("Harbour")
    brand = name.lower()
    topics.create_brand(site.table, brand, name, now)
    made = [
        a_deal(
            now - timedelta(days=3, minutes=number),
            title=f"Deck shoe {number}",
            link=f"https://shop.example/{brand}-{number}?size=9",
            brand=brand,
            brand_name=name,
        )
        for number in range(WARES)
    ]
    return deals.create_many(site.table, made, now)


def toggle(page: Page, name: str, *, script: bool) -> None:
    """Press a button of a page's that script sends without leaving the page, once it does so."""
    if not script:
        press(page, name)
        return
    sent_by_script(page).get_by_role("button", name=name, exact=True).click()


def tells(page: Page, text: str) -> None:
    expect(page.locator(".notice[role=status]")).to_have_text(text)


def shows(part: Locator, text: str) -> None:
    expect(part).to_contain_text(text, use_inner_text=True)


def seen_by_reloading(page: Page, part: Locator) -> bool:
    """Whether a page, which may be a stored one, shows something in the end."""

    def reloaded() -> bool:
        page.reload()
        return part.count() > 0

    return until(reloaded)


@with_and_without_script
def test_a_member_signs_up_watches_a_brand_gets_its_next_deal_and_signs_out(
    visit: Visit, editor: Visitor, brand: str, *, script: bool
) -> None:
    page = visit("/account/sign-up", script=script)
    username = fresh("watcher")
    typed = {"Username": username, "Name": "Walker", "Email address": f"{username}@mail.example", "Password": PASSWORD}
    for label, text in typed.items():
        page.get_by_label(label, exact=True).fill(text)
    press(page, "Create account")
    page.goto(f"/brands/{brand}")
    toggle(page, "Watch", script=script)
    if script:
        expect(page.get_by_role("button", name="Watching")).to_be_visible()
    else:
        tells(page, "You’re watching it. New deals will come to your inbox.")

    number = editor.post("/deals", json=body_of(brand, title="Told of")).json()["dealNumber"]
    page.goto("/my/inbox")
    assert seen_by_reloading(page, page.locator(".row.unread"))
    expect(page.locator("#unread")).to_have_text(re.compile("^1"))
    page.get_by_role("link", name="Told of").click()
    expect(page).to_have_url(re.compile(rf"/deals/{number}$"))
    page.goto("/my/inbox")
    shows(page.locator("main"), "All messages are read")

    page.goto("/account")
    press(page, "Sign out")
    tells(page, "You’re signed out.")
    page.go_back()
    expect(page).to_have_url(re.compile("/account/sign-in"))  # a member's own page is not shown again


@with_and_without_script
def test_a_form_on_another_site_or_a_sibling_host_does_nothing(
    visit: Visit, site: Site, wares: Sequence[Deal], *, script: bool
) -> None:
    """A sibling's form comes with the cookie: browsers call it the same site. Where it was sent from decides."""
    page = visit("/my/watches", token=entered(site, fresh("victim")), script=script)
    port = urlsplit(site.origin).port
    action = f"{site.origin}/my/likes/brand/{wares[0].brand}"
    form = f'<form method="post" action="{action}"><input name="on" value="1"><button>Win</button></form>'

    for elsewhere in (f"http://evil.localhost:{port}/", site.origin.replace("//", "//evil.") + "/"):
        page.route(elsewhere, lambda route: route.fulfill(content_type="text/html", body=form))
        page.goto(elsewhere)
        press(page, "Win")
        shows(page.locator("main"), "This form was not sent from this site")

    page.goto("/my/watches")
    expect(page.get_by_role("button", name="Unlike")).to_have_count(0)


FARTHEST = 150
"""Presses of Tab after which a part of a page counts as out of reach."""

IS_OUTLINED = """part => [part, part.closest('.card')].some(
    each => each && getComputedStyle(each).outlineStyle === 'solid')"""


def reach(page: Page, wanted: Locator) -> None:
    """Press Tab until a part has the focus, and shows that it has."""
    # Found once: to look for it by its role after each press takes longer than the press.
    part = wanted.element_handle()
    for _ in range(FARTHEST):
        page.keyboard.press("Tab")
        if part.evaluate("part => part === document.activeElement"):
            assert part.evaluate(IS_OUTLINED)
            return
    pytest.fail(f"The keyboard does not reach {wanted}.")


def enter(page: Page, role: str, name: str) -> None:
    """Go to a link or a button, press it, and wait for the page that follows."""
    reach(page, page.get_by_role(role, name=name, exact=True))  # type: ignore[arg-type]  # a role is one of its words
    with page.expect_navigation():
        page.keyboard.press("Enter")


def write(page: Page, label: str, text: str) -> None:
    """Go to a field, whose text is then selected as a whole, and type over it."""
    reach(page, page.get_by_label(label, exact=True))
    page.keyboard.type(text)


@with_and_without_script
def test_a_reader_finds_a_deal_makes_an_account_and_likes_its_brand(visit: Visit, site: Site, *, script: bool) -> None:
    brand = fresh("Kettle")
    topics.create_brand(site.table, brand.lower(), brand, times.now())
    deal = deals.create(
        site.table, a_deal(times.now(), title="Stove top", brand=brand.lower(), brand_name=brand), times.now()
    )
    username = fresh("typist")
    page = visit(f"/brands/{brand.lower()}", width=390, script=script)

    reach(page, page.get_by_role("link", name="Skip to the content"))
    page.keyboard.press("Enter")
    enter(page, "link", deal.title)
    enter(page, "link", brand)
    button = page.get_by_role("button", name="Like", exact=True)
    reach(page, button)
    with page.expect_navigation(url=re.compile("/account/sign-in")):
        page.keyboard.press("Enter")
    enter(page, "link", "Create an account")
    write(page, "Username", username)
    write(page, "Name", "Typist")
    write(page, "Email address", f"{username}@mail.example")
    write(page, "Password", PASSWORD)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"/brands/{brand.lower()}"))  # and the button that was pressed there is done
    page.goto("/my/watches")
    expect(page.get_by_role("main").get_by_role("link", name=brand, exact=True).first).to_be_visible()
