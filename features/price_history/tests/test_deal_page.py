"""The line of earlier prices, and the alert's price across it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from playwright.sync_api import expect

from features.price_history.deal_page import history
from shared.data.catalog import deals, offers
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from tests.pages.conftest import ask, now, table  # noqa: F401  # fixtures
from tests.pages.test_script import deal, site  # noqa: F401  # fixtures
from tests.support.browser import Visit, press
from tests.support.browsing import Ask, parsed
from tests.support.factories import NOW, a_deal, indexed, post
from tests.support.preview import Preview, entered

SHOE = "https://www.shop.example/shoes/trail"


def rows(answer: object) -> list[str]:
    """The prices of a page's table of earlier ones, newest day first."""
    return [row.findall("td")[1].text for row in parsed(answer).findall(".//table/tbody/tr")]


def test_the_price_of_another_variant_at_the_same_address_is_no_earlier_price(
    ask: Ask, table: Table, now: datetime
) -> None:
    made = [a_deal(now - timedelta(days=n), link=SHOE, price=f"6{n}.00", variant=f"No. {n}") for n in range(2)]
    newer, _ = indexed(table, post(table, made, now))

    assert rows(ask(f"/deals/{newer.number}")) == []


def test_a_withdrawn_price_is_no_earlier_price(ask: Ask, table: Table, now: datetime) -> None:
    made = [
        a_deal(now - timedelta(days=days), link=SHOE, price=price)
        for days, price in ((0, "60.00"), (10, "6.00"), (20, "80.00"))
    ]
    current, mistaken, _ = indexed(table, post(table, made, now))
    before = rows(ask(f"/deals/{mistaken.number}"))
    offers.file(table, mistaken, deals.withdraw(table, mistaken.deal_id, now))

    answer, of_mistaken = ask(f"/deals/{current.number}"), ask(f"/deals/{mistaken.number}")

    assert before == ["$60.00", "$6.00", "$80.00"]
    assert rows(answer) == ["$60.00", "$80.00"]
    assert rows(of_mistaken) == []


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
