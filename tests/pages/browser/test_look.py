"""The style for those who use a keyboard, and for those whose system forces its own colours."""

from __future__ import annotations

from shared.data.members import announcements
from tests.support.factories import send
from tests.support.preview import Preview, entered
from tests.support.windows import Visit

GROUND = "getComputedStyle(document.body).backgroundColor"


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
    send(site.table, announcements.compose(announcements.of_deal(site.deals[0], "brand"), "pia"))
    page = visit("/my/inbox", token=token)

    page.emulate_media(forced_colors="active")
    dot = page.locator(".row.unread").evaluate(
        "row => { const dot = getComputedStyle(row, '::before'); return [dot.borderTopStyle, dot.borderTopColor]; }"
    )

    assert dot[0] == "solid"
    assert dot[1] != page.evaluate(GROUND)
