"""The front page: its day, what stands beside its picks, and the lists that it leads to."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from functions.background import refresher
from shared.data.catalog import deals, offers, page_cache, picks, scores
from shared.data.catalog.changes import DealChange
from shared.dynamodb.table import Table
from shared.html import fragments, views
from shared.http import cached_pages
from shared.models.catalog import FRONT_PAGE, Deal
from tests.support.factories import a_deal, ids, post
from tests.support.pages import Ask, indexed, parsed


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


def counts_in_bar(page: Any) -> dict[str, str]:
    """The counts that the bar of sections says, by the sections' names."""
    sections = page.findall(".//nav[@class='bar']//a")
    return {
        section.text: "".join(count.itertext()) for section in sections if (count := section.find("small")) is not None
    }


def test_a_copy_of_the_front_page_is_read_as_it_was_written_and_so_are_those_of_earlier_releases() -> None:
    front = fragments.Front("<ul></ul>", "<p></p>", 3, {"shoes": 1200, "home": 7})

    assert fragments.Front.of(front.text) == front
    assert fragments.Front.of("<ul></ul>\x1f<p></p>\x1f3") == replace(front, counts={})
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

    assert shown == cards(card(2, classes="card not-2 not-3 not-6 not-8"), *map(card, range(3, 10))) + older
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
def test_what_ends_within_a_day_and_what_readers_vote_for_stand_beside_the_picks(
    ask: Ask, table: Table, now: datetime, copied: bool
) -> None:
    made = several(4, now)
    made[1] = replace(made[1], ends_at=now + timedelta(hours=23))
    made[2] = replace(made[2], ends_at=now + timedelta(hours=25))
    made[3] = replace(made[3], ends_at=now + timedelta(minutes=5))
    first, ending, *_ = post(table, made, now)
    table.write(scores.counting(first.deal_id, 7))
    scores.file(table, [first.deal_id], now)
    if copied:
        refresher.refresh(page_cache.PARTS, set(), set())
        cached_pages.memory.cache_clear()

    front = parsed(ask("/"))

    lists = front.findall(".//aside[@class='beside']/section")
    assert [(part.find("./h2/a").text, links(part, "./ul")) for part in lists if part.find("./ul") is not None] == [
        ("Ending within a day", [f"/deals/{ending.number}"]),
        ("Most voted", [f"/deals/{first.number}"]),
    ]
    assert {name.strip(): count for name, count in counts_in_bar(front).items()} == {"Shoes": "4 deals"}
    words = "".join(front.find(".//div[@class='mast']").itertext())
    assert views.long_day(now) in words
    assert "1 ends within a day" in words


def test_the_deals_of_the_highest_ranks_stand_there_by_their_votes(ask: Ask, table: Table, now: datetime) -> None:
    """A deal that is 13 hours newer ranks above one with six times its votes."""
    made = post(table, [a_deal(now - timedelta(hours=hours)) for hours in (1, 14)], now)
    for deal, votes in zip(made, (2, 13), strict=True):
        table.write(scores.counting(deal.deal_id, votes))
    scores.file(table, [deal.deal_id for deal in made], now)
    addresses = [f"/deals/{deal.number}" for deal in made]

    (beside,) = [part for part in parsed(ask("/")).findall(".//aside/section") if part.find("./h2/a") is not None]

    assert (beside.find("./h2/a").text, links(beside, "./ul")) == ("Most voted", addresses[::-1])
    assert links(parsed(ask("/popular")), ".//h3") == addresses


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
    now_is, before, *_ = indexed(table, post(table, made, now))

    seen = [
        "".join(parsed(ask(f"/deals/{deal.number}")).find(".//p[@class='verdict']").itertext())
        for deal in (now_is, before)
    ]

    third = views.day(made[3].created_at, made[0].created_at)
    assert seen[0].strip() == f"It was $60.00 on {third}. Usually $88.00 to $90.00."
    long_ago = views.day(made[5].created_at, made[1].created_at)
    assert seen[1].strip() == f"It was $10.00 on {long_ago}. Usually $60.00 to $90.00.", "later offers do not count"
    assert offers.judge(made[5], made) is None


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
