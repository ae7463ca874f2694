"""What members, editors and shoppers do, from end to end in a real browser, with script and without it.

Nothing here reads the table's stream: what it would do, that a deal shows how much of it is left, a test asks for.
"""

from __future__ import annotations

import re
from itertools import count

import pytest
from playwright.sync_api import Locator, Page, expect

from shared.data.catalog import deals, featured, feeds
from shared.data.members import messages
from shared.data.orders import addresses, stock
from shared.models import ALL_DEALS, EDITORS_CHOICE, Role
from shared.values import times
from tests.site.conftest import Visit, entered, sold
from tests.support.making import send
from tests.support.preview import Preview
from tests.support.shop import HOME_ADDRESS
from tests.support.waiting import until

PASSWORD = "correct horse battery"

with_and_without_script = pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])


class People:
    """Signs in people whom no other test knows, and remembers their usernames by their tokens."""

    def __init__(self, site: Preview, serial: count[int]) -> None:
        self._site, self._serial = site, serial
        self.usernames: dict[str, str] = {}

    def __call__(self, name: str, role: Role = "member") -> str:
        """The token of somebody new."""
        username = f"{name}-{next(self._serial)}"
        token = entered(self._site, username, role)
        self.usernames[token] = username
        return token


@pytest.fixture(scope="session")
def serial() -> count[int]:
    """Numbers for names that no other test uses."""
    return count(1)


@pytest.fixture
def someone(site: Preview, serial: count[int]) -> People:
    return People(site, serial)


def press(page: Page, name: str) -> None:
    """Send a form, and wait for the page that follows."""
    with page.expect_navigation():
        page.get_by_role("button", name=name, exact=True).click()


def toggle(page: Page, name: str, *, script: bool) -> None:
    """Press a button of a page's that script sends without leaving the page, once it does so."""
    if not script:
        press(page, name)
        return
    # Before, a browser sends it as it does without script.
    takes_over = "[...document.querySelectorAll('form[data-state]')].every(form => form.onsubmit)"
    assert until(lambda: bool(page.evaluate(takes_over)))
    page.get_by_role("button", name=name, exact=True).click()


def tells(page: Page, text: str) -> None:
    expect(page.locator(".notice")).to_have_text(text)


def shows(part: Locator, text: str) -> None:
    expect(part).to_contain_text(text, use_inner_text=True)


@with_and_without_script
def test_a_member_signs_up_in_and_out_everywhere_and_leaves(visit: Visit, serial: count[int], *, script: bool) -> None:
    username = f"walker-{next(serial)}"
    page, other = visit("/account/sign-up", script=script), visit("/account/sign-in?next=/my/saved", script=script)

    def sign_in(window: Page, password: str = PASSWORD) -> None:
        window.get_by_label("Username").fill(username)
        window.get_by_label("Password").fill(password)
        press(window, "Sign in")

    for label, typed in (("Username", username), ("Name", "Walker"), ("Email address", f"{username}@mail.example")):
        page.get_by_label(label, exact=True).fill(typed)
    page.get_by_label("Password").fill(PASSWORD)
    press(page, "Make the account")
    page.goto("/account")
    expect(page.get_by_role("heading", level=1)).to_have_text("Walker")

    page.get_by_label("Name", exact=True).fill("Wanderer")
    press(page, "Change the name")
    tells(page, "Your name is changed.")
    press(page, "Sign out")
    tells(page, "You are signed out.")
    page.go_back()
    expect(page).to_have_url(re.compile("/account/sign-in"))  # what was one's own is not shown again

    sign_in(other, "wrong password")
    expect(other).to_have_title(re.compile("^Error:"))
    expect(other.get_by_label("Username")).to_have_value(username)
    sign_in(other)
    expect(other).to_have_url(re.compile("/my/saved"))
    sign_in(page)
    page.goto("/account")
    press(page, "Sign out everywhere")
    other.goto("/my/inbox")
    expect(other).to_have_url(re.compile("/account/sign-in"))

    sign_in(other)
    other.goto("/account/remove")
    other.get_by_label("Password").fill(PASSWORD)
    press(other, "Remove the account")
    tells(other, "Your account is removed.")
    other.goto("/account/sign-in")
    sign_in(other)
    expect(other).to_have_title(re.compile("^Error:"))


@with_and_without_script
def test_a_member_saves_watches_and_likes(visit: Visit, site: Preview, someone: People, *, script: bool) -> None:
    deal = site.deals[20]
    page = visit(f"/deals/{deal.number}", token=someone("saver"), script=script)

    toggle(page, "Save", script=script)
    if script:
        expect(page.get_by_role("button", name="Saved")).to_have_attribute("aria-pressed", "true")
        assert page.url.endswith(f"/deals/{deal.number}")
    else:
        tells(page, "Saved. It is in your list.")
    page.goto("/my/saved")
    shows(page.locator("main"), deal.title)
    press(page, f"Remove {deal.title}")
    shows(page.locator("main"), "Nothing yet.")

    for button, done in (("Watch", "Watching"), ("Like", "Liked")):
        page.goto(f"/brands/{deal.brand}")
        toggle(page, button, script=script)
        if script:
            expect(page.get_by_role("button", name=done)).to_be_visible()
    page.goto("/my/watches")
    press(page, f"Stop watching {deal.brand_name}")
    tells(page, "You watch it no longer.")


@with_and_without_script
def test_a_member_reads_messages(visit: Visit, site: Preview, someone: People, *, script: bool) -> None:
    token, (first, second) = someone("reader"), site.deals[21:23]
    for deal in (first, second):
        send(site.table, messages.compose(messages.of_deal(deal, "brand"), someone.usernames[token], times.now()))
    page = visit("/", token=token, script=script)

    if script:
        expect(page.locator("#unread")).to_have_text("2")
    else:
        expect(page.locator("#unread")).to_be_hidden()
    page.get_by_role("link", name="Inbox").click()
    page.locator(".row h3 a").first.click()
    expect(page).to_have_url(re.compile(r"/deals/\d+"))
    page.goto("/my/inbox")
    shows(page.locator("main"), "1 unread")
    press(page, "Mark all read")
    shows(page.locator("main"), "Everything was read")


@with_and_without_script
def test_an_editor_posts_a_deal_that_was_warned_of_and_previewed_once(
    visit: Visit, site: Preview, someone: People, *, script: bool
) -> None:
    known = site.deals[24]
    page = visit("/desk", token=someone("poster", role="editor"), script=script)

    page.get_by_label("Address at the shop").fill(known.link)
    press(page, "Go on")
    shows(page.locator(".warning"), "active deal")
    expect(page.get_by_label("Title")).to_have_value(known.title)
    page.get_by_label("Title").fill(f"Posted {'with' if script else 'without'} script")
    page.get_by_label("Price", exact=True).fill("12.5")
    press(page, "Preview")
    shows(page.locator(".preview"), "$12.50")
    page.get_by_role("button", name="Post", exact=True).dblclick()
    page.wait_for_url("**/desk/deals/*said=posted")

    tells(page, "Posted. Its watchers are being told.")
    posted, before = feeds.read(site.table, ALL_DEALS, limit=2, now=times.now()).items
    assert (posted.price, posted.title) == ("12.50", f"Posted {'with' if script else 'without'} script")
    assert before.title != posted.title


@with_and_without_script
def test_of_two_editors_the_later_one_is_shown_both_values(
    visit: Visit, site: Preview, someone: People, *, script: bool
) -> None:
    deal = site.deals[25 + script]
    one, two = (
        visit(f"/desk/deals/{deal.number}", token=someone(name, role="editor"), script=script)
        for name in ("one", "two")
    )

    one.get_by_label("Title").fill("As one has it")
    press(one, "Save")
    two.get_by_label("Title").fill("As two has it")
    press(two, "Save")

    both = two.locator("section[role=alert] tbody").inner_text()
    assert "As one has it" in both
    assert "As two has it" in both
    assert deals.get(site.table, deal.deal_id).title == "As one has it"
    press(two, "Save")
    tells(two, "Changed. Every page follows in a second or two.")
    assert deals.get(site.table, deal.deal_id).title == "As two has it"


def test_an_editor_makes_a_deal_hot(visit: Visit, site: Preview, someone: People) -> None:
    page = visit(f"/desk/deals/{site.deals[28].number}", token=someone("herald", role="editor"))

    page.get_by_role("link", name="Make it hot").click()
    shows(page.locator("main"), "readers will get a message")
    press(page, "Tell everybody")

    tells(page, "Everybody is being told.")
    shows(page.locator("main"), "told so far")
    assert deals.get(site.table, site.deals[28].deal_id).hot_at is not None


@with_and_without_script
def test_an_editor_orders_a_list_by_keyboard_and_by_dragging(
    visit: Visit, site: Preview, someone: People, *, script: bool
) -> None:
    picked = site.deals[30:33]
    featured.set_featured(site.table, EDITORS_CHOICE, [deal.deal_id for deal in picked[:2]], times.now())
    page = visit("/desk/editors-choice", token=someone("orderer", role="editor"), script=script)

    page.get_by_label("Add by number").focus()
    page.keyboard.type(str(picked[2].number))
    page.keyboard.press("Enter")
    expect(page.locator(".rows .row")).to_have_count(3)
    page.get_by_role("button", name=f"{picked[2].title} up").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".rows .row").nth(1)).to_have_attribute("data-number", str(picked[2].number))
    tells(page, "Kept in this order.")
    if script:
        page.locator(".row").nth(2).drag_to(page.locator(".row").nth(0), target_position={"x": 200, "y": 5})
        expect(page.locator(".rows .row").nth(0)).to_have_attribute("data-number", str(picked[1].number))

    chosen = [deal.number for deal in featured.read(site.table, EDITORS_CHOICE, times.now())]
    by_buttons = [picked[0].number, picked[2].number, picked[1].number]
    assert chosen == ([picked[1].number, *by_buttons[:2]] if script else by_buttons)


@with_and_without_script
def test_two_want_the_last_piece_and_one_gets_it(visit: Visit, site: Preview, someone: People, *, script: bool) -> None:
    """The last piece in two windows, cancelled, bought by the other, and sent from the desk; both read of it."""
    deal = site.deals[34 + script]
    desk = visit(f"/desk/deals/{deal.number}", token=someone("seller", role="editor"), script=script)
    desk.get_by_role("link", name="Stock").click()
    desk.get_by_label("Pieces").fill("1")
    press(desk, "Add them")
    tells(desk, "The stock is changed. Every page follows in a second or two.")
    stock.show_level(site.table, deal.deal_id)
    ana, bo = (visit("/", token=someone(name), script=script) for name in ("ana", "bo"))

    for buyer in (ana, bo):
        buyer.goto(f"/deals/{deal.number}")
        press(buyer, "Buy here")
        tells(buyer, "It is in your cart.")
        buyer.get_by_role("link", name="Check out").click()
        give_address(buyer)
    for buyer in (ana, bo):
        order(buyer)
    tells(ana, "Ordered. We tell you in your inbox when it is sent.")
    shows(bo.locator(".summary"), "sold out")
    stock.show_level(site.table, deal.deal_id)
    bo.goto(f"/deals/{deal.number}")
    bo.reload()  # else the browser may show what it stored seconds ago, as the page's headers allow
    shows(bo.locator(".facts"), "Sold out")

    ana.get_by_role("link", name="Cancel the order").click()
    press(ana, "Cancel the order")
    tells(ana, "The order is cancelled.")
    stock.show_level(site.table, deal.deal_id)
    desk.reload()
    expect(desk.locator(".facts dd").first).to_have_text("1")
    bo.goto("/shop/checkout")
    order(bo)
    tells(bo, "Ordered. We tell you in your inbox when it is sent.")
    bought = bo.url.partition("?")[0].rpartition("/")[2]

    desk.get_by_role("link", name="Orders to send").click()
    desk.locator(f"a[href*='{bought}']").click()
    press(desk, "Send it")
    tells(desk, "Sent. Its buyer is told.")
    for buyer, news in ((ana, "is cancelled"), (bo, "is on its way")):
        buyer.goto("/my/inbox")
        shows(buyer.locator("main"), news)
        buyer.locator(".row h3 a").first.click()
        expect(buyer).to_have_url(re.compile("/shop/orders/"))
    assert stock.of(site.table, deal.deal_id).left == 0


def test_pressing_twice_and_reloading_orders_once(visit: Visit, site: Preview, someone: People) -> None:
    deal = site.deals[38]
    sold(site, deal, 5)
    token = someone("hasty")
    addresses.save(site.table, someone.usernames[token], "home", HOME_ADDRESS)
    page = visit(f"/deals/{deal.number}", token=token)
    press(page, "Buy here")
    page.goto("/shop/checkout")

    page.locator("form[action$='/shop/checkout'] button").dblclick()
    page.wait_for_url("**/shop/orders/*")
    page.reload()

    assert stock.of(site.table, deal.deal_id).left == 4


def test_a_form_on_another_site_does_nothing(visit: Visit, site: Preview, someone: People) -> None:
    token = someone("victim")
    page = visit("/my/saved", token=token)

    page.goto("about:blank")
    address = f"{site.origin}/my/saved/{site.deals[5].number}"
    page.set_content(f'<form method="post" action="{address}"><input name="on" value="1"><button>Win</button></form>')
    press(page, "Win")

    shows(page.locator("main"), "This form was not sent from this site")
    page.goto("/my/saved")
    shows(page.locator("main"), "Nothing yet.")


def give_address(buyer: Page) -> None:
    """Fill in the address that the checkout asks for first."""
    for label, typed in (
        ("Recipient", "Ana Blake"), ("Street and number", "12 Harbour Street"), ("Postal code", "04101"),
        ("City", "Portland"), ("State or region", "ME"), ("Country", "US"),
    ):  # fmt: skip
        buyer.get_by_label(label).fill(typed)
    press(buyer, "Keep the address and go on")


def order(buyer: Page) -> None:
    with buyer.expect_navigation():
        buyer.get_by_role("button", name=re.compile("^Order for")).click()
