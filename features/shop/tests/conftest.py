"""Deals on sale for tests of pages, and what those show; ``make test-all`` runs the shop's tests on all engines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from features.shop.data import stock
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from shared.values import times
from tests.signed_in.conftest import PostDeal
from tests.support.browsing import Seen

Sell = Callable[..., Deal]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests here: the shop's transactions are the longest that there are."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.all_engines)


@pytest.fixture
def sell(table: Table, post_deal: PostDeal) -> Sell:
    """Posts a deal of which so many pieces are on sale, and which says so."""

    def sold(pieces: int = 5, **fields: Any) -> Deal:
        deal = post_deal(**fields)
        stock.add(table, deal.deal_id, pieces, times.now())
        stock.show_level(table, deal.deal_id)
        return deal

    return sold


COUNTS = ("unread", "cart")


def shown_counts(seen: Seen) -> list[str]:
    """The counts at the head of a page, as they are sent to who has no script."""
    counts = [each for each in seen.document.iter("span") if each.get("id") in COUNTS]
    return ["" if count.get("hidden") is not None else "".join(count.itertext()) for count in counts]


def timeline(seen: Seen) -> dict[str, str]:
    """The steps of an order as its page says them; the one where it stands has a star."""
    return {
        ("*" if step.get("aria-current") else "") + step[0].text: step[1].text
        for each in seen.document.iter("ol")
        if each.get("class") == "timeline"
        for step in each
    }
