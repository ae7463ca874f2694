"""The buttons that vote, with the script."""

from __future__ import annotations

from playwright.sync_api import expect

from features.votes.data import votes
from features.votes.models import Vote
from shared.models.catalog import Deal
from tests.pages.test_script import deal, site  # noqa: F401  # fixtures
from tests.support.browser import Visit, sent_by_script
from tests.support.commands import until
from tests.support.preview import Preview, entered


def test_a_vote_on_a_card_is_said_and_stays_pressed(visit: Visit, site: Preview, deal: Deal) -> None:
    page = visit("/deals", token=entered(site, "vera"))
    up = page.locator(f"[data-vote='{deal.number}'] button").first
    assert until(lambda: up.get_attribute("aria-pressed") == "false")

    up.click()

    expect(page.get_by_role("status")).to_have_text(
        "Your vote is saved. It doesn’t count, because your account is less than a day old."
    )
    page.reload()
    expect(up).to_have_attribute("aria-pressed", "true")


def test_of_two_votes_one_is_on(visit: Visit, site: Preview, deal: Deal) -> None:
    page = sent_by_script(visit(f"/deals/{deal.number}", token=entered(site, "otto")))
    buttons = page.get_by_role("group", name="Vote on this deal").get_by_role("button")
    expect(buttons).to_have_text(["▲ Worth it", "▼ Not worth it"])

    buttons.first.click()
    expect(buttons).to_have_text(["▲ Voted up", "▼ Not worth it"])
    buttons.last.click()

    expect(buttons).to_have_text(["▲ Worth it", "▼ Voted down"])
    assert votes.given(site.table, deal.deal_id, "otto") is Vote.DOWN
    buttons.last.click()
    expect(buttons.last).to_have_attribute("aria-pressed", "false")
    assert votes.given(site.table, deal.deal_id, "otto") is None
