"""The sample that a new local cloud shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from local import sample
from local.sample import stock as stock_of_sample
from local.settings import ROOT
from shared.data import invariants
from shared.data.catalog import feeds, picks, scores
from shared.data.members import follows, users
from shared.data.orders import stock
from shared.dynamodb.table import Table
from shared.models.catalog import ALL_DEALS, CATEGORIES, EDITORS_CHOICE, FRONT_PAGE, Status
from shared.models.members import User
from tests.support.engines import MINISTACK

NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)


def test_the_sample_has_what_the_site_can_show_and_the_document_says_how_many_deals() -> None:
    found = sample.read(NOW)

    active = [deal for deal in found if deal.status(NOW) is Status.ACTIVE]
    assert f"{len(found)} deals" in (ROOT / "docs" / "local-cloud.md").read_text(encoding="utf-8")
    assert 150 <= len(found) <= 250
    assert {deal.category for deal in active} == set(CATEGORIES)
    assert len({deal.brand for deal in found}) >= 25
    assert max(Counter(deal.link for deal in found).values()) >= 3
    assert any(deal.coupon_code for deal in active)
    assert any(deal.ends_at is not None for deal in active)
    assert any(deal.status(NOW) is Status.EXPIRED for deal in found)
    ends = [deal for deal in active if deal.ends_at and deal.ends_at - NOW < timedelta(days=1)]
    assert len(ends) >= 6, "something ends within a day"
    running = [deal for deal in active if "Running Shoes" in deal.title and float(deal.price) < 80]
    assert len({deal.link for deal in running}) >= 4, "running shoes under $80"
    assert len({deal.variant for deal in running if deal.variant}) >= 3, "a product in several colours"
    assert any(each.link == deal.link and float(each.price) > float(deal.price) for deal in active for each in found), (
        "a price that came down"
    )
    for deal in found:
        sample.drawing(str(deal.source_id).split(":")[2], deal.category)


@pytest.fixture(scope="module")
def planted() -> Iterator[Table]:
    """A table with the sample."""
    with MINISTACK.table() as table:
        for name in ("editor", "member"):
            users.create(table, User(name, f"{name}@example.com", name.title(), "-", "member", NOW))
        sample.plant(table, NOW, "member")
        yield table


def test_the_sample_fills_the_feeds_and_the_curated_pages_and_is_planted_once(planted: Table) -> None:
    latest = feeds.read(planted, ALL_DEALS, limit=100, now=NOW).items

    assert len(latest) >= 60
    assert len(picks.read(planted, FRONT_PAGE, NOW)) == sample.FRONT
    assert len(picks.read(planted, EDITORS_CHOICE, NOW)) == sample.CHOICE
    assert sum(deal.hot_at is not None for deal in latest) == sample.HOT
    assert len(follows.watches(planted, "member")) == len(sample.FOLLOWED)
    assert len(scores.popular(planted, NOW, limit=24).items) == 24
    assert sample.plant(planted, NOW, "member") == 0


def test_the_sample_is_sold_among_the_newest_and_first_on_the_front_page(planted: Table) -> None:
    newest = feeds.read(planted, ALL_DEALS, limit=24, now=NOW).items
    sold = [deal for deal in newest if stock.find(planted, deal.deal_id) is not None]

    assert len(sold) >= stock_of_sample.ALSO_SOLD
    front = picks.read(planted, FRONT_PAGE, NOW)
    assert tuple(stock.of(planted, deal.deal_id).left for deal in front[:4]) == stock_of_sample.ON_SALE


def test_what_the_sample_writes_agrees(planted: Table) -> None:
    found = {fault.rule for fault in invariants.check(planted, NOW)}

    assert found - {invariants.WORDS, invariants.WORD_COUNTS, invariants.OFFERS} == set()  # which the stream brings
