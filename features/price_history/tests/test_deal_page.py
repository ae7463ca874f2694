"""The line of earlier prices, and the alert's price across it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from playwright.sync_api import expect

from features.price_history.deal_page import history
from shared.data.catalog import deals, offers
from shared.models.catalog import Deal
from tests.pages.test_script import deal, site  # noqa: F401  # fixtures
from tests.support.browser import Visit, press
from tests.support.factories import NOW, a_deal
from tests.support.preview import Preview, entered


def test_the_line_of_prices_is_the_cheapest_open_offer_and_breaks_while_there_is_none() -> None:
    def offer(price: str, since: int, until: int | None) -> Deal:
        ends_at = None if until is None else NOW - timedelta(days=until)
        return a_deal(NOW - timedelta(days=since), link="https://shop.example/1", price=price, ends_at=ends_at)

    first, second, third = offer("80.00", 100, 70), offer("40.00", 90, 80), offer("60.00", 50, None)
    ended = offer("20.00", 30, 20)

    drawn = history(third, [third, second, first, ended], NOW)

    assert drawn is not None
    line = drawn["line"]
    # 100 days are 580 wide, $80 are 120 high.
    assert line["path"] == "M10 10H68V70H126V10H184M300 40H416V100H474V40H590"
    assert line["gaps"] == [242]
    assert line["today"] == (40, "$60.00")
    over = history(ended, [ended, first], NOW)
    assert over is not None
    assert over["line"]["today"] is None
    assert over["line"]["path"].endswith("H474"), "and today is at 590"


def test_an_alerts_price_is_drawn_across_the_line(visit: Visit, site: Preview, deal: Deal) -> None:
    posted = deal.created_at - timedelta(days=9)
    site.table.write(offers.filing(replace(deal, deal_id=deals.new_id(posted, "earlier", b""), created_at=posted)))
    page = visit(f"/deals/{deal.number}", token=entered(site, "alma"))

    page.locator("#f-ceiling").fill("1.50")
    press(page, "Set alert")

    expect(page.locator(".chart .own")).to_have_text("Your alert $1.50")
