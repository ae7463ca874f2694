"""Lists by price and by discount, and those between two prices: each holds what it should, page by page."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from shared.data import keys
from shared.data.catalog import deals, lows, offers, search, selecting, sorting
from shared.data.catalog.deals import has_ended, is_listed
from shared.dynamodb import damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from shared.dynamodb.writes import update
from shared.errors import BadRequest, InvalidCursor, NoSuchTopic
from shared.models.catalog import BRAND, CATEGORY, Deal, Page, Selection, Sort, Status, Topic
from shared.values import identifiers
from tests.support.engines import FAST, on, put_all
from tests.support.factories import (
    APPLE,
    HOME,
    NOW,
    SHOES,
    a_deal,
    ago,
    ahead,
    every_page,
    ids,
    indexed,
    open_brands,
    post,
)
from tests.support.wire import watched

pytestmark = on(FAST)

NOWHERE = {"GSI1PK", "GSI2PK", "GSI3PK"}


def filed(table: Table, some: Iterable[Deal]) -> list[Deal]:
    """Posted deals with their offers, as the stream files them."""
    posted = post(table, some, ago(days=30))
    for deal in posted:
        offers.file(table, None, deal)
    return posted


def now_of(table: Table, deal: Deal, before: Deal | None = None) -> Deal:
    """A deal as it is now, after its offer was filed anew."""
    item = table.get(keys.deal(deal.deal_id), consistent=True)
    assert item is not None
    current = deals.get(table, deal.deal_id, consistent=True)
    offers.file(table, before or deal, current, has_ended=has_ended(item))
    return current


def walked(table: Table, of: Topic, selection: Selection, limit: int = 7) -> list[str]:
    """The ids of all deals of a list, by following its cursors."""
    pages = every_page(lambda cursor: sorting.read(table, of, selection, limit=limit, now=NOW, cursor=cursor).page)
    assert all(len(page.items) <= limit for page in pages)
    return [deal.deal_id for page in pages for deal in page.items]


ORDERS: dict[Sort, Callable[[Deal], Any]] = {
    Sort.NEWEST: lambda deal: [-byte for byte in deal.deal_id.encode()],
    Sort.CHEAPEST: lambda deal: (deal.units, deal.deal_id),
    Sort.DISCOUNT: lambda deal: (-(deal.discount_percent or 0), [-byte for byte in deal.deal_id.encode()]),
}


def expected(some: Iterable[Deal], of: Topic, selection: Selection) -> list[str]:
    """The same list, made without the table."""
    fitting = [
        deal
        for deal in some
        if deal.status(NOW) is Status.ACTIVE
        and of.slug in (deal.brand, deal.category)
        and selection.brand in (None, deal.brand)
        and selection.currency in (None, deal.currency)
        and float(selection.least or 0) <= float(deal.price) <= float(selection.most or 10**12)
        and (selection.sort is not Sort.DISCOUNT or deal.discount_percent)
    ]
    return ids(sorted(fitting, key=ORDERS[selection.sort]))


def test_each_list_holds_each_of_its_deals_once_and_in_its_order(table: Table) -> None:
    kinds = itertools.product(
        ("apple", "asics"), ("shoes", "home"), ("USD", "EUR"), ("9.50", "79.99", "80.00", "80.01", "1234567890.00")
    )
    some = [
        a_deal(
            ago(days=number % 9, seconds=number),
            brand=brand,
            category=category,
            currency=currency,
            price=price,
            list_price=(None, "90.00", price, "1234567899.00")[number % 4],
            link=f"https://shop.example/{number % 30}",
            ends_at=(None, None, ago(seconds=1), ahead(hours=1), None)[number % 5],
        )
        for number, (brand, category, currency, price) in enumerate(kinds)
    ]
    posted = filed(table, some)
    withdrawn = deals.withdraw(table, posted[4].deal_id, NOW)
    offers.file(table, posted[4], withdrawn)
    posted = [withdrawn if deal.deal_id == withdrawn.deal_id else deal for deal in posted]

    for sort, of, brand, currency, (least, most) in itertools.product(
        Sort,
        (SHOES, APPLE),
        (None, "asics"),
        ("USD", "EUR"),
        ((None, None), ("80.00", None), (None, "80.00"), ("79.99", "80.00"), ("80.02", "80.03")),
    ):
        selection = Selection(sort, least, most, currency, brand if of.kind is CATEGORY else None)
        limit = 2 if least is None else 100
        assert walked(table, of, selection, limit) == expected(posted, of, selection), (of, selection)


@cache
def _judged() -> tuple[list[Deal], list[Item]]:
    """45 deals of nine products, over 40 days, the newest first: some are their product's lowest, some half price. And
    all items of a table that has them.
    """
    some = [
        a_deal(
            ago(days=number * 8 % 41, seconds=number),
            brand=("apple", "asics")[number % 2],
            category=("shoes", "home")[number % 3 == 0],
            price=f"{20 + number * 7 % 50}.00",
            list_price="100.00",
            link=f"https://shop.example/{number % 9}",
        )
        for number in range(45)
    ]
    with FAST.table(open_brands) as table:
        posted = indexed(table, sorted(post(table, some, ago(days=50)), key=lambda deal: deal.created_at))
        found = deals.get_many(table, ids(posted), consistent=True)
        return sorted(found, key=lambda deal: deal.deal_id, reverse=True), list(table.everything())


@pytest.fixture
def judged(table: Table) -> list[Deal]:
    """Those deals, in a table of a test's own."""
    some, items = _judged()
    put_all(table, items)
    return some


def searched(table: Table, typed: str, selection: Selection) -> list[str]:
    """The ids of all deals that a search finds, by following its cursors."""
    pages = every_page(
        lambda cursor: selecting.page(table, typed, selection, limit=5, now=NOW, cursor=cursor, all_words=True).page
    )
    return [deal.deal_id for page in pages for deal in page.items]


LIMITS = [{"lowest": True}, {"discount": 60}, {"discount": 60, "lowest": True}]


@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_lists_and_searches_hold_all_60_day_lows_and_bargains_in_each_order(
    table: Table, judged: list[Deal], limits: dict[str, Any]
) -> None:
    bargains = [deal for deal in judged if Selection(**limits).admits(deal.discount_percent, lowest=deal.is_lowest)]
    assert 2 < len(bargains) < len(judged)

    for sort in Sort:
        selection = Selection(sort, currency="USD", **limits)
        for of in (SHOES, APPLE):
            assert walked(table, of, selection, 3) == expected(bargains, of, selection), selection
        of_apple, found = expected(bargains, APPLE, selection), searched(table, "runner", selection)
        assert [deal_id for deal_id in found if deal_id in of_apple] == of_apple
        assert len(found) == len(bargains)


LOWS = Selection(lowest=True)


def test_every_page_of_60_day_lows_is_full_however_many_other_deals_are_newer(table: Table, judged: list[Deal]) -> None:
    indexed(table, post(table, [a_deal(NOW, link=f"https://shop.example/new/{n}") for n in range(sorting.SIFTED)]))
    low = ids(deal for deal in judged if deal.is_lowest)

    with watched(table) as wire:
        of_all = [ids(page.items) for page in all_pages(table, LOWS)]
    of_shoes = every_page(lambda cursor: sorting.newest(table, SHOES, LOWS, limit=3, now=NOW, cursor=cursor))

    assert of_all == [low[start : start + 3] for start in range(0, len(low), 3)]
    assert wire.operations == {"Query": len(of_all), "BatchGetItem": len(of_all)}
    assert [deal.deal_id for page in of_shoes for deal in page.items] == expected(
        [deal for deal in judged if deal.is_lowest], SHOES, LOWS
    )


def test_60_day_lows_that_are_sorted_or_narrowed_come_from_the_newest_and_the_answer_says_so(
    table: Table, judged: list[Deal], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lows, "MOST", 5)

    def read(selection: Selection, cursor: str | None = None) -> sorting.OfAll:
        return sorting.of_all(table, selection, limit=3, now=NOW, cursor=cursor)

    newest = [deal for deal in judged if deal.is_lowest][:5]
    by_price = ids(sorted(newest, key=lambda deal: (deal.units, -judged.index(deal))))
    first = read(replace(LOWS, sort=Sort.CHEAPEST))

    assert [read(selection).looked for selection in (LOWS, replace(LOWS, discount=60))] == [None, 5]
    assert first.looked == 5
    assert len(every_page(lambda cursor: read(replace(LOWS, sort=Sort.CHEAPEST), cursor).page)) == 2
    with watched(table) as wire:
        walked(table, SHOES, replace(LOWS, sort=Sort.CHEAPEST, currency="USD"), 3)
    assert "BatchGetItem" not in wire.operations, "of more lows than are read, no deal is"
    assert ids(first.page.items) == by_price[:3]


def test_a_deal_is_listed_as_a_60_day_low_while_it_is_one(table: Table) -> None:
    before, deal = post(table, [a_deal(ago(days=2), price="80.00"), a_deal(ago(days=1), price="50.00")])[::-1]
    indexed(table, [before, deal])
    seen = [ids(page.items) for page in all_pages(table, LOWS)]

    def change(**changes: Any) -> None:
        old = deals.get(table, deal.deal_id, consistent=True)
        deals.edit(table, deal.deal_id, changes, NOW)
        new = now_of(table, deals.get(table, deal.deal_id, consistent=True), old)
        offers.judge_anew(table, old, new)
        item = table.get(keys.deal(deal.deal_id), consistent=True)
        assert item is not None
        judged_anew = deals.get(table, deal.deal_id, consistent=True)
        search.file(table, old, judged_anew if is_listed(item) else None)
        seen.append([each.deal_id for each in search.lows(table, None, None, 9)[0]])

    for changes in ({"price": "90.00"}, {"price": "60.00"}, {"category": "home"}, {"withdrawn_at": NOW}):
        change(**changes)

    assert seen == [[deal.deal_id], [], [deal.deal_id], [deal.deal_id], []]
    assert search.lows(table, "shoes", None, 9) == ([], None)
    assert search.lows(table, "home", None, 9) == ([], None)


def all_pages(table: Table, selection: Selection) -> list[Page[Deal]]:
    return every_page(lambda cursor: sorting.of_all(table, selection, limit=3, now=NOW, cursor=cursor).page)


def test_deals_of_all_categories_are_merged_page_by_page_and_none_that_is_left_out_is_replaced(
    table: Table, judged: list[Deal]
) -> None:
    selections = [
        Selection(Sort.DISCOUNT, discount=60),
        Selection(Sort.CHEAPEST, least="20.00", most="50.00"),
        Selection(Sort.DISCOUNT),
    ]

    for selection in selections:
        with watched(table) as wire:
            pages = all_pages(table, selection)

        found = [deal.deal_id for page in pages for deal in page.items]
        fitting = [deal for deal in judged if selection.admits(deal.discount_percent, lowest=deal.is_lowest)]
        fitting = [deal for deal in fitting if selection.takes(deal.price, deal.currency)]
        fitting = [deal for deal in fitting if deal.discount_percent or selection.sort is Sort.CHEAPEST]
        assert found == ids(sorted(fitting, key=ORDERS[selection.sort]))
        assert selection.most or wire.operations["Query"] == 8 * len(pages)
        assert all(len(page.items) <= 3 for page in pages)


def test_an_offer_follows_each_edit_of_its_deal(table: Table) -> None:
    (deal,) = filed(table, [a_deal(price="80.00", list_price="100.00")])
    cheapest, biggest = Selection(Sort.CHEAPEST, currency="USD"), Selection(Sort.DISCOUNT, currency="USD")
    edits: list[tuple[dict[str, Any], Topic, Selection, Topic, Selection]] = [
        ({"price": "50.00"}, SHOES, replace(cheapest, least="60.00"), SHOES, replace(cheapest, most="60.00")),
        ({"list_price": None}, SHOES, biggest, SHOES, cheapest),
        ({"currency": "EUR"}, SHOES, cheapest, SHOES, replace(cheapest, currency="EUR")),
        ({"currency": "USD", "category": "home"}, SHOES, cheapest, HOME, cheapest),
        ({"brand": "asics"}, APPLE, cheapest, Topic(BRAND, "asics"), cheapest),
        ({"link": "https://other.example/shoe", "list_price": "60.00"}, SHOES, biggest, HOME, biggest),
    ]

    for changes, left, without, entered, within in edits:
        deal = now_of(table, deals.edit(table, deal.deal_id, changes, NOW), deal)

        assert walked(table, left, without) == [], changes
        assert walked(table, entered, within) == [deal.deal_id], changes
    assert len(offers.offers(table, deal.link)) == 1


@pytest.mark.parametrize(
    ("changes", "places"),
    [({"withdrawn_at": NOW}, set()), ({"ends_at": ago(seconds=1)}, {"GSI2PK", "GSI3PK"})],
    ids=["withdrawn", "ended"],
)
def test_what_is_over_leaves_the_prices_and_comes_back_when_it_is_on_again(
    table: Table, changes: dict[str, Any], places: set[str]
) -> None:
    (deal,) = filed(table, [a_deal(price="80.00")])
    key = keys.primary(offers.to_item(deal, has_ended=False))

    over = now_of(table, deals.edit(table, deal.deal_id, changes, NOW), deal)
    away = table.get(key)
    again = now_of(table, deals.edit(table, deal.deal_id, dict.fromkeys(changes), NOW), over)
    # An older record that comes once more, as out of a dead-letter queue, changes nothing.
    offers.file(table, deal, over, has_ended=bool(places))

    assert away is not None
    assert NOWHERE & away.keys() == places
    assert table.get(key) == offers.to_item(again, has_ended=False)


def test_a_price_that_changes_between_two_pages_moves_its_own_deal_alone(table: Table) -> None:
    posted = filed(table, [a_deal(price=f"{n}.00", link=f"https://shop.example/{n}") for n in range(10, 16)])
    by_price = sorted(posted, key=ORDERS[Sort.CHEAPEST])
    cheapest = Selection(Sort.CHEAPEST, currency="USD")
    first = sorting.read(table, SHOES, cheapest, limit=3, now=NOW).page

    now_of(table, deals.edit(table, by_price[2].deal_id, {"price": "1.00"}, NOW), by_price[2])
    second = sorting.read(table, SHOES, cheapest, limit=3, now=NOW, cursor=first.next).page

    assert ids(first.items) + ids(second.items) == ids(by_price)


def test_a_damaged_or_misplaced_offer_is_left_out_and_noted(table: Table) -> None:
    posted = filed(table, [a_deal(price=f"{n}.00", link=f"https://shop.example/{n}") for n in (10, 20, 30)])
    damaged, misplaced = (keys.primary(offers.to_item(deal, has_ended=False)) for deal in posted[:2])
    table.write(update(damaged, "SET Price = :price", values={":price": "much"}, refused=None))
    table.write(update(misplaced, "SET GSI3SK = :place", values={":place": "00000000000005"}, refused=None))

    assert walked(table, SHOES, Selection(Sort.CHEAPEST, currency="USD")) == [posted[2].deal_id]
    assert len(damage.taken()) == 2


def test_what_was_not_given_by_a_list_is_no_cursor_of_it(table: Table) -> None:
    posted = filed(table, [a_deal(price=f"{n}.00", link=f"https://shop.example/{n}") for n in (10, 20, 30)])
    cheapest = Selection(Sort.CHEAPEST, currency="USD")
    cursor = sorting.cursor_after(SHOES, cheapest, posted[0])
    by_id = identifiers.cursor_after("category/shoes", posted[0].deal_id)

    for of, selection, forged in (
        (SHOES, cheapest, by_id),
        (SHOES, cheapest, f"1{cursor}"),
        (SHOES, cheapest, f"x.{cursor}"),
        (SHOES, replace(cheapest, most="99.00"), cursor),
        (HOME, cheapest, cursor),
        (APPLE, replace(cheapest, sort=Sort.DISCOUNT), cursor),
    ):
        with pytest.raises(InvalidCursor):
            sorting.read(table, of, selection, limit=3, now=NOW, cursor=forged)


@pytest.mark.parametrize("sort", Sort)
def test_a_topic_that_does_not_exist_has_no_list(table: Table, sort: Sort) -> None:
    with pytest.raises(NoSuchTopic):
        sorting.read(table, Topic(BRAND, "nobody"), Selection(sort, "0.00"), limit=3, now=NOW)
    with pytest.raises(BadRequest):
        sorting.read(table, SHOES, Selection(sort, brand="nobody"), limit=3, now=NOW)


def priced_in(*currencies: str) -> list[Deal]:
    """Deals at one price in some currencies, the newest first."""
    return [
        a_deal(ago(minutes=n), currency=each, price="1.00", list_price=None, link=f"https://shop.example/{n}")
        for n, each in enumerate(currencies)
    ]


@pytest.mark.parametrize("sort", [Sort.CHEAPEST, Sort.NEWEST])
@pytest.mark.parametrize("of", [APPLE, SHOES])
def test_a_list_opens_in_the_currency_of_most_of_its_deals_and_leads_to_the_others(
    table: Table, of: Topic, sort: Sort
) -> None:
    posted = filed(table, priced_in("USD", "CHF", "CAD", "CHF", "JPY"))

    asked = Selection(sort, least="0.00")
    found = sorting.read(table, of, asked, limit=3, now=NOW, leads_on=True)
    in_francs = sorting.read(table, of, replace(asked, currency="CHF"), limit=3, now=NOW, leads_on=True)
    none = sorting.read(table, of, replace(asked, currency="GBP"), limit=3, now=NOW, leads_on=True)

    assert found.selection == replace(asked, currency="CHF")
    assert sorted(ids(found.page.items)) == sorted(deal.deal_id for deal in posted if deal.currency == "CHF")
    assert sorted(found.currencies) == sorted(in_francs.currencies) == ["CAD", "JPY", "USD"]
    assert sorted(none.currencies) == ["CAD", "CHF", "JPY", "USD"]
    assert none.page.items == ()


def test_some_new_deals_in_another_currency_do_not_hide_the_others_of_a_list(table: Table) -> None:
    filed(table, priced_in(*["EUR"] * 12, *["USD"] * 20))

    found = sorting.read(table, SHOES, Selection(Sort.CHEAPEST), limit=16, now=NOW)

    assert (found.selection.currency, found.currencies) == ("USD", ("EUR",))
    assert {deal.currency for deal in found.page.items} == {"USD"}


def test_a_list_without_a_currency_goes_on_in_the_one_that_it_began_in(table: Table) -> None:
    posted = filed(table, priced_in("CHF", "CHF", "CHF", "USD"))
    first = sorting.read(table, SHOES, Selection(Sort.CHEAPEST), limit=2, now=NOW)
    filed(table, [replace(deal, link=f"{deal.link}/new") for deal in priced_in(*["USD"] * 9)])

    second = sorting.read(table, SHOES, Selection(Sort.CHEAPEST), limit=2, now=NOW, cursor=first.page.next)

    assert {deal.currency for deal in second.page.items} == {"CHF"}
    assert sorted(ids([*first.page.items, *second.page.items])) == sorted(ids(posted[:3]))


def test_a_list_in_the_first_currency_and_what_it_leads_to_is_read_in_one_round_trip(table: Table) -> None:
    filed(table, priced_in("USD", "USD", "EUR"))

    with watched(table) as wire:
        found = sorting.read(table, SHOES, Selection(Sort.CHEAPEST), limit=3, now=NOW, leads_on=True)

    assert (found.selection.currency, found.currencies) == ("USD", ("EUR",))
    assert wire.round_trips == 1


def test_thousandths_are_sorted_and_bounded(table: Table) -> None:
    prices = ("1.255", "1.25", "1.30", "1.249")
    made = [a_deal(currency="KWD", price=price, link=f"https://shop.example/{price}") for price in prices]
    filed(table, made)

    cheapest = Selection(Sort.CHEAPEST, currency="KWD")
    found, bounded = (
        sorting.read(table, SHOES, each, limit=9, now=NOW).page.items
        for each in (cheapest, replace(cheapest, least="1.25", most="1.255"))
    )

    assert [deal.price for deal in found] == ["1.249", "1.25", "1.255", "1.30"]
    assert [deal.price for deal in bounded] == ["1.25", "1.255"]
