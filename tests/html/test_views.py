"""A deal on pages: its price, its days, its cards, and the leading picture."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from shared.html import fragments, views
from shared.html.views import render
from shared.models.catalog import Deal
from shared.values.links import LONGEST
from tests.support.factories import NOW, a_deal


@pytest.mark.parametrize(
    ("amount", "currency", "shown"),
    [
        ("1299.99", "USD", "$1,299.99"), ("20.00", "CHF", "CHF 20.00"), ("1200.00", "JPY", "¥1,200"),
        ("1200.50", "JPY", "¥1,200.50"), ("54000.00", "KRW", "₩54,000"), ("1.255", "KWD", "KWD 1.255"),
        ("1.50", "KWD", "KWD 1.500"), ("20.00", "CAD", "CA$20.00"), ("20.00", "HRK", "HRK 20.00"),
    ],
)  # fmt: skip
def test_an_amount_is_read_as_its_currency_is_written(amount: str, currency: str, shown: str) -> None:
    assert views.money(amount, currency) == shown


@pytest.mark.parametrize("currency", ["USD", "EUR", "GBP", "CHF", "CAD", "AUD", "JPY"])
def test_a_card_shows_and_speaks_cents_where_there_are_any(currency: str) -> None:
    deal = a_deal(price="1200.00", list_price="2400.00", currency=currency)

    card = views.card(deal, NOW)
    tag = render("parts/picks.html", cards=[card], front=False)

    has_cents = currency != "JPY"
    assert card["spoken"].endswith("1,200.00" if has_cents else "1,200")
    assert card["list_price"].endswith("2,400.00" if has_cents else "2,400")
    assert ("<small>00</small>" in tag) == ("<small>" in tag) == has_cents


@pytest.mark.parametrize(
    ("list_price", "shown"), [("40.00", "$40.00"), ("20.00", None), ("20.10", None), ("10.00", None), (None, None)]
)
def test_a_list_price_is_shown_where_the_deal_is_cheaper(list_price: str | None, shown: str | None) -> None:
    assert views.card(a_deal(price="20.00", list_price=list_price), NOW)["list_price"] == shown


def test_a_card_tells_the_year_of_what_is_not_of_this_year() -> None:
    now = datetime(2026, 12, 31, 12, tzinfo=UTC)
    last, this = (a_deal(now - timedelta(days=days), ends_at=now + timedelta(hours=days)) for days in (366, 31))

    cards = [views.card(deal, now) for deal in (last, this)]

    assert [card["when"] for card in cards] == ["30 December 2025", "30 November"]
    assert [card["ends_at"] for card in cards] == ["15 Jan 2027, 18:00 UTC", "1 Jan 2027, 19:00 UTC"]


def test_a_product_of_two_days_is_two_cards() -> None:
    links = ["https://shop.example/a", "https://shop.example/b", "https://shop.example/a", "https://shop.example/c"]
    deals = [a_deal(NOW - timedelta(days=n), link=link) for n, link in enumerate(links)]

    assert views.first_groups(deals, 2) == 2


VIEW = "https://shop.example/view.php"


def test_products_that_share_a_path_are_cards_of_their_own() -> None:
    titles = ("Espresso machine", "Garden hose", "Desk lamp")
    deals = [a_deal(title=title, link=f"{VIEW}?id={number}") for number, title in enumerate(titles, 1)]

    assert [card["title"] for card in views.cards(deals, NOW)] == [*titles]
    assert [views.first_groups(deals, most) for most in (1, 2, 3)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("titles", "links"),
    [
        (("Boot", "Boot", "BOOT"), (f"{VIEW}?id=1", f"{VIEW}?id=2", f"{VIEW}?id=3")),
        (("Boot, red", "Boot - blue", "Boot (42)"), (f"{VIEW}?id=1", f"{VIEW}?id=2", f"{VIEW}?id=3")),
        (("Boot", "The boot", "A boot"), (f"{VIEW}?id=1", f"{VIEW}?id=1&utm_source=a", f"{VIEW}?fbclid=b&id=1")),
    ],
    ids=["title", "title but for its end", "product"],
)
def test_variants_are_one_card_where_product_or_title_says_so(titles: tuple[str, ...], links: tuple[str, ...]) -> None:
    deals = [a_deal(title=title, link=link) for title, link in zip(titles, links, strict=True)]

    (card,) = views.cards(deals, NOW)

    assert card["kind"].endswith("3 colours and sizes")
    assert views.first_groups([*deals, a_deal(title="Hat")], 1) == 3
    assert len(views.cards([*deals, replace(deals[0], price="1.00")], NOW)) == 2


def of_brands(*brands: str) -> list[Deal]:
    return [
        a_deal(NOW - timedelta(minutes=n), link=f"https://shop.example/{n}", brand=brand, brand_name=brand.title())
        for n, brand in enumerate(brands)
    ]


def test_of_many_cards_of_a_brand_in_a_row_the_fourth_leads_to_the_rest() -> None:
    deals = of_brands(*["apple"] * 9, "asics", *["apple"] * 4, "asics")

    (day,) = views.by_day(deals, NOW, {})

    shown = [each.get("title") or (each["more"], each["brand_name"]) for each in day["cards"]]
    assert shown[3] == (6, "Apple")
    assert len(shown) == 3 + 1 + 1 + 4 + 1, "four in a row are shown: a card that leads to one takes its place"
    assert views.first_groups(deals, 4) == 9
    assert views.first_groups(deals, 5) == 10


@pytest.mark.parametrize(
    ("count", "lead", "shown"),
    [
        (9, True, {1: 9, 3: 7, 4: 9, 5: 6, 6: 7}),
        (13, True, {1: 13, 3: 13, 4: 13, 5: 11, 6: 13}),
        (4, True, {1: 4, 3: 4, 4: 4, 5: 4, 6: 4}),
        (8, False, {2: 8, 3: 6, 4: 8, 6: 6, 8: 8}),
        (5, False, {2: 4, 3: 3, 4: 4, 6: 5, 8: 5}),
    ],
)
def test_cards_that_are_some_of_many_fill_their_rows(count: int, lead: bool, shown: dict[int, int]) -> None:
    cards = [views.card(deal, NOW) for deal in of_brands(*["apple"] * count)]

    views.leave_out(cards, lead=lead)

    assert {columns: sum(columns not in card["unseen"] for card in cards) for columns in shown} == shown


@pytest.mark.parametrize(
    ("title", "brand", "name", "kind"),
    [
        ("Trail runner, blue", "Apple", "Trail runner", "blue"),
        ("Men's Flip Flop - Mid Yellow", "Allbirds", "Men's Flip Flop", "Mid Yellow"),
        ("Kismet Tee | Navy Stripe", "Fair Harbor", "Kismet Tee", "Navy Stripe"),
        ("Alex Crane Men's Playa Shirt", "Alex Crane", "Men's Playa Shirt", ""),
        ("ALEX CRANE: Playa Shirt (Large)", "Alex Crane", "ALEX CRANE: Playa Shirt", "Large"),
        ("Alexander shirt", "Alex", "Alexander shirt", ""),
        ("Apple", "Apple", "Apple", ""),
        ("- blue", "Apple", "- blue", ""),
        ("Lamp, in a very large and heavy box", "Apple", "Lamp, in a very large and heavy box", ""),
    ],
)
def test_a_card_names_the_brand_once_and_the_colour_on_a_line_of_its_own(
    title: str, brand: str, name: str, kind: str
) -> None:
    card = views.card(a_deal(title=title, brand_name=brand), NOW)

    assert (card["title"], card["name"], card["kind"]) == (title, name, kind)


def test_long_names_that_differ_at_their_ends_look_different() -> None:
    cards = [
        views.card(a_deal(title=f"Women's Waterproof Insulated Winter Hiking Boot with a Zip {end}"), NOW)
        for end in ("39", "40")
    ]

    names = [card["name"] for card in cards]
    assert len({*names}) == 2
    assert max(map(len, names)) <= LONGEST


def test_a_list_without_deals_has_no_leading_one() -> None:
    assert fragments.enlarge_first_card("<p>That’s all.</p>") == "<p>That’s all.</p>"
