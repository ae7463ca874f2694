"""The buttons that vote, with the script."""

from __future__ import annotations

from playwright.sync_api import expect

from features.votes.data import votes
from features.votes.models import Vote
from shared.models.catalog import Deal
from tests.pages.test_script import deal, site  # noqa: F401  # fixtures
from tests.support.browser import Visit, sent_by_script
from tests.support.preview import Preview, entered


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
