"""Journeys in a browser, and by keyboard alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from shared.data.catalog import deals, feeds, offers, picks, topics
from shared.models.catalog import ALL_DEALS, FRONT_PAGE, Deal
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
def test_an_editor_lets_a_deal_end_and_its_page_says_so(
    visit: Visit, site: Site, wares: Sequence[Deal], *, script: bool
) -> None:
    deal = wares[script]
    desk = visit(f"/desk/deals/{deal.number}", token=entered(site, fresh("ender"), "editor"), script=script)

    desk.get_by_role("link", name="End it now").click()
    shows(desk.locator("main"), "The deal leaves all lists and search results.")
    press(desk, "End it now")
    tells(desk, "Ended. It no longer appears in any list.")

    page = visit(f"/deals/{deal.number}", token=entered(site, fresh("reader")), script=script)
    assert seen_by_reloading(page, page.locator(".banner"))


def test_the_bookmark_opens_the_form_with_what_a_shops_page_says(visit: Visit, site: Site) -> None:
    page = visit("/desk", token=entered(site, fresh("marker"), "editor"))
    bookmark = page.get_by_role("link", name="Post this deal").get_attribute("href") or ""
    shop = f"https://shop.example/{fresh('kettle')}"
    says = "".join(
        f'<meta property="{name}" content="{value}">'
        for name, value in {
            "product:original_price:amount": "158.00",
            "product:price:amount": "31.90",
            "og:image": "https://shop.example/kettle.jpg",
        }.items()
    )
    page.route(shop, lambda route: route.fulfill(content_type="text/html", body=f"{says}<h1>Kettle & cup</h1>"))

    page.goto(shop)
    with page.expect_navigation(url="**/desk/deals/new*"):
        page.evaluate(bookmark.removeprefix("javascript:"))

    for label, value in (
        ("Address at the shop", shop), ("Title", "Kettle & cup"), ("Price", "31.90"), ("List price optional", "158.00"),
        ("Picture at another host optional", "https://shop.example/kettle.jpg"),
    ):  # fmt: skip
        expect(page.get_by_label(label, exact=True)).to_have_value(value)


@with_and_without_script
def test_an_editor_posts_a_deal_that_was_warned_of_and_previewed_once(
    visit: Visit, site: Site, wares: Sequence[Deal], *, script: bool
) -> None:
    known, title = wares[2 + script], fresh("Posted")
    assert until(lambda: bool(offers.offers(site.table, known.link)))
    page = visit("/desk", token=entered(site, fresh("poster"), "editor"), script=script)

    page.get_by_label("Address at the shop").fill(f"{known.link}&utm_source=mail")
    press(page, "Continue")
    shows(page.locator(".warning"), "active deal")
    expect(page.get_by_label("Title")).to_have_value(known.title)
    expect(page.get_by_label("Price", exact=True)).to_have_value(known.price)
    shows(page.locator("#h-price"), "Compare it with the shop’s.")
    page.get_by_label("Title").fill(title)
    page.get_by_label("Price", exact=True).fill("12.5")
    press(page, "Preview")
    shows(page.locator(".preview article"), "$12.50")
    shows(page.locator(".preview article"), f"Go to {urlsplit(known.link).hostname}")
    page.get_by_role("button", name="Post", exact=True).dblclick()
    # Not wait_for_url, which fails where the second click aborts the first's navigation.
    expect(page).to_have_url(re.compile(r"/desk/deals/.*notice=posted"))
    tells(page, "Posted. Watchers are being notified.")
    page.reload()

    newest = feeds.read(site.table, ALL_DEALS, limit=20, now=times.now()).items
    assert [deal.price for deal in newest if deal.title == title] == ["12.50"]


@with_and_without_script
def test_an_editor_orders_the_front_page_by_keyboard(
    visit: Visit, site: Site, wares: Sequence[Deal], *, script: bool
) -> None:
    one, two, three = (str(deal.number) for deal in wares[8:11])
    picks.set_featured(site.table, FRONT_PAGE, [deal.deal_id for deal in wares[8:10]], times.now())
    page = visit("/desk", token=entered(site, fresh("orderer"), "editor"), script=script)
    rows = page.locator("#order tbody tr")

    page.get_by_label("Add or move by number").focus()
    page.keyboard.type(three)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(rows).to_have_count(3)
    page.get_by_role("button", name=f"{wares[10].title} up").focus()
    with page.expect_navigation():  # a key pressed before the page is whole would start from its top
        page.keyboard.press("Enter")
    expect(rows.nth(1)).to_have_attribute("data-number", three)
    tells(page, "The order was saved.")
    page.keyboard.press("Tab")
    expect(page.locator(f"#deal-{three} :focus")).to_have_count(1)  # the keyboard goes on from the row that was moved

    in_this_order = " + ".join(f".card:has(a[href='/deals/{number}'])" for number in (one, three, two))
    page.goto("/")
    assert seen_by_reloading(page, page.locator(f".cards > .lead{in_this_order}"))


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


@with_and_without_script
def test_an_editor_signs_in_posts_a_deal_makes_it_hot_and_ends_it(visit: Visit, site: Site, *, script: bool) -> None:
    editor, title, brand = site.editor("typist"), fresh("Typed"), fresh("Goods")
    topics.create_brand(site.table, brand.lower(), brand, times.now())
    page = visit("/account/sign-in?next=/desk", width=390, script=script)

    write(page, "Username or email address", editor.username)
    write(page, "Password", PASSWORD)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    write(page, "Address at the shop", f"https://shop.example/{title}")
    enter(page, "button", "Continue")
    write(page, "Title", title)
    write(page, "Price", "12.50")
    write(page, "Brand", brand)
    reach(page, page.get_by_label("Category", exact=True))
    page.keyboard.type("S")
    enter(page, "button", "Post")
    expect(page.locator(".notice[role=status]")).to_have_text("Posted. Watchers are being notified.")
    enter(page, "link", "Make it hot")
    enter(page, "button", "Notify all members")
    expect(page.get_by_role("heading", level=1)).to_have_text("All members are notified")

    newest = feeds.read(site.table, ALL_DEALS, limit=20, now=times.now()).items
    assert [(deal.price, deal.category) for deal in newest if deal.title == title] == [("12.50", "shoes")]
    enter(page, "link", "To the deal")
    enter(page, "link", "End it now")
    enter(page, "button", "End it now")
    expect(page.locator(".notice[role=status]")).to_have_text("Ended. It no longer appears in any list.")
