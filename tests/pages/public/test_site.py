"""The public pages, each as the function answers for it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta

import feedparser  # type: ignore[import-untyped]  # publishes no types
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from functions.background import refresher
from functions.pages import site
from shared.data.catalog import caches, clicks, deals, endings, featured, products
from shared.data.catalog.words import asked, in_text
from shared.dynamodb.table import Table
from shared.html import assets
from shared.http import copies
from shared.models.catalog import EDITORS_CHOICE, FRONT_PAGE, Deal, Topic, feed_of
from shared.runtime import environment
from tests.support.making import a_deal, post
from tests.support.pages import Ask, indexed, parsed
from tests.support.wire import watched


@pytest.fixture
def posted(table: Table, now: datetime) -> list[Deal]:
    """Four deals, the newest first: two colours of one shoe, a lamp and an older one of the shoe."""
    shoe = "https://www.shop.example/shoes/trail"
    made = [
        a_deal(now - timedelta(minutes=1), title="Trail runner, green", link=f"{shoe}?variant=1", price="60.00"),
        a_deal(now - timedelta(minutes=2), title="Trail runner, blue", link=f"{shoe}?variant=2", price="60.00"),
        a_deal(now - timedelta(days=1), title="Café lamp", brand="asics", brand_name="ASICS", category="home"),
        a_deal(now - timedelta(days=40), title="Trail runner, green", link=f"{shoe}?variant=1", price="80.00"),
    ]
    return indexed(table, post(table, made, now))


PAGES = [
    "/",
    "/deals",
    "/ending",
    "/editors-choice",
    "/categories/shoes",
    "/brands",
    "/brands/apple",
    "/search",
    "/about",
]


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("filled", [True, False], ids=["deals", "empty"])
def test_every_page_is_whole_and_says_what_it_is(
    ask: Ask, path: str, filled: bool, request: pytest.FixtureRequest
) -> None:
    if filled:
        request.getfixturevalue("posted")

    answer = ask(path)

    assert answer["statusCode"] == 200, answer["body"]
    document = parsed(answer)
    assert len(document.findall(".//h1")) == 1
    assert document.get("lang") == "en"
    assert document.find(".//title").text.endswith("Big Time Deals")
    assert document.find(".//link[@rel='canonical']").get("href") == f"https://deals.example{path}"
    assert answer["multiValueHeaders"]["Cache-Control"][0].startswith("public, max-age=5")


@pytest.mark.parametrize("path", PAGES)
def test_a_table_that_is_away_is_said_in_a_page(
    ask: Ask, table: Table, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(site, "table", lambda: replace(table, name="gone"))

    answer = ask(path)

    if path in ("/search", "/about"):  # nothing was asked for, and nothing was read
        assert answer["statusCode"] == 200
        return
    assert answer["statusCode"] == 503
    assert answer["multiValueHeaders"]["Retry-After"] == ["1"]
    assert "ResourceNotFound" not in answer["body"]


def test_colours_of_one_product_at_one_price_are_one_card(ask: Ask, posted: list[Deal]) -> None:
    body = ask("/deals")["body"]

    assert "2 colours and sizes" in body
    assert "Trail runner, blue" not in body


def test_days_are_headings(ask: Ask, posted: list[Deal]) -> None:
    document = parsed(ask("/deals"))

    assert len(document.findall(".//section//h2")) == 3


def test_the_front_page_shows_what_editors_picked(ask: Ask, table: Table, now: datetime, posted: list[Deal]) -> None:
    lamp = next(deal for deal in posted if deal.category == "home")
    featured.set_featured(table, FRONT_PAGE, [lamp.deal_id], now)

    document = parsed(ask("/"))

    lead = document.find(".//li[@class='card lead']")
    assert "Café lamp" in "".join(lead.itertext())
    assert document.find(".//h1").text == "Front page"


def test_without_picks_the_newest_deal_leads(ask: Ask, posted: list[Deal]) -> None:
    document = parsed(ask("/"))

    assert "Trail runner, green" in "".join(document.find(".//li[@class='card lead']").itertext())


def test_the_editors_choice_is_shown(ask: Ask, table: Table, now: datetime, posted: list[Deal]) -> None:
    featured.set_featured(table, EDITORS_CHOICE, [posted[0].deal_id], now)

    assert "Trail runner, green" in ask("/editors-choice")["body"]


def test_a_list_goes_on_to_its_end(ask: Ask, table: Table, now: datetime) -> None:
    post(
        table,
        [a_deal(now - timedelta(minutes=n), title=f"Deal {n:03}", link=f"https://s.example/{n}") for n in range(130)],
        now,
    )
    seen: list[str] = []
    query: dict[str, str] = {}

    while True:
        document = parsed(ask("/deals", query=query))
        seen += [link.text for link in document.findall(".//h3/a")]
        onward = document.find(".//a[@rel='next']")
        if onward is None:
            break
        query = {"cursor": onward.get("href").partition("cursor=")[2]}

    assert seen == [f"Deal {n:03}" for n in range(130)]


@pytest.mark.parametrize("path", ["/deals", "/categories/shoes", "/brands/apple", "/search"])
def test_a_forged_cursor_leads_to_the_newest(ask: Ask, posted: list[Deal], path: str) -> None:
    answer = ask(path, query={"cursor": "forged", "q": "trail"} if path == "/search" else {"cursor": "forged"})

    assert answer["statusCode"] == 400
    assert "Start with the newest" in answer["body"]


def test_a_deal_is_shown_with_earlier_prices_colours_and_others_of_its_brand(ask: Ask, posted: list[Deal]) -> None:
    answer = ask(f"/deals/{posted[0].number}")

    body = answer["body"]
    assert answer["statusCode"] == 200
    assert ">This product before<" in body
    assert "Lowest in 60 days" in body
    assert ">Other colours and sizes<" in body
    assert "Go to shop.example" in body
    document = parsed(answer)
    product = json.loads(document.find(".//script[@type='application/ld+json']").text)
    assert product["offers"]["price"] == "60.00"
    assert document.find(".//data[@class='tag']").get("value") == "60.00"


def test_a_deals_id_leads_to_its_number(ask: Ask, posted: list[Deal]) -> None:
    answer = ask(f"/deals/{posted[0].deal_id}")

    assert answer["statusCode"] == 301
    assert answer["multiValueHeaders"]["Location"] == [f"/deals/{posted[0].number}"]


@pytest.mark.parametrize("number", ["999999", "nothing", "1e3", "%00", "-1", "٣"])
def test_a_deal_that_never_was_is_not_found(ask: Ask, posted: list[Deal], number: str) -> None:
    assert ask(f"/deals/{number}")["statusCode"] == 404


def test_a_withdrawn_deal_is_gone_and_still_shown(ask: Ask, table: Table, now: datetime, posted: list[Deal]) -> None:
    deals.withdraw(table, posted[0].deal_id, now)

    answer = ask(f"/deals/{posted[0].number}")

    assert answer["statusCode"] == 410
    assert "This deal was taken back." in answer["body"]
    assert "/go/" not in answer["body"]


def test_an_ended_deal_says_when_it_ended(ask: Ask, table: Table, now: datetime, posted: list[Deal]) -> None:
    deals.edit(table, posted[0].deal_id, {"ends_at": now - timedelta(seconds=5)}, now)

    answer = ask(f"/deals/{posted[0].number}")

    assert answer["statusCode"] == 200
    assert "This deal ended on" in answer["body"]
    assert 'name="robots" content="noindex"' in answer["body"]


def test_deals_that_end_soon_are_shown_by_their_last_day(ask: Ask, table: Table, now: datetime) -> None:
    soon, later, far = (
        a_deal(
            now, title=f"Ends in {hours} hours", ends_at=now + timedelta(hours=hours), link=f"https://s.example/{hours}"
        )
        for hours in (30, 60, 24 * 30)
    )
    post(table, [far, later, soon], now)

    titles = [link.text for link in parsed(ask("/ending")).findall(".//h3/a")]

    assert titles == ["Ends in 30 hours", "Ends in 60 hours"]
    assert len(endings.upcoming(table, now, days=7, most=1)) == 1


@pytest.mark.parametrize("typed", ["/brands/Apple", "/brands/APPLE", "/brands/%C3%81pple"])
def test_another_spelling_of_a_brand_leads_to_its_page(ask: Ask, typed: str) -> None:
    answer = ask(typed)

    assert (answer["statusCode"], answer["multiValueHeaders"].get("Location")) == (301, ["/brands/apple"])


@pytest.mark.parametrize("path", ["/brands/apple", "/categories/shoes"])
def test_a_topic_without_deals_shows_those_that_ended(
    ask: Ask, table: Table, now: datetime, posted: list[Deal], path: str
) -> None:
    for deal in posted:
        over = deals.edit(table, deal.deal_id, {"ends_at": now - timedelta(seconds=5)}, now)
        products.follow(table, deal, over, has_ended=True)

    body = ask(path)["body"]

    assert "has no deals now" in body
    assert body.index(">Watch<") < body.index(">Ended<") < body.index(posted[0].title)
    assert 'class="tag over"' in body


def test_an_unknown_brand_is_told_the_near_ones(ask: Ask) -> None:
    answer = ask("/brands/aple")

    assert answer["statusCode"] == 404
    assert 'href="/brands/apple"' in answer["body"]


def test_an_unknown_category_is_told_all_eight(ask: Ask) -> None:
    answer = ask("/categories/toys")

    assert answer["statusCode"] == 404
    assert answer["body"].count('class="tile t-') == 8


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("trail runner", 3),
        ("TRAIL", 3),
        ("trai", 3),
        ("cafe", 1),
        ("CAFÉ lamp", 1),
        ("asics", 1),
        ("runner apple green", 2),
        ("lamp trail", 0),
        ("trail’s", 0),
    ],
)
def test_search_finds_what_has_all_words(ask: Ask, posted: list[Deal], typed: str, expected: int) -> None:
    answer = ask("/search", query={"q": typed})

    found = 0
    for card in parsed(answer).findall(".//li[@class='card']"):
        text = "".join(card.itertext())
        found += int(text.split(" colours")[0][-1]) if "colours and sizes" in text else 1
    assert found == expected


def test_a_search_that_finds_nothing_says_how_to_go_on(ask: Ask, posted: list[Deal]) -> None:
    answer = ask("/search", query={"q": "runnner"})

    assert answer["statusCode"] == 200
    assert "Nothing for" in answer["body"]
    assert "q=runner" in answer["body"]


@pytest.mark.parametrize("typed", ["?!", "🎉", "x" * 300, "a b c d e f g h i", "the of and", "' OR 1=1", "\x00"])
def test_whatever_is_searched_is_answered(ask: Ask, posted: list[Deal], typed: str) -> None:
    assert ask("/search", query={"q": typed})["statusCode"] == 200


def test_a_search_costs_as_much_however_often_it_is_cut() -> None:
    search = asked("one two three four five six")

    assert (len(search.words), search.cut) == (5, True)


def test_words_are_compared_without_accents_case_and_signs() -> None:
    assert in_text("Men's 2.ZERØGRAND — Crème brûlée, men’s") == ["mens", "2", "zerogrand", "creme", "brulee"]


def test_a_search_pages_to_its_end(ask: Ask, table: Table, now: datetime) -> None:
    made = [a_deal(now - timedelta(minutes=n), title=f"Boot {n}", link=f"https://s.example/{n}") for n in range(70)]
    indexed(table, post(table, made, now))

    first = parsed(ask("/search", query={"q": "boot"}))
    onward = first.find(".//a[@rel='next']").get("href")
    second = parsed(ask("/search", query={"q": "boot", "cursor": onward.partition("cursor=")[2]}))

    assert len(first.findall(".//li[@class='card']")) == 60
    assert len(second.findall(".//li[@class='card']")) == 10
    assert second.find(".//a[@rel='next']") is None


FEEDS = ["/feed", "/brands/apple/feed", "/categories/shoes/feed"]


@pytest.mark.parametrize("path", FEEDS)
@pytest.mark.parametrize("filled", [True, False], ids=["deals", "empty"])
def test_every_list_is_a_feed(ask: Ask, path: str, filled: bool, request: pytest.FixtureRequest) -> None:
    count = len([deal for deal in request.getfixturevalue("posted") if deal.brand == "apple"]) if filled else 0

    read = feedparser.parse(ask(f"{path}.atom")["body"])
    items = json.loads(ask(f"{path}.json")["body"])["items"]

    assert not read.bozo, read.get("bozo_exception")
    assert read.version == "atom10"
    assert len(read.entries) == len(items) >= count
    assert all(entry.link.startswith("https://deals.example/deals/") for entry in read.entries)


def test_a_search_is_a_feed_too(ask: Ask, posted: list[Deal]) -> None:
    read = feedparser.parse(ask("/feed.atom", query={"q": "lamp"})["body"])

    assert [entry.title for entry in read.entries] == ["Café lamp: $31.90"]


def test_the_sitemap_names_every_listed_deal(ask: Ask, now: datetime, posted: list[Deal]) -> None:
    index = ask("/sitemap.xml")["body"]

    assert f"/sitemap-{now:%Y-%m}.xml" in index
    month = posted[0].created_at.strftime("%Y-%m")
    assert f"https://deals.example/deals/{posted[0].number}<" in ask(f"/sitemap-{month}.xml")["body"]
    assert ask("/sitemap-1999-01.xml")["statusCode"] == 404


def test_a_months_sitemap_is_bounded(
    ask: Ask, now: datetime, posted: list[Deal], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "MOST_MAPPED", 1)

    mapped = ask(f"/sitemap-{posted[0].created_at:%Y-%m}.xml")["body"]

    assert mapped.count("<loc>") == 1
    assert f"/deals/{posted[0].number}<" in mapped


@pytest.mark.parametrize(
    ("path", "media_type"),
    [
        ("/robots.txt", "text/plain; charset=utf-8"),
        ("/site.webmanifest", "application/manifest+json"),
        ("/opensearch.xml", "application/opensearchdescription+xml"),
    ],
)
def test_machines_are_told_where_things_are(ask: Ask, path: str, media_type: str) -> None:
    answer = ask(path)

    assert answer["statusCode"] == 200
    assert answer["multiValueHeaders"]["Content-Type"] == [media_type]


def test_assets_are_kept_for_ever_under_their_contents_name(ask: Ask) -> None:
    answer = ask(f"/assets/{assets.served_name('site.css')}")

    assert answer["multiValueHeaders"]["Cache-Control"] == ["public, max-age=31536000, immutable"]
    assert ask("/assets/site.css")["statusCode"] == 404
    assert ask("/assets/..%2Fbase.html")["statusCode"] == 404


def test_cookies_change_nothing_on_a_public_page(ask: Ask, posted: list[Deal]) -> None:
    plain = ask("/deals")

    other = ask("/deals", headers={"Cookie": "__Host-btd=guessed; btd-in=1"})

    assert other == plain


def test_a_text_in_the_query_is_never_what_a_page_says(ask: Ask) -> None:
    assert "You are signed out." in ask("/", query={"said": "signed-out"})["body"]
    assert "Buy at evil" not in ask("/", query={"said": "Buy at evil"})["body"]


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(title=st.text(min_size=1, max_size=300), code=st.text(min_size=1, max_size=40))
def test_whatever_an_editor_typed_stays_text(ask: Ask, table: Table, now: datetime, title: str, code: str) -> None:
    (deal,) = post(table, [a_deal(now, title=f"<script>{title}</script><img src=x>", coupon_code=f'"><b>{code}')], now)

    for path in (f"/deals/{deal.number}", "/brands/apple", "/feed.atom"):
        answer = ask(path)
        assert answer["statusCode"] == 200
        if path.endswith(".atom"):
            assert not feedparser.parse(answer["body"]).bozo
            continue
        document = parsed(answer, strict=False)
        assert len(document.findall(".//script")) == (2 if path.startswith("/deals") else 1)
        assert document.findall(".//code//b") == document.findall(".//img[@src='x']") == []


READER = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"}


def test_going_to_the_shop_is_counted(follow: Ask, table: Table, posted: list[Deal]) -> None:
    answer = follow(f"/go/{posted[0].number}", headers=READER)

    assert answer["statusCode"] == 302
    assert answer["multiValueHeaders"]["Location"] == [posted[0].link]
    assert answer["multiValueHeaders"]["Cache-Control"] == ["no-store"]
    assert clicks.of(table, [posted[0].deal_id, posted[1].deal_id]) == {posted[0].deal_id: 1, posted[1].deal_id: 0}


@pytest.mark.parametrize(
    ("method", "sent"),
    [
        ("GET", {"User-Agent": "Googlebot/2.1"}),
        ("GET", {}),
        ("GET", READER | {"Sec-Purpose": "prefetch"}),
        ("HEAD", READER),
    ],
)
def test_who_only_looks_is_not_counted(
    follow: Ask, table: Table, posted: list[Deal], method: str, sent: dict[str, str]
) -> None:
    answer = follow(f"/go/{posted[0].number}", method, headers=sent)

    assert answer["statusCode"] == 302
    assert clicks.of(table, [posted[0].deal_id]) == {posted[0].deal_id: 0}


def test_an_ended_deal_leads_to_its_page(follow: Ask, table: Table, now: datetime, posted: list[Deal]) -> None:
    deals.withdraw(table, posted[0].deal_id, now)

    answer = follow(f"/go/{posted[0].number}", headers=READER)

    assert (answer["statusCode"], answer["multiValueHeaders"]["Location"]) == (303, [f"/deals/{posted[0].number}"])


def test_nothing_in_a_request_says_where_it_leads(follow: Ask, posted: list[Deal]) -> None:
    answer = follow("/go/999999", headers=READER, query={"link": "https://evil.example"})

    assert answer["statusCode"] == 404


@pytest.mark.parametrize("path", ["/", "/deals", "/editors-choice", "/categories/shoes"])
def test_pages_are_joined_from_copies_and_say_the_same(
    ask: Ask, table: Table, now: datetime, posted: list[Deal], path: str
) -> None:
    featured.set_featured(table, FRONT_PAGE, [posted[0].deal_id], now)
    made = ask(path)["body"]
    refresher.refresh(caches.PARTS, set(), set())
    copies.kept.cache_clear()

    with watched(environment.table()) as wire:
        joined = ask(path)["body"]

    assert wire.operations == {"BatchGetItem": 1}
    assert joined == made


def test_the_links_of_a_copy_get_the_prefix_of_the_site(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, posted: list[Deal]
) -> None:
    refresher.refresh(caches.PARTS, set(), set())
    monkeypatch.setenv("SITE_BASE", "/web")

    targets = [link.get("href") for link in parsed(ask("/deals")).findall(".//a")]

    assert all(target.startswith(("/web/", "#")) for target in targets)
