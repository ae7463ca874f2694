"""The desk shows how often readers followed a deal."""

from __future__ import annotations

from features.clicks.data import clicks
from shared.dynamodb.table import Table
from tests.signed_in.conftest import PostDeal, editor, post_deal, table  # noqa: F401  # fixtures
from tests.support.browsing import Browser


def test_the_desk_counts_the_clicks_on_a_deal(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    deal = post_deal()
    for _ in range(3):
        clicks.count(table, deal.deal_id)

    assert "3 clicks" in editor.get("/desk").words
    assert "3 clicks" in editor.get("/desk/deals").words
    assert "Clicks 3" in editor.get(f"/desk/deals/{deal.number}").words
