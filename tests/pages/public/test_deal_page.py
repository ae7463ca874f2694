"""A deal's page: what stands beside the deal, and what of it is said to whom."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

import feedparser  # type: ignore[import-untyped]  # publishes no types
import pytest

from shared.data.catalog import deals, offers, scores, search
from shared.data.catalog.deal_items import to_item
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put
from shared.html import views
from shared.models.catalog import Deal
from tests.support.factories import a_deal, post
from tests.support.pages import Ask, indexed, parsed

SHOE = "https://www.shop.example/shoes/trail"
COLOURS = ("green", "blue", "red", "black")


@pytest.fixture
def colours(table: Table, now: datetime) -> list[Deal]:
    """One shoe in four colours at one price, and in a fifth at another."""
    made = [
        a_deal(now - timedelta(minutes=n), title=f"Trail runner, {colour}", link=f"{SHOE}?variant={n}", price="60.00")
        for n, colour in enumerate(COLOURS)
    ]
    made.append(a_deal(now - timedelta(minutes=9), title="Trail runner, gold", link=f"{SHOE}?variant=9", price="75.00"))
    return indexed(table, post(table, made, now))


def section(answer: object, name: str) -> list[str]:
    """The addresses of the deals below a heading of a page."""
    for part in parsed(answer).findall(".//main//section"):
        heading = part.find(".//h2")
        if heading is not None and heading.text == name:
            return [link.get("href") for link in part.findall(".//li/a")]
    return []


def rows(answer: object) -> list[str]:
    """The prices of a page's table of earlier ones, newest day first."""
    return [row.findall("td")[1].text for row in parsed(answer).findall(".//table/tbody/tr")]


def test_every_colour_is_reached_from_every_other(ask: Ask, colours: list[Deal]) -> None:
    addresses = {f"/deals/{deal.number}" for deal in colours}

    reached = {address: section(ask(address), "Other colours and sizes") for address in addresses}

    assert {address: sorted(others) for address, others in reached.items()} == {
        address: sorted(addresses - {address}) for address in addresses
    }


def test_the_price_of_another_variant_at_the_same_address_is_no_earlier_price(
    ask: Ask, table: Table, now: datetime
) -> None:
    made = [a_deal(now - timedelta(days=n), link=SHOE, price=f"6{n}.00", variant=f"No. {n}") for n in range(2)]
    newer, older = indexed(table, post(table, made, now))

    answer = ask(f"/deals/{newer.number}")

    assert rows(answer) == []
    assert section(answer, "Other colours and sizes") == [f"/deals/{older.number}"]


def test_another_offer_of_the_same_product_is_not_called_a_colour(ask: Ask, table: Table, now: datetime) -> None:
    made = [a_deal(now - timedelta(days=n), title="Trail runner", link=SHOE, price=f"6{n}.00") for n in range(2)]
    newer, older = indexed(table, post(table, made, now))

    answer = ask(f"/deals/{older.number}")

    assert section(answer, "Other offers") == [f"/deals/{newer.number}"]
    assert "colours" not in answer["body"]


@pytest.mark.parametrize(
    ("days", "edited", "told"), [(29, None, False), (30, None, True), (90, 31, True), (90, 2, False)]
)
def test_a_price_that_nobody_looked_at_for_a_month_is_said_to_be_old(
    ask: Ask, table: Table, now: datetime, days: int, edited: int | None, told: bool
) -> None:
    (deal,) = post(table, [a_deal(now - timedelta(days=days))], now)
    if edited is not None:
        deal = deals.edit(table, deal.deal_id, {"price": "1.00"}, now - timedelta(days=edited))

    body = ask(f"/deals/{deal.number}")["body"]

    assert (f"{edited or days} days ago" in body) == ("An old price" in body) == told


def test_a_withdrawn_price_is_no_earlier_price_and_is_compared_with_none(ask: Ask, table: Table, now: datetime) -> None:
    made = [
        a_deal(now, link=SHOE, price="60.00"),
        a_deal(now - timedelta(days=10), link=SHOE, price="6.00"),
        a_deal(now - timedelta(days=20), link=SHOE, price="80.00"),
    ]
    current, mistaken, _ = indexed(table, post(table, made, now))
    before = rows(ask(f"/deals/{mistaken.number}"))
    withdrawn = deals.withdraw(table, mistaken.deal_id, now)
    offers.file(table, mistaken, withdrawn)
    offers.judge_anew(table, mistaken, withdrawn)

    answer, of_mistaken = ask(f"/deals/{current.number}"), ask(f"/deals/{mistaken.number}")

    assert before == ["$60.00", "$6.00", "$80.00"]
    assert rows(answer) == ["$60.00", "$80.00"]
    assert "Lowest in 60 days" in answer["body"]
    assert (of_mistaken["statusCode"], rows(of_mistaken)) == (410, [])


def test_a_deal_shows_what_is_cheaper_in_its_category_the_cheapest_first(ask: Ask, table: Table, now: datetime) -> None:
    def of(n: int, price: str, **fields: Any) -> Deal:
        asics = {"brand": "asics", "brand_name": "ASICS", **fields}
        return a_deal(now - timedelta(days=n), link=f"{SHOE}/{n}", title=f"Shoe {n}", price=price, **asics)

    made = [
        of(0, "60.00", brand="apple", brand_name="Apple"),
        of(1, "59.99"),
        of(2, "20.00"),
        of(3, "60.00"),
        of(4, "9.00", currency="EUR", list_price=None),
        of(5, "9.00", category="home"),
        of(6, "9.00", ends_at=now - timedelta(minutes=1)),
        of(7, "9.00", brand="apple", brand_name="Apple"),
    ]
    deal, dear, cheap, *_, cheapest = indexed(table, post(table, made, now))

    page = parsed(ask(f"/deals/{deal.number}"))

    (section,) = [each for each in page.findall(".//main/section") if each.find(".//h2").text == "Shoes for less"]
    cards = [each.get("href") for each in section.findall(".//h3/a")]
    assert cards == [f"/deals/{cheap.number}", f"/deals/{dear.number}"]
    way_on = section.find(".//div[@class='heading']/a").get("href")
    assert way_on == "/categories/shoes?sort=cheapest&to=59.99&currency=USD"
    assert ask("/categories/shoes", query={"sort": "cheapest", "to": "59.99", "currency": "USD"})["statusCode"] == 200
    assert ">Shoes for less<" not in ask(f"/deals/{cheapest.number}")["body"]


def test_an_end_is_told_with_its_time_zone_and_if_earlier_its_year(ask: Ask, table: Table, now: datetime) -> None:
    ends, ended = (now + timedelta(days=3)).replace(hour=19, minute=5), now - timedelta(days=400)
    deal, over = post(table, [a_deal(now, ends_at=ends), a_deal(now - timedelta(days=500), ends_at=ended)], now)

    on_card = parsed(ask("/deals")).find(".//time[@data-ends]")
    time = parsed(ask(f"/deals/{deal.number}")).find(".//dl[@class='facts']//time[@data-ends]")

    assert on_card.text == f"{ends.day} {ends:%b}, 19:05 UTC"
    assert (time.text, time.get("datetime")) == (views.moment(ends), f"{ends:%Y-%m-%dT%H:%M:%SZ}")
    assert time.get("data-local") is not None
    assert f"This deal ended on {views.day(ended)} {ended.year}." in ask(f"/deals/{over.number}")["body"]


def test_a_deal_without_a_number_is_named_by_its_id(ask: Ask, table: Table, now: datetime) -> None:
    deal = a_deal(now, title="Unnumbered lamp")
    table.write(put(to_item(deal, now), because="deals are numbered where they are created"))
    search.file(table, None, deal)
    own = f"https://deals.example/deals/{deal.deal_id}"

    page = ask(f"/deals/{deal.deal_id}")
    atom, in_json = (ask(path, query={"q": "lamp"})["body"] for path in ("/feed.atom", "/feed.json"))

    assert page["statusCode"] == 200
    assert json.loads(parsed(page).find(".//script[@type='application/ld+json']").text)["offers"]["url"] == own
    assert [entry.link for entry in feedparser.parse(atom).entries] == [own]
    assert [item["url"] for item in json.loads(in_json)["items"]] == [own]


def test_a_shared_deal_tells_its_price_with_its_currency(ask: Ask, table: Table, now: datetime) -> None:
    (deal,) = post(table, [a_deal(now, price="1200.00", list_price=None, currency="JPY")], now)

    document = parsed(ask(f"/deals/{deal.number}"))

    shared = {each.get("property"): each.get("content") for each in document.findall(".//meta[@property]")}
    assert (shared["product:price:amount"], shared["product:price:currency"]) == ("1200.00", "JPY")
    assert shared["og:description"] == "Apple: Trail runner for ¥1,200."


def test_a_deals_score_is_shown_once_it_is_ten_minutes_old_and_ranks_it(ask: Ask, table: Table, now: datetime) -> None:
    new, old = post(table, [a_deal(now - timedelta(minutes=minutes)) for minutes in (5, 20)], now)
    for deal in (old, new):
        table.write(scores.counting(deal.deal_id, -12))
    scores.file(table, [old.deal_id], now)

    shown = {deal.number: "".join(parsed(ask(f"/deals/{deal.number}")).itertext()) for deal in (old, new)}
    popular = ask("/popular")

    assert f"Score {views.score(-12)}." in shown[old.number]
    assert "The score appears ten minutes after the deal is posted." in shown[new.number]
    assert str(views.score(-12)) not in shown[new.number]
    assert [link.get("href") for link in parsed(popular).findall(".//h3/a")] == [f"/deals/{old.number}"]
    assert "public" in popular["multiValueHeaders"]["Cache-Control"][0]
