"""The page of saved deals, and its button."""

from __future__ import annotations

from shared.data.catalog import deals
from shared.dynamodb.table import Table
from shared.values import times
from tests.signed_in.conftest import PostDeal, ana, post_deal, table  # noqa: F401  # fixtures
from tests.support.browsing import Browser


def test_a_deal_is_saved_shown_even_when_over_and_taken_out(ana: Browser, table: Table, post_deal: PostDeal) -> None:
    deal = post_deal()

    saving = ana.post(f"/my/saved/{deal.number}", {"on": "1"})
    shown, state = ana.get("/my/saved").words, ana.get(f"/my/status?deal={deal.number}").json["saved"]
    deals.withdraw(table, deal.deal_id, times.now())
    over = ana.get("/my/saved").words
    ana.post(f"/my/saved/{deal.number}", {"on": "0", "next": "/my/saved"})

    assert state
    assert saving.location == f"/deals/{deal.number}?notice=saved"
    assert ("Trail runner" in shown, "Withdrawn" in shown, "Withdrawn" in over) == (True, False, True)
    assert "Nothing yet. Save deals to find them here." in ana.get("/my/saved").words


def test_a_deal_that_is_not_there_is_not_saved(ana: Browser) -> None:
    assert ana.post("/my/saved/99", {"on": "1"}).status == 404
