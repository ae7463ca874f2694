"""Lists in other orders and between prices, and searches: pages, the API, and what each of them takes."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from functions.api import catalog
from functions.pages.site.listing import LOWEST, READ_SORTED
from shared.data import keys
from shared.data.catalog import offers, search, selecting, sorting
from shared.data.catalog.words import asked, in_text
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from shared.dynamodb.writes import assign
from shared.errors import NoSuchDeal
from shared.models.catalog import Deal, Verdict
from shared.runtime import environment
from shared.values import identifiers, times
from tests.pages.conftest import walked
from tests.support.browsing import Ask, parsed
from tests.support.engines import DYNOXIDE_ENGINE, put_all
from tests.support.factories import a_deal, indexed, offered, open_brands, post, worded
from tests.support.rights import within_rights
from tests.support.surroundings import a_context, event_of
from tests.support.wire import watched

COST = (Path(__file__).resolve().parents[2] / "docs" / "cost.md").read_text(encoding="utf-8")


@pytest.fixture
def api(table: Table) -> Ask:
    """Ask the API's public function for a path."""
    handler = within_rights(catalog)
    return lambda path, **how: handler(event_of(path, **how), a_context())


@cache
def _made() -> tuple[list[Deal], list[Item]]:
    """Seventy shoes and lamps of two brands; twenty are in yen, every fifth has no list price. And all items of a table
    that has them.
    """
    now = times.now()
    made = [
        a_deal(
            now - timedelta(hours=n),
            title=f"Shoe {n}",
            link=f"https://shop.example/{n}",
            brand=("apple", "asics")[n % 3 == 0],
            brand_name=("Apple", "ASICS")[n % 3 == 0],
            category=("shoes", "home")[n % 7 == 6],
            price=f"{10 + n}.00",
            list_price=None if n % 5 == 0 else "100.00",
            currency="JPY" if n >= 50 else "USD",
        )
        for n in range(70)
    ]
    with DYNOXIDE_ENGINE.table(open_brands) as table:
        return filed(table, post(table, made, now)), list(table.everything())


@pytest.fixture
def seventy(table: Table) -> list[Deal]:
    """Those deals, in a table of a test's own."""
    some, items = _made()
    put_all(table, items)
    return some


def filed(table: Table, some: list[Deal]) -> list[Deal]:
    """Deals with the offers that the stream would have filed."""
    offered(table, some)
    return some


def follow(ask: Ask, address: str) -> Any:
    """The answer of a link of a page."""
    parts = urlsplit(address)
    return ask(parts.path, query=dict(parse_qsl(parts.query)))


def titles(answer: Any) -> list[str]:
    return ["".join(each.itertext()) for each in parsed(answer).iter("h2")]


def text_of(element: Any) -> str:
    return "".join(element.itertext())


def links(answer: Any) -> dict[str, str]:
    """The addresses of a page's links by their words, the first of each."""
    return {"".join(each.itertext()): each.get("href", "") for each in reversed(list(parsed(answer).iter("a")))}


def test_shoes_under_a_price_are_three_clicks_away(ask: Ask, seventy: list[Deal]) -> None:
    first = ask("/categories/shoes")
    cheapest = follow(ask, links(first)["Cheapest"])
    form = next(each for each in parsed(cheapest).iter("form") if each.get("class") == "field")
    fields = {each.get("name"): each.get("value", "") for each in form.iter("input")}
    under = ask(form.get("action"), query=fields | {"to": "20.50"})
    of_brand = follow(ask, links(under)["ASICS"])

    assert fields == {"sort": "cheapest", "from": "", "to": ""}
    assert titles(ask(form.get("action"), query=fields | {"to": "$20,50"})) == titles(under)
    assert titles(under) == [f"Shoe {n}" for n in range(11) if n != 6]
    assert titles(of_brand) == ["Shoe 0", "Shoe 3", "Shoe 9"]
    assert links(of_brand)["All brands"] == "/categories/shoes?sort=cheapest&to=20.50"
    for page in (cheapest, under, of_brand):
        head = page["body"].partition("</head>")[0]
        assert page["multiValueHeaders"]["Cache-Control"][0].startswith("public, max-age=")
        assert '<meta name="robots" content="noindex, follow">' in head
        assert "canonical" not in head
    assert 'rel="canonical" href="https://deals.example/categories/shoes"' in first["body"]


def test_a_list_opens_in_the_currency_of_most_of_its_deals(ask: Ask, table: Table, now: datetime) -> None:
    made = [
        a_deal(now - timedelta(hours=n), title=f"Shoe {n}", link=f"https://shop.example/{n}", currency="CAD")
        for n in range(40)
    ]
    abroad = a_deal(now - timedelta(days=3), title="Abroad", link="https://shop.example/abroad", currency="USD")
    made = filed(table, post(table, [*made, abroad], now))
    worded(table, made)

    for path in ("/brands/apple?sort=cheapest", "/categories/shoes?from=1", "/search?q=shoe&sort=cheapest"):
        opened = follow(ask, path)
        sign = opened["body"].partition('<label for="f-from">')[2].partition("<")[0]

        assert (len(titles(opened)), sign) == (24, "CA$"), path
        assert "Abroad" not in titles(opened)
        second = follow(ask, re.findall(r'rel="next nofollow" href="([^"]+)"', opened["body"])[0].replace("&amp;", "&"))
        assert (len(titles(second)), "That’s all." in second["body"]) == (16, True), path
    dollars = follow(ask, links(ask("/brands/apple", query={"sort": "cheapest"}))["USD"])
    assert titles(dollars) == ["Abroad"]
    assert "CAD" in links(dollars)


def test_a_list_where_little_fits_says_so_and_leads_on(
    ask: Ask, table: Table, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sorting, "SIFTED", 50)
    made = [a_deal(now - timedelta(hours=n), link=f"https://shop.example/{n}", price="5.00") for n in range(110)]
    filed(table, post(table, [*made, a_deal(now - timedelta(days=9), title="Dear", price="500.00")], now))

    first = ask("/categories/shoes", query={"from": "100"})
    second = follow(ask, links(first)["Look further"])
    cheapest = follow(ask, links(first)["Cheapest first"])

    assert titles(first) == []
    assert titles(second) == titles(cheapest) == ["Dear"]
    none = ask("/categories/shoes", query={"from": "501", "off": "50", "sort": "cheapest"})
    assert "No deals match." in none["body"]
    wider = {"Without the limit $501 or more", "Without the limit 50% off or more", "All deals of Shoes"}
    assert wider <= links(none).keys()


@pytest.mark.parametrize(("off", "chosen", "count"), [("", "any discount", 6), ("15", "15% off or more", 7)])
def test_the_form_above_a_list_has_its_discount_among_others(ask: Ask, off: str, chosen: str, count: int) -> None:
    """Also one that the form doesn't offer by itself. An empty field is no limit."""
    form = parsed(ask("/categories/shoes", query={"to": "80", "off": off})).find(".//details//form")

    assert form is not None
    options = form.findall("select[@name='off']/option")
    assert [each.text for each in options if "selected" in each.attrib] == [chosen]
    assert len(options) == count
    assert "off" not in {each.get("name") for each in form.findall("input")}


def test_running_shoes_under_a_price_are_found_page_by_page(
    ask: Ask, api: Ask, table: Table, seventy: list[Deal], now: datetime
) -> None:
    """Of a search, too: what its words' items say is sorted, and only what a page shows is read."""
    over = a_deal(now - timedelta(days=2), title="Shoe 99", price="1.00", ends_at=now - timedelta(days=1))
    (over,) = post(table, [over], now - timedelta(days=2))
    worded(table, [*seventy, over])

    cheapest = follow(ask, links(ask("/search", query={"q": "shoe"}))["Cheapest"])
    second = follow(ask, links(cheapest)["Higher prices"])
    off = ask("/search", query={"q": "shoe", "sort": "discount", "from": "30", "to": "50", "brand": "asics"})
    in_yen = follow(ask, links(cheapest)["JPY"])
    newest = ask("/search", query={"q": "shoe", "to": "12"})
    none = ask("/search", query={"q": "shoe", "to": "1"})
    query = {"q": "shoe", "sort": "cheapest", "limit": "30"}
    listed = json.loads(api("/deals", query=query)["body"])
    rest = json.loads(api("/deals", query=query | {"cursor": listed["next"]})["body"])

    in_order = [f"Shoe {n}" for n in range(50)]
    assert titles(cheapest) + titles(second) == in_order[:48]
    assert [deal["title"] for deal in (*listed["items"], *rest["items"])] == in_order
    assert titles(off) == [f"Shoe {n}" for n in (21, 24, 27, 33, 36, 39)]
    assert titles(in_yen) == [f"Shoe {n}" for n in range(50, 70)]
    assert titles(newest) == ["Shoe 0", "Shoe 1", "Shoe 2"]
    assert "No deals match." in none["body"]
    assert [("#list" in links(page).values(), 'id="list"' in page["body"]) for page in (newest, none)] == [
        (True, True),
        (False, False),
    ]
    assert links(none)["shoe, without limits"] == "/search?q=shoe"
    assert api("/deals", query={"sort": "cheapest"})["statusCode"] == 400
    assert ask("/search", query={"q": "shoe", "sort": "cheapest", "cursor": "1.x"})["statusCode"] == 400


def test_60_day_lows_are_one_click_from_the_front_page_each_list_and_each_search(
    ask: Ask, api: Ask, table: Table, now: datetime
) -> None:
    made = [
        a_deal(now - timedelta(days=n), title=f"Shoe {n}", link=f"https://shop.example/{n % 2}", price=f"{50 + n}.00")
        for n in range(6)
    ]
    indexed(table, sorted(post(table, made, now), key=lambda deal: deal.created_at))
    lows = [f"Shoe {n}" for n in range(4)]

    pages = {"/": follow(ask, links(ask("/"))["60-day lows"])}
    pages |= {
        path: follow(ask, links(ask(path.partition("?")[0], query=dict(parse_qsl(path.partition("?")[2]))))[LOWEST])
        for path in ("/categories/shoes", "/brands/apple", "/search?q=shoe", "/categories/shoes?sort=cheapest")
    }

    for path, page in pages.items():
        assert sorted(titles(page)) == lows, path
        assert "lowest in 60 days" in page["body"]
        removed = links(follow(ask, links(page)[f"{LOWEST} ×"]))
        assert f"{LOWEST} ×" not in removed
    assert links(pages["/search?q=shoe"])[f"{LOWEST} ×"] == "/search?q=shoe"
    assert links(pages["/categories/shoes?sort=cheapest"])["Newest"] == "/categories/shoes?lowest=true"
    for path in ("/categories/shoes/deals", "/brands/apple/deals", "/deals?q=shoe"):
        query = dict(parse_qsl(path.partition("?")[2])) | {"lowest": "true"}
        listed = json.loads(api(path.partition("?")[0], query=query)["body"])["items"]
        assert [(deal["title"], deal["verdict"]["lowest"]) for deal in listed] == [(low, True) for low in lows], path


def test_half_price_of_all_categories_is_a_limit_that_can_be_removed(ask: Ask, seventy: list[Deal]) -> None:
    page = follow(ask, links(ask("/"))["Half price or less"])

    assert page["body"].count("<h1>Half price or less</h1>") == 1
    assert titles(page) == [deal.title for deal in seventy if (deal.discount_percent or 0) >= 50][:24]
    assert links(page)["50% off or more ×"] == "/deals?sort=discount"


def test_a_list_of_some_of_all_deals_says_of_how_many(
    ask: Ask, table: Table, seventy: list[Deal], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sorting, "SIFTED", 10)

    first = ask("/deals", query={"off": "99"})
    second = follow(ask, links(first)["Look further"])

    assert "From the newest 20 deals only." in first["body"]
    assert "From the next 20 deals only." in second["body"]


def test_a_list_of_all_deals_goes_on_to_its_end_and_says_so_only_there(ask: Ask, seventy: list[Deal]) -> None:
    shown = [deal for deal in seventy if deal.currency == "USD"]
    by_price = [deal.title for deal in sorted(shown, key=lambda deal: deal.units)]
    half = sorted(
        [deal for deal in shown if (deal.discount_percent or 0) >= 50], key=lambda deal: -(deal.discount_percent or 0)
    )
    for query, expected in (
        ({"sort": "cheapest"}, by_price),
        ({"sort": "cheapest", "off": "50"}, [deal.title for deal in shown if deal in half]),
        ({"sort": "discount", "off": "50"}, [deal.title for deal in half]),
    ):
        pages = list(walked(ask, "/deals", **query))

        names = [[text_of(each) for each in page.iter("h2")] for page in pages]
        assert [title for page in names for title in page] == expected
        assert ["That\u2019s all." in text_of(page) for page in pages] == [False] * (len(pages) - 1) + [True]
        is_known = len(expected) <= READ_SORTED
        assert (f"{len(expected)} deals" if is_known else f"More than {READ_SORTED} deals") in text_of(pages[0])
        assert {len(each) for each in names[:-1]} == {24}
    assert "<b>6 deals</b>" in ask("/deals", query={"sort": "cheapest", "to": "15"})["body"]


def test_room_for_partial_matches_is_counted_in_cards_at_the_end_of_a_list(
    ask: Ask, table: Table, now: datetime
) -> None:
    """Thirty colours of ten shirts on ten cards: fewer cards than deals, and more deals than a page has cards."""
    shirts = [
        a_deal(
            now - timedelta(minutes=n), title=f"Linen shirt {n % 10}, {n}", link=f"https://shop.example/{n % 10}?c={n}"
        )
        for n in range(30)
    ]
    others = [
        a_deal(now - timedelta(hours=n), title=f"Linen hat {n}", link=f"https://hats.example/{n}") for n in range(40)
    ]
    worded(table, post(table, [*shirts, *others], now))

    for query, cards, has_some in (
        ({"q": "linen shirt"}, [24], [True]),
        ({"q": "linen shirt", "sort": "cheapest"}, [24], [True]),
        ({"q": "linen hat", "sort": "cheapest"}, [24, 16], [False, False]),
    ):
        trace = Trace().attach(environment.table())
        pages = list(walked(ask, "/search", **query))
        trace.detach(environment.table())

        assert trace.capacity.read <= 25 * len(pages)
        assert [len(page.findall(".//li[@class='card']")) for page in pages] == cards
        assert ["Deals with most of these words" in text_of(page) for page in pages] == has_some


def test_a_search_of_more_deals_than_are_sorted_says_how_many_were(
    ask: Ask, api: Ask, table: Table, seventy: list[Deal], monkeypatch: pytest.MonkeyPatch
) -> None:
    worded(table, seventy)
    query = {"q": "shoe", "sort": "cheapest", "limit": "100"}
    whole, all_of_them = ask("/search", query=query), json.loads(api("/deals", query=query)["body"])
    monkeypatch.setattr(selecting, "MOST", 45)

    some = json.loads(api("/deals", query=query | {"sort": "discount"})["body"])
    rarer = json.loads(api("/deals", query=query | {"q": "asics shoe"})["body"])

    said = "From the newest 45 deals with these words only."
    assert [said in page["body"] for page in (whole, ask("/search", query=query))] == [False, True]
    assert ("lookedThrough" in all_of_them, some["lookedThrough"]) == (False, 45)
    assert {deal["title"] for deal in some["items"]} <= {f"Shoe {n}" for n in range(45)}
    assert "lookedThrough" not in rarer
    assert "lookedThrough" not in json.loads(api("/deals", query={"q": "shoe"})["body"])


BAD = [
    *(("/categories/shoes", name, value) for name, value in (
        ("sort", "best"), ("currency", "usd"), ("brand", "///"), ("brand", "nobody"),
    )),
    *(("/categories/shoes", name, value) for name, value in (
        ("off", "0"), ("off", "100"), ("off", "٣"), ("off", "5.5"), ("lowest", "yes"), ("lowest", "1"),
    )),
    ("/brands/apple", "sort", "CHEAPEST"),
]  # fmt: skip
"""What cannot be asked for; a list ends at 80."""

BAD_PRICES = (("from", "-1"), ("from", "90"), ("from", "٣"), ("to", "80,5,0"), ("to", "1234567890"), ("to", "abc"))


def test_a_price_that_cannot_be_read_stays_in_its_field_above_the_list_without_it(ask: Ask) -> None:
    for path in ("/categories/shoes", "/brands/apple", "/deals", "/search"):
        for name, value in BAD_PRICES:
            query = {"to": "80", "from": "10", name: value} | ({"q": "shoe"} if path == "/search" else {})

            page = ask(path, query=query)

            (field,) = parsed(page).findall(f".//input[@id='f-{name}']")
            (error,) = parsed(page).findall(f".//*[@id='{field.get('aria-describedby')}']")
            assert (page["statusCode"], page["multiValueHeaders"]["Cache-Control"]) == (400, ["no-store"])
            assert (field.get("value"), field.get("aria-invalid")) == (value, "true")
            assert "price" in "".join(error.itertext())


def test_what_cannot_be_asked_for_is_refused_with_the_way_back(ask: Ask, api: Ask) -> None:
    for path, name, value in BAD:
        query = {"to": "80", "from": "10", name: value}

        page, problem = ask(path, query=query), api(f"{path}/deals", query=query)

        (back,) = re.findall(r'class="button first" href="([^"]+)"', page["body"])
        assert (page["statusCode"], problem["statusCode"]) == (400, 400), (path, name, value)
        assert page["multiValueHeaders"]["Cache-Control"] == ["no-store"]
        assert follow(ask, back.replace("&amp;", "&"))["statusCode"] == 200
        assert dict(parse_qsl(urlsplit(back.replace("&amp;", "&")).query)) == {
            each: given for each, given in query.items() if each != name
        }
        assert [each["field"] for each in json.loads(problem["body"])["errors"]] == [name]
    empty = {"sort": "cheapest", "from": "", "to": " ", "brand": ""}  # as a form leaves what nobody asks for
    page, problem = ask("/categories/shoes", query=empty), api("/categories/shoes/deals", query=empty)
    assert (page["statusCode"], problem["statusCode"]) == (200, 400)


def test_the_api_lists_the_same_page_by_page(api: Ask, seventy: list[Deal]) -> None:
    query, found = {"sort": "cheapest", "to": "40", "brand": "asics", "limit": "3"}, list[str]()
    while True:
        page = json.loads(api("/categories/shoes/deals", query=query)["body"])
        found += [deal["title"] for deal in page["items"]]
        if page["next"] is None:
            break
        query["cursor"] = page["next"]

    assert found == [f"Shoe {n}" for n in (0, 3, 9, 12, 15, 18, 21, 24, 30)]
    assert api("/brands/nobody/deals", query={"sort": "cheapest"})["statusCode"] == 404


CUT = "We searched only the first five words and 100 characters."
SIX_WORDS = "trail runner green apple shoe six"


def test_limits_of_fields_are_chips_and_go_into_an_alert(ask: Ask, posted: list[Deal]) -> None:
    for path in ("/search", "/deals", "/categories/shoes", "/brands/apple"):
        document = parsed(ask(path, query={"q": "runner", "from": "20", "to": "80", "off": "50"}))

        chips = ["".join(chip.itertext()) for chip in document.findall(".//nav[@class='chips']/a")]
        assert chips == ["$20 to $80 ×", "50% off or more ×"]
        of_alert = [each for each in document.iterfind(".//form[@method='post']") if each.get("action") == "/my/alerts"]
        fields = [{field.get("name"): field.get("value") for field in form.iter("input")} for form in of_alert]
        kept = {"words": "runner", "ceiling": "80.00", "currency": "USD", "leastDiscount": "50"}
        assert fields == ([kept] if path == "/search" else [])


def test_a_search_within_limits_that_finds_nothing_leads_on(ask: Ask, posted: list[Deal]) -> None:
    limits = {"to": "1", "currency": "USD"}
    answers = [
        ask("/search", query={"q": typed, **limits, **more})
        for typed, more in (("runner", {"off": "50"}), ("runnnner", {}), ("zzzz", {}))
    ]
    too_cheap, misspelt, unknown = map(links, answers)
    corrected = ask("/search", query={"q": "runnner", "to": "1000", "currency": "USD"})

    assert too_cheap["runner, 50% off or more"] == "/search?q=runner&off=50"
    assert 'href="/categories/home?to=1&amp;currency=USD&amp;off=50"' in answers[0]["body"]
    assert misspelt["runner"] == "/search?q=runner&to=1&currency=USD"
    assert unknown["Search without the limits"] == "/search?q=zzzz"
    assert "No deals match <em>runnner</em>. Showing results for <em>runner</em>." in corrected["body"]
    assert titles(corrected)


def test_deals_with_most_of_the_words_are_marked_as_such(ask: Ask, posted: list[Deal]) -> None:
    document = parsed(ask("/search", query={"q": "runner zzzzzz"}))

    text = "".join(document.itertext())
    assert "No current deal has all these words." in text
    assert "Deals with most of these words" in text
    assert document.findall(".//section//li[@class='card']")


def test_a_mistyped_word_is_corrected_and_what_words_name_is_led_to(ask: Ask, posted: list[Deal]) -> None:
    document, alone = (parsed(ask("/search", query={"q": typed})) for typed in ("aple runer shoe", "runnner"))

    (form,) = document.findall(".//form[@role='search']")
    field = form.find("input")
    assert (form.get("action"), field.get("name"), field.get("value")) == ("/search", "q", "apple runner shoe")
    assert "No deals match aple runer shoe. Showing results for apple runner shoe." in "".join(document.itertext())
    named = {link.text: link.get("href") for link in document.findall(".//p[@class='buttons']/a")}
    assert named == {"All of Apple": "/brands/apple", "All of Shoes": "/categories/shoes"}
    assert "No deals match" in "".join(alone.itertext())
    assert "/search?q=runner" in [link.get("href") for link in alone.findall(".//a")]


def test_whatever_is_searched_is_answered_and_a_last_word_says_what_it_stood_for(ask: Ask, posted: list[Deal]) -> None:
    for typed in ("?!", "🎉", "x" * 300, "a b c d e f g h i", "the of and", "' OR 1=1", "\x00", "ab " * 700):
        assert ask("/search", query={"q": typed})["statusCode"] == 200
    assert "We also searched for words that begin with “run”: runner." in ask("/search", query={"q": "run"})["body"]
    assert "“2” was searched exactly" in ask("/search", query={"q": "2"})["body"]


def test_a_search_that_is_cut_always_says_so(ask: Ask, posted: list[Deal], monkeypatch: pytest.MonkeyPatch) -> None:
    here, past_the_end = (identifiers.cursor_after(asked(SIX_WORDS).scope, posted[n].deal_id) for n in (0, -1))
    searches = [
        {"q": "trail runner a1 b2 c3 d4"},
        {"q": f"trail {'x' * 100}"},
        {"q": "?" * 101},
        {"q": SIX_WORDS, "cursor": past_the_end},
    ]

    bodies = [ask("/search", query=query)["body"] for query in searches]
    monkeypatch.setattr(search, "find", lambda *_, **__: search.Found((), here))
    none_so_far = ask("/search", query={"q": SIX_WORDS})["body"]

    assert all(CUT in body for body in (*bodies, none_so_far))
    assert "That’s all." in bodies[-1]
    assert "Look further back" in none_so_far
    assert len(asked(SIX_WORDS).words) == 5


def test_words_are_compared_without_accents_case_and_signs() -> None:
    assert in_text("Men's 2.ZERØGRAND — Crème brûlée, men’s") == ["mens", "2", "zerogrand", "creme", "brulee"]


def test_a_search_pages_to_its_end_and_reads_one_deal_of_each_card(ask: Ask, table: Table, now: datetime) -> None:
    # Two colours of each boot are one card, and are on one page; what has ended and is not swept yet is none.
    made = [
        a_deal(now - timedelta(minutes=n), title=f"Boot, {n}", link=f"https://s.example/{n // 2}?colour={n}")
        for n in range(70)
    ]
    over = a_deal(now - timedelta(minutes=100), title="Boot", ends_at=now - timedelta(minutes=1))
    for deal in [*post(table, made, now), over]:
        search.file(table, None, deal)

    with watched(environment.table()) as wire:
        seen = [
            [kind.text for kind in document.findall(".//p[@class='kind']")]
            for document in walked(ask, "/search", q="boot")
        ]

    said = [f"{n} · 2 colours and sizes" for n in range(0, 70, 2)]
    assert seen == [said[:24], said[24:]]
    batches = [request.body["RequestItems"] for request in wire.requests if request.operation == "BatchGetItem"]
    assert [len(wanted["Keys"]) for batch in batches for wanted in batch.values()] == [24, 11]


LISTS = {
    "cheapest of a category": "/categories/shoes?sort=cheapest",
    "the same, between two prices with 20 deals": "/categories/shoes?sort=cheapest&from=50&to=90",
    "biggest discounts of a category": "/categories/shoes?sort=discount",
    "the same, between two prices with the 20 smallest of 210": "/categories/shoes?sort=discount&from=250",
    "newest of a category, between two prices": "/categories/shoes?from=50&to=90",
    "cheapest of a brand": "/brands/apple?sort=cheapest",
    "biggest discounts of a brand with 100 deals": "/brands/apple?sort=discount",
    "newest of a brand with 100 deals, between two prices": "/brands/apple?from=50&to=90",
    "cheapest of a brand in a category that half of its deals are in": "/categories/home?sort=cheapest&brand=apple",
    "biggest discounts of a brand with 100 deals in a category": "/categories/home?sort=discount&brand=apple",
    "newest of a brand with 100 deals in a category": "/categories/home?brand=apple",
    "biggest discounts of all deals": "/deals?sort=discount&off=50",
    "60-day lows of a search with 100 deals": "/search?q=cotton&lowest=true",
    "cheapest of a search with 100 deals": "/search?q=cotton&sort=cheapest",
    "biggest discounts of a search of two words, both of 100 deals": "/search?q=trail+cotton&sort=discount&to=100",
}


@pytest.fixture
def many(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Deals of 0.7 KB, four a day: 210 of a category, and 100 of a brand, half of them in that category.

    It is always the same day: how they spread over months, which are read one by one, decides what a list takes.
    """
    noon = datetime(2050, 11, 24, 12, tzinfo=UTC)
    monkeypatch.setattr(times, "now", lambda: noon)
    made = [
        a_deal(
            noon - timedelta(days=1 + n // 4, minutes=n % 4),
            entropy=n.to_bytes(16, "big"),
            title=f"Trail runners of {('wool', 'cotton')[n < 100]}, for men and women, number {n:03}",
            link=f"https://shop.example/products/trail-runners-for-men-and-women?variant={n:03}",
            image=f"https://cdn.shop.example/files/trail-runners-for-men-and-women-{n:03}.jpg?v=1776319973",
            source_id=f"shop:trail-runners-for-men-and-women:{n:03}",
            brand=("asics", "apple")[n < 100],
            category=("home", "shoes")[n % 2 or n >= 100],
            price=f"{10 + n}.00",
            list_price="999.00",
        )
        for n in range(260)
    ]
    listed = filed(table, post(table, made, noon))
    worded(table, listed[:100])


LOWS = {
    "newest 60-day lows of a category": "/categories/shoes?lowest=true",
    "60-day lows of all deals, the newest": "/deals?lowest=true",
    "the same, the cheapest of 250 or more": "/deals?lowest=true&sort=cheapest",
}


@pytest.fixture
def many_lows(table: Table, many: None) -> None:
    """300 deals, each at the lowest price of its product's, older than those."""
    noon = datetime(2050, 9, 20, 12, tzinfo=UTC)
    verdict = Verdict(9900, noon.date(), (9900, 9900))
    made = [
        a_deal(
            noon - timedelta(hours=n),
            entropy=n.to_bytes(16, "big"),
            title=f"Running shoes of cotton, for men and women, number {n:03}",
            link=f"https://shop.example/products/running-shoes-for-men-and-women?variant={n:03}",
            image=f"https://cdn.shop.example/files/running-shoes-for-men-and-women-{n:03}.jpg?v=1776319973",
            source_id=f"shop:running-shoes-for-men-and-women:{n:03}",
            price=f"{20 + n / 10:.2f}",
            list_price="999.00",
        )
        for n in range(300)
    ]
    posted = [replace(deal, verdict=verdict) for deal in post(table, made, noon)]
    for deal in posted:
        table.write(assign(keys.deal(deal.deal_id), {"Verdict": str(verdict)}, refused=NoSuchDeal(deal.deal_id)))
    worded(table, filed(table, posted))


def test_lists_of_60_day_lows_take_what_the_document_says(ask: Ask, many_lows: None) -> None:
    takes(ask, LOWS)
    for path in LOWS.values():
        assert len(titles(follow(ask, path))) == 24


def test_each_list_takes_what_the_document_says(ask: Ask, many: None) -> None:
    takes(ask, LISTS)


def takes(ask: Ask, lists: dict[str, str]) -> None:
    """Check what lists take against the document."""
    took = {}
    for name, path in lists.items():
        trace = Trace().attach(environment.table())
        assert follow(ask, path)["statusCode"] == 200
        trace.detach(environment.table())
        took[name] = len(trace.requests), trace.round_trips, trace.capacity.read

    rows = {name: re.findall(rf"^\| {name} \| (\d+) \| (\d) \| ([\d.]+) \|$", COST, re.MULTILINE) for name in lists}
    assert took == {name: (int(row[0]), int(row[1]), float(row[2])) for name, (row,) in rows.items()}
    assert max(round_trips for _, round_trips, _ in took.values()) <= 3


def test_a_deal_takes_what_the_document_says_to_list_to_change_and_to_end(table: Table, now: datetime) -> None:
    (deal,) = post(table, [a_deal()])
    dearer = replace(deal, price="40.00", version=2)
    over = replace(dearer, withdrawn_at=now, version=3)
    trace = Trace().attach(table)

    offers.file(table, None, deal)
    offers.file(table, deal, dearer)
    offers.file(table, dearer, dearer)
    offers.file(table, dearer, over)

    taken = [request.capacity.write for request in trace.requests if request.capacity]
    assert taken == [1 + 3, 1 + 3 * 2, 1, 1 + 3]
    assert "takes 3 more write units.\n- Ending or withdrawing it takes 3.\n- A new price takes 6, two for" in COST
