"""The style for those who use a keyboard, and for those whose system forces its own colours."""

from __future__ import annotations

from playwright.sync_api import Page

from shared.data.members import messages
from shared.values import times
from tests.support.factories import send
from tests.support.preview import Preview, entered
from tests.support.windows import Visit

BORDER_OF = "link => getComputedStyle(link).borderBottomColor"
GROUND = "getComputedStyle(document.body).backgroundColor"


def in_forced_colours(page: Page) -> Page:
    page.emulate_media(forced_colors="active")
    return page


def test_the_ring_of_a_cards_brand_is_not_cut_at_the_cards_edge(visit: Visit) -> None:
    page = visit("/deals")
    card = page.locator(".card").first
    is_cut = "card => getComputedStyle(card).contentVisibility !== 'visible'"
    before = card.evaluate(is_cut)

    card.locator(".by a").focus()

    assert before
    assert not card.evaluate(is_cut)


def test_in_forced_colours_only_the_page_that_is_shown_is_marked(visit: Visit) -> None:
    page = in_forced_colours(visit("/ending"))

    here = page.locator(".bar a[aria-current]").evaluate(BORDER_OF)
    others = {link.evaluate(BORDER_OF) for link in page.locator(".bar a:not([aria-current])").all()}

    assert others == {page.evaluate(GROUND)}
    assert here not in others


def test_in_forced_colours_only_the_tab_that_is_shown_is_marked_and_unread_messages_have_their_dot(
    visit: Visit, site: Preview
) -> None:
    token = entered(site, "pia")
    send(site.table, messages.compose(messages.of_deal(site.deals[0], "brand"), "pia", times.now()))
    page = in_forced_colours(visit("/my/inbox", token=token))

    here = page.locator(".tabs a[aria-current]").evaluate(BORDER_OF)
    others = {link.evaluate(BORDER_OF) for link in page.locator(".tabs a:not([aria-current])").all()}
    dot = page.locator(".row.unread").evaluate(
        "row => { const dot = getComputedStyle(row, '::before'); return [dot.borderTopStyle, dot.borderTopColor]; }"
    )

    ground = page.evaluate(GROUND)
    assert others == {ground}
    assert here != ground
    assert dot[0] == "solid"
    assert dot[1] != ground
