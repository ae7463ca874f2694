"""The front page, and a deal's page."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from functions.background import refresher
from shared.data.catalog import bargains, deals, offers, page_cache, picks, search
from shared.data.catalog.changes import DealChange
from shared.data.catalog.deals import to_item
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put
from shared.html import fragments, views
from shared.http import cached_pages
from shared.models.catalog import FRONT_PAGE, Deal
from tests.support.browsing import Ask, parsed
from tests.support.factories import a_deal, ids, indexed, post

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


def test_colours_of_a_large_import_are_reached_by_their_price(ask: Ask, table: Table, now: datetime) -> None:
    """They are beyond the brand's newest thirty deals of a month, and differ in a parameter of their address alone."""
    shoe = "https://shop.example/shoe?variant="
    both = [a_deal(now - timedelta(days=1), title=f"Shoe, {n}", link=f"{shoe}{n}", price="77.00") for n in range(2)]
    newer = [
        a_deal(now - timedelta(minutes=n), title=f"Hat {n}", link=f"https://shop.example/hat{n}") for n in range(35)
    ]
    indexed(table, post(table, [*both, *newer], now))
    one, other = (deals.get(table, deal.deal_id) for deal in both)

    assert section(ask(f"/deals/{one.number}"), "Other colours and sizes") == [f"/deals/{other.number}"]


def test_every_colour_is_reached_from_every_other(ask: Ask, colours: list[Deal]) -> None:
    addresses = {f"/deals/{deal.number}" for deal in colours}

    reached = {address: section(ask(address), "Other colours and sizes") for address in addresses}

    assert {address: sorted(others) for address, others in reached.items()} == {
        address: sorted(addresses - {address}) for address in addresses
    }


def test_another_variant_at_the_same_address_is_reached(ask: Ask, table: Table, now: datetime) -> None:
    made = [a_deal(now - timedelta(days=n), link=SHOE, price=f"6{n}.00", variant=f"No. {n}") for n in range(2)]
    newer, older = indexed(table, post(table, made, now))

    answer = ask(f"/deals/{newer.number}")

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
def test_a_price_that_was_not_checked_for_a_month_is_said_to_be_old(
    ask: Ask, table: Table, now: datetime, days: int, edited: int | None, told: bool
) -> None:
    (deal,) = post(table, [a_deal(now - timedelta(days=days))], now)
    if edited is not None:
        deal = deals.edit(table, deal.deal_id, {"price": "1.00"}, now - timedelta(days=edited))

    body = ask(f"/deals/{deal.number}")["body"]

    assert (f"{edited or days} days ago" in body) == ("An old price" in body) == told


def test_a_price_is_compared_with_no_withdrawn_one(ask: Ask, table: Table, now: datetime) -> None:
    made = [
        a_deal(now, link=SHOE, price="60.00"),
        a_deal(now - timedelta(days=10), link=SHOE, price="6.00"),
        a_deal(now - timedelta(days=20), link=SHOE, price="80.00"),
    ]
    current, mistaken, _ = indexed(table, post(table, made, now))
    withdrawn = deals.withdraw(table, mistaken.deal_id, now)
    offers.file(table, mistaken, withdrawn)
    offers.judge_anew(table, mistaken, withdrawn)

    answer, of_mistaken = ask(f"/deals/{current.number}"), ask(f"/deals/{mistaken.number}")

    assert "Lowest in 60 days" in answer["body"]
    assert of_mistaken["statusCode"] == 410


def test_a_deal_shows_cheaper_ones_of_its_kind_the_nearest_price_first(ask: Ask, table: Table, now: datetime) -> None:
    def of(n: int, price: str, **fields: Any) -> Deal:
        asics = {"brand": "asics", "brand_name": "ASICS", **fields}
        return a_deal(now - timedelta(days=n), link=f"{SHOE}/{n}", **{"title": f"Shoe {n}", "price": price, **asics})

    made = [
        of(0, "60.00", brand="apple", brand_name="Apple"),
        of(1, "59.99"),
        of(2, "20.00"),
        of(3, "60.00"),
        of(4, "9.00", currency="EUR", list_price=None),
        of(5, "9.00", category="home"),
        of(6, "9.00", ends_at=now - timedelta(minutes=1)),
        of(8, "30.00", title="Shoehorn"),
        of(7, "9.00", brand="apple", brand_name="Apple"),
    ]
    deal, dear, cheap, *_, cheapest, _ = indexed(table, post(table, made, now))

    page = parsed(ask(f"/deals/{deal.number}"))

    (section,) = [each for each in page.findall(".//main/section") if each.find(".//h2").text == "Similar for less"]
    cards = [each.get("href") for each in section.findall(".//h3/a")]
    assert cards == [f"/deals/{dear.number}", f"/deals/{cheap.number}"]
    assert [each.text for each in section.findall(".//div[@class='last']/span")] == ["$0.01 less", "$40.00 less"]
    way_on = section.find(".//div[@class='heading']/a").get("href")
    assert way_on == "/categories/shoes?sort=cheapest&to=59.99&currency=USD"
    assert ask("/categories/shoes", query={"sort": "cheapest", "to": "59.99", "currency": "USD"})["statusCode"] == 200
    assert ">Similar for less<" not in ask(f"/deals/{cheapest.number}")["body"]


def test_an_end_is_shown_with_its_time_zone_and_if_earlier_its_year(ask: Ask, table: Table, now: datetime) -> None:
    ends, ended = (now + timedelta(days=3)).replace(hour=19, minute=5), now - timedelta(days=400)
    deal, over = post(table, [a_deal(now, ends_at=ends), a_deal(now - timedelta(days=500), ends_at=ended)], now)

    on_card = parsed(ask("/deals")).find(".//time[@data-ends]")
    time = parsed(ask(f"/deals/{deal.number}")).find(".//dl[@class='facts']//time[@data-ends]")

    assert on_card.text == f"{ends.day} {ends:%b}"
    assert (time.text, time.get("datetime")) == (views.moment(ends), f"{ends:%Y-%m-%dT%H:%M:%SZ}")
    assert time.get("data-local") is not None
    assert f"This deal ended on {views.day(ended)} {ended.year}." in ask(f"/deals/{over.number}")["body"]


def test_a_deal_without_a_number_is_named_by_its_id(ask: Ask, table: Table, now: datetime) -> None:
    deal = a_deal(now, title="Unnumbered lamp")
    table.write(put(to_item(deal, now), because="deals are numbered where they are created"))
    search.file(table, None, deal)
    own = f"https://deals.example/deals/{deal.deal_id}"

    page = ask(f"/deals/{deal.deal_id}")

    assert page["statusCode"] == 200
    assert parsed(page).find(".//link[@rel='canonical']").get("href") == own


def test_a_shared_deal_has_its_price_with_its_currency_for_machines(ask: Ask, table: Table, now: datetime) -> None:
    (deal,) = post(table, [a_deal(now, price="1200.00", list_price=None, currency="JPY")], now)

    document = parsed(ask(f"/deals/{deal.number}"))

    shared = {each.get("property"): each.get("content") for each in document.findall(".//meta[@property]")}
    assert (shared["product:price:amount"], shared["product:price:currency"]) == ("1200.00", "JPY")
    assert shared["og:description"] == "Apple: Trail runner for ¥1,200."
    assert document.find(".//data[@class='tag']").get("value") == "1200.00"


def several(count: int, now: datetime, **fields: Any) -> list[Deal]:
    """Deals of products and brands of their own, newest first, the newest a quarter of an hour old."""
    return [
        a_deal(
            now - timedelta(minutes=15 + n),
            title=f"Deal {n:02}",
            link=f"https://s.example/{n}",
            brand=("apple", "asics")[n % 2],
            **fields,
        )
        for n in range(count)
    ]


def links(document: Any, place: str) -> list[str]:
    return [link.get("href") for link in document.findall(f"{place}//a") if "/deals/" in link.get("href")]


def test_a_pick_is_not_shown_again_among_the_newest(ask: Ask, table: Table, now: datetime) -> None:
    made = post(table, several(8, now), now)
    picks.set_featured(table, FRONT_PAGE, ids(made[2:4]), now)

    front = parsed(ask("/"))

    addresses = [f"/deals/{deal.number}" for deal in made]
    picked = links(front, ".//section[@class='picks']")
    assert picked == addresses[2:4]
    newest = links(front, ".//div[@class='newest']")
    assert newest == addresses[:2] + addresses[4:]


def test_a_copy_of_the_front_page_is_read_as_it_was_written_and_so_are_those_of_earlier_releases() -> None:
    front = fragments.Front("<ul></ul>", "<p></p>", 3, "2026-07-31T19:00:00Z 38 100+ 41 7")

    assert fragments.Front.of(front.text) == front
    assert str(front.counts()) == front.bargains
    earlier = fragments.Front.of("<ul></ul>\x1f<p></p>\x1f3\x1fshoes 1200 home 7")
    assert (earlier[:3], earlier.counts()) == (front[:3], None)
    assert fragments.Front.of("<ul></ul>\x1f<p></p>\x1f3") == fragments.Front("<ul></ul>", "<p></p>", 3)
    assert fragments.Front.of("<ul></ul>") == fragments.Front("<ul></ul>")


def cards(*lines: str) -> str:
    return f'<ul class="cards">{"".join(lines)}</ul>'


def card(number: int, day: str = "", classes: str = "card") -> str:
    return f'<li class="{classes}">{day}<a href="/deals/{number}"></a></li>'


def test_a_pick_that_some_screens_leave_out_is_among_the_newest_there() -> None:
    picked = cards(card(1, classes="card lead"), card(2, classes="card not-5"))

    shown = fragments.without(cards(card(1), card(2), card(3)), picked)

    assert shown == cards(card(2, classes="card not-1 not-3 not-4 not-6"), card(3))


def test_the_way_on_from_the_newest_leads_to_all_of_them() -> None:
    older = '<p class="end"><a class="button" rel="next" href="/deals?cursor=abc">Older deals</a></p>'

    shown = fragments.without(cards(*map(card, range(2, 10))) + older, cards(card(1)))

    assert shown.endswith('<p class="end"><a class="button" href="/deals">All the newest deals</a></p>')
    assert card(9, classes="card not-3 not-5 not-6") in shown, "a row that is not full is left out"


def test_a_list_that_leads_on_leaves_out_its_picks_and_no_other_card() -> None:
    older = '</section><p class="end"><a class="button" rel="next" href="/deals?cursor=abc">Older deals</a></p>'
    picked = cards(card(1), card(2, classes="card not-4"))

    shown = fragments.without(cards(*map(card, range(1, 10))) + older, picked, leads_on=True)

    hidden = card(2, classes="card not-2 not-3 not-6 not-7 not-8 not-10")
    assert shown == cards(hidden, *map(card, range(3, 10))) + older
    assert fragments.without(cards(card(1)) + older, picked, leads_on=True) == older.removeprefix("</section>")


def test_a_categorys_picks_have_a_heading_and_are_not_among_its_newest(ask: Ask, table: Table, now: datetime) -> None:
    made = post(table, several(9, now), now)
    picks.set_category_featured(table, "shoes", ids(made[2:8]), now)

    page = parsed(ask("/categories/shoes"))

    assert "Picked by our editors" in [heading.text for heading in page.findall(".//main//div[@class='heading']/h2")]
    # Of six picks, screens of four columns leave out two, which they have below.
    assert links(page, ".//section[@id='list']") == [f"/deals/{made[n].number}" for n in (0, 1, 6, 7, 8)]


def test_a_day_that_begins_with_a_deal_that_is_left_out_begins_with_the_next() -> None:
    day = '<h2 class="day">Monday</h2>'

    shown = fragments.without(cards(card(1, day), card(2), card(3)), cards(card(1)))

    assert shown == cards(card(2, day), card(3))


@pytest.mark.parametrize("copied", [True, False], ids=["from a copy", "made now"])
def test_what_ends_within_a_day_stands_beside_the_picks(ask: Ask, table: Table, now: datetime, copied: bool) -> None:
    made = several(4, now)
    made[1] = replace(made[1], ends_at=now + timedelta(hours=23))
    made[2] = replace(made[2], ends_at=now + timedelta(hours=25))
    made[3] = replace(made[3], ends_at=now + timedelta(minutes=5))
    _, ending, *_ = post(table, made, now)
    if copied:
        refresher.refresh(page_cache.PARTS, set(), set())
        cached_pages.memory.cache_clear()

    front = parsed(ask("/"))

    lists = front.findall(".//aside[@class='beside']/section")
    assert [(part.find("./h2/a").text, links(part, "./ul")) for part in lists if part.find("./ul") is not None] == [
        ("Ending within a day", [f"/deals/{ending.number}"]),
    ]
    words = "".join(front.find(".//div[@class='mast']").itertext())
    assert views.long_day(now) in words
    assert "1 ends within a day" in words


def test_bargains_have_counts_that_the_clock_takes_once_an_hour(
    ask: Ask, table: Table, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bargains, "MOST", 3)

    def counted(minutes: int, written: set[refresher.Written]) -> str | None:
        """What a rebuild, so many minutes from now, puts into the front page's copy; the clock's has no changes."""
        at = now + timedelta(minutes=minutes)
        built = refresher.build(page_cache.FRONT_PAGE_PICKS, written, at)
        copy, lasts = refresher.as_html(built), at + timedelta(hours=2)
        page_cache.write(table, page_cache.FRONT_PAGE_PICKS, copy, began=at, expires=lasts, form=page_cache.HTML)
        return str(built.bargains).partition(" ")[2] if built.bargains else None

    def is_stale(minutes: int) -> bool:
        """Whether the clock rebuilds the front page a moment after it was built."""
        return page_cache.FRONT_PAGE_PICKS in refresher.stale(now + timedelta(minutes=minutes, seconds=9))

    made = [
        a_deal(
            now - timedelta(hours=n),
            title=f"Deal {n}",
            link=f"https://shop.example/{n}",
            price=f"{n}0.00",
            list_price="99.00",
        )
        for n in range(1, 6)
    ]
    posted = indexed(table, post(table, made, now))
    by_change, is_due = counted(0, {(posted[0].deal_id, posted[0].category)}), [is_stale(0)]
    by_clock = counted(1, set())
    is_due.append(is_stale(1))
    cached_pages.memory.cache_clear()
    chips = parsed(ask("/")).findall(".//nav[@aria-label='Bargains']/a")
    for deal in posted:
        offers.file(table, deal, deals.withdraw(table, deal.deal_id, now))
    later = [counted(60, set()), counted(61, {(posted[0].deal_id, posted[0].category)})]
    is_due.append(is_stale(61))
    later.append(counted(62, set()))

    assert (by_change, by_clock) == (None, "2 3+ 3+ 0")
    assert is_due == [True, False, True]
    assert [" ".join("".join(chip.itertext()).split()) for chip in chips] == [
        "Under $25 2: 2 deals",
        "Under $50 3+: More than 3 deals",
        "Half price or less 3+: More than 3 deals",
    ]  # there are no 60-day lows
    assert later == ["2 3+ 3+ 0", "2 3+ 3+ 0", "0 0 0 0"]


def test_a_copy_follows_the_deals_beside_its_picks(ask: Ask, table: Table, now: datetime) -> None:
    made = several(3, now)
    (ending, *_) = post(table, [replace(made[0], ends_at=now + timedelta(hours=9)), *made[1:]], now)
    refresher.refresh(page_cache.PARTS, set(), set())

    withdrawn = deals.withdraw(table, ending.deal_id, now)
    change = DealChange(ending, withdrawn, now)

    assert page_cache.FRONT_PAGE_PICKS in page_cache.touched(table, [change])


def test_deals_of_all_categories_are_listed_by_price_and_by_discount(ask: Ask, table: Table, now: datetime) -> None:
    made = [
        replace(deal, category=category, price=price)
        for deal, (category, price) in zip(
            several(4, now, list_price="100.00"),
            [("shoes", "24.99"), ("home", "25.00"), ("bags", "25.01"), ("home", "70.00")],
            strict=True,
        )
    ]
    cheap, edge, above, dear = (f"/deals/{deal.number}" for deal in indexed(table, post(table, made, now)))

    def listed(**query: str) -> list[str]:
        return links(parsed(ask("/deals", query=query)), ".//div[@id='list']")

    assert listed(to="25", sort="cheapest") == [cheap, edge]
    assert listed(to="25") == [cheap, edge]
    assert listed(sort="discount", off="50") == [cheap, edge, above]
    assert listed(sort="discount") == [cheap, edge, above, dear]
    assert ask("/deals", query={"to": "cheap"})["statusCode"] == 400


def test_a_deals_price_is_judged_by_its_products_other_prices_of_60_days(ask: Ask, table: Table, now: datetime) -> None:
    def of(days: int, price: str) -> Deal:
        return a_deal(now - timedelta(days=days), link="https://s.example/shoe", price=price)

    made = [of(0, "70.00"), of(10, "88.00"), of(20, "93.00"), of(30, "60.00"), of(40, "90.00"), of(61, "10.00")]
    now_is, *_ = indexed(table, post(table, made, now))

    seen = "".join(parsed(ask(f"/deals/{now_is.number}")).find(".//p[@class='verdict']").itertext())

    cheapest = views.day(made[3].created_at, made[0].created_at)
    assert seen.strip() == f"It was $60.00 on {cheapest}. Usually $88 to $90."


def test_a_deals_page_says_how_its_price_has_changed_since_yesterday(ask: Ask, table: Table, now: datetime) -> None:
    (deal,) = post(table, [a_deal(now - timedelta(days=3), price="50.00")], now)

    def said() -> str:
        box = parsed(ask(f"/deals/{deal.number}")).find(".//div[@class='box']")
        return " ".join(each.text or "" for each in box.iter("span") if "since yesterday" in (each.text or ""))

    seen = [said()]
    for price in ("38.00", "52.25"):
        deals.edit(table, deal.deal_id, {"price": price}, now)
        seen.append(said())

    assert seen == [
        "",
        "▼ $12 since yesterday down $12 since yesterday",
        "▲ $2.25 since yesterday up $2.25 since yesterday",
    ]


@pytest.mark.parametrize(
    ("price", "currency", "proposed"),
    [
        ("71.99", "USD", "64"),
        ("20.00", "USD", "18.00"),
        ("22.23", "USD", "20"),
        ("0.05", "USD", "0.04"),
        ("15.00", "JPY", "13"),
    ],
)
def test_an_alert_proposes_a_price_a_tenth_lower(
    ask: Ask, table: Table, now: datetime, price: str, currency: str, proposed: str
) -> None:
    (deal,) = post(table, [a_deal(now, price=price, currency=currency, list_price=None)], now)

    page = parsed(ask(f"/deals/{deal.number}"))

    assert page.find(".//input[@id='f-ceiling']").get("value") == proposed


def test_an_ended_deal_says_where_its_product_is_on_sale_again(ask: Ask, table: Table, now: datetime) -> None:
    link = "https://shop.example/shoe"
    made = [
        a_deal(now - timedelta(days=1), link=link, price="59.00"),
        a_deal(now - timedelta(days=9), link=link, ends_at=now - timedelta(days=2)),
    ]
    again, over = indexed(table, post(table, made, now))

    banner = parsed(ask(f"/deals/{over.number}")).find(".//p[@class='banner']")

    assert "The product is on sale again: $59.00 at shop.example" in "".join(banner.itertext())
    assert banner.find("./a").get("href") == f"/deals/{again.number}"
