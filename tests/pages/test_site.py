"""The public pages, each as the function answers for it."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from functions.background import refresher
from functions.pages import site
from shared import features
from shared.data.catalog import deals, feeds, offers, page_cache, picks, topics
from shared.dynamodb.table import Table
from shared.html import fragments, links, views
from shared.http import cached_pages
from shared.models.catalog import EDITORS_CHOICE, FRONT_PAGE, Deal, feed_of
from shared.runtime import environment
from shared.settings import READ_FOR_CARDS
from shared.values import identifiers, times
from tests.pages.conftest import walked
from tests.support.browsing import Ask, parsed
from tests.support.cases import cases, cases_by_name
from tests.support.engines import put_all
from tests.support.factories import APPLE, SHOES, a_deal, indexed, post, worded
from tests.support.surroundings import hand_over
from tests.support.wire import watched

PAGES = [
    "/",
    "/deals",
    "/ending",
    "/editors-choice",
    "/categories/shoes",
    "/brands",
    "/brands/apple",
    *cases_by_name("SITE_PAGES"),
    "/search",
    "/about",
]


@pytest.mark.parametrize("filled", [True, False], ids=["deals", "empty"])
def test_every_page_is_whole_and_says_what_it_is_where_it_is_shared_too(
    ask: Ask, filled: bool, request: pytest.FixtureRequest
) -> None:
    deal = [f"/deals/{request.getfixturevalue('posted')[0].number}"] if filled else []

    for path in [*PAGES, *deal]:
        answer = ask(path)

        assert answer["statusCode"] == 200, answer["body"]
        document = parsed(answer)
        title, description = document.find(".//title").text, document.find(".//meta[@name='description']")
        assert len(document.findall(".//h1")) == 1
        assert document.get("lang") == "en"
        assert title.endswith("Big Time Deals")
        canonical = [link.get("href") for link in document.findall(".//link[@rel='canonical']")]
        assert canonical == ([] if path == "/search" else [f"https://deals.example{path}"])
        assert (document.find(".//meta[@name='robots']") is not None) == (path == "/search")
        assert answer["multiValueHeaders"]["Cache-Control"][0].startswith("public, max-age=5")
        if path != "/search":
            shared = {each.get("property"): each.get("content") for each in document.findall(".//meta[@property]")}
            assert shared["og:url"] == f"https://deals.example{path}"
            assert shared["og:title"] == title.removesuffix(" · Big Time Deals")
            assert shared["og:type"] == ("product" if path in deal else "website")
            assert shared["og:site_name"] == "Big Time Deals"
            assert shared["og:description"] == description.get("content") != ""


@pytest.mark.parametrize("path", [*PAGES, "/deals/1"])
def test_a_parameter_that_is_none_of_the_pages_own_breaks_none(ask: Ask, path: str) -> None:
    for name in ("q", "sort", "from", "to", "currency", "off", "lowest", "brand", "cursor", "notice", "trace", "next"):
        answer = ask(path, query={name: "<b>"})

        assert answer["statusCode"] < 500, name
        assert '="<b>' not in answer["body"]


NOTHING_TO_SHOW = {
    "/": "There are no deals yet.",
    "/deals": "There are no deals yet.",
    "/ending": "No deals end in the next few days.",
    **cases_by_name("SITE_PAGES"),
    "/editors-choice": "There are no picks yet.",
    "/brands/apple": "Apple has no deals right now.",
    "/categories/shoes": "Shoes has no deals right now.",
    "/search?q=lamp": "No deals match lamp",
}


def test_a_page_with_nothing_to_show_says_so_in_a_sentence(ask: Ask) -> None:
    for page, said in NOTHING_TO_SHOW.items():
        path, _, typed = page.partition("?q=")

        words = " ".join("".join(parsed(ask(path, query={"q": typed} if typed else None)).itertext()).split())

        assert said in words


def test_an_empty_cursor_is_none_and_one_forged_or_past_the_end_has_a_way_back(ask: Ask, posted: list[Deal]) -> None:
    scopes = {"/deals": "deals", "/brands/apple": "brand/apple", "/categories/shoes": "category/shoes", "/search": ""}
    for path, scope in scopes.items():
        query = {} if scope else {"q": "trail"}

        forged = ask(path, query=query | {"cursor": "forged"})
        past_the_end = ask(path, query=query | {"cursor": identifiers.cursor_after(scope, posted[-1].deal_id)})

        assert ask(path, query=query | {"cursor": ""}) == ask(path, query=query)
        assert (forged["statusCode"], "Start with the newest" in forged["body"]) == (400, True)
        assert not scope or f'That’s all. <a href="{path}">Back to the newest</a>' in past_the_end["body"]


def test_a_table_that_is_away_is_said_in_a_page(ask: Ask, table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    hand_over(monkeypatch, replace(table, name="gone"), site)

    for path in PAGES:
        answer = ask(path)

        if path in ("/search", "/about"):  # nothing was asked for, and nothing was read
            assert answer["statusCode"] == 200
            continue
        assert answer["statusCode"] == 503
        assert answer["multiValueHeaders"]["Retry-After"] == ["1"]
        assert "ResourceNotFound" not in answer["body"]


def test_both_curated_pages_show_what_editors_picked(ask: Ask, table: Table, now: datetime, posted: list[Deal]) -> None:
    lamp = next(deal for deal in posted if deal.category == "home")
    picks.set_featured(table, FRONT_PAGE, [lamp.deal_id], now)
    picks.set_featured(table, EDITORS_CHOICE, [posted[0].deal_id], now)

    document = parsed(ask("/"))

    lead = document.find(".//li[@class='card lead']")
    assert "Café lamp" in "".join(lead.itertext())
    assert "picked by our editors" in "".join(lead.itertext())
    assert "Trail runner" in ask("/editors-choice")["body"]


def test_days_are_headings_one_product_is_one_card_and_the_newest_leads(
    ask: Ask, now: datetime, posted: list[Deal]
) -> None:
    latest, front = ask("/deals"), parsed(ask("/"))

    assert len(parsed(latest).findall(".//section//h2")) == 3
    kinds = [kind.text for kind in parsed(latest).findall(".//p[@class='kind']")]
    assert kinds == ["green · 2 colours and sizes", "green"]
    assert (front.find(".//h1").text, front.find(".//main//h2").text) == (views.long_day(now), "Newest deals")
    (lead,) = front.findall(".//li[@class='card lead']")
    assert "Trail runner" in "".join(lead.itertext())
    titles = [link.text for link in front.findall(".//h3/a")]
    assert titles == ["Trail runner", "Café lamp", "Trail runner"]


@pytest.mark.parametrize("copied", [True, False], ids=["from a copy", "made now"])
def test_without_picks_the_newest_deals_picture_is_large_and_asked_for_first(
    ask: Ask, table: Table, now: datetime, monkeypatch: pytest.MonkeyPatch, copied: bool
) -> None:
    monkeypatch.setenv("PICTURES_OF_OTHERS", "true")
    image = "https://shop.example/cdn/shop/shoe.jpg"
    made = [a_deal(now - timedelta(minutes=n), image=image, link=f"https://{n}.example/shoe") for n in range(3)]
    post(table, made, now)
    if copied:
        refresher.refresh(page_cache.PARTS, set(), set())
        cached_pages.memory.cache_clear()

    leading, other, _ = parsed(ask("/")).findall(".//li//img")

    assert (leading.get("fetchpriority"), leading.get("loading")) == ("high", None)
    assert other.get("src") == f"{image}?width=360"
    assert (other.get("fetchpriority"), other.get("loading"), other.get("width")) == (None, "lazy", "360")


def of_two_brands(count: int, now: datetime) -> list[Deal]:
    """Deals of products of their own, newest first, of one brand and the other by turns."""
    return [
        a_deal(now - timedelta(seconds=n), title=f"Deal {n:03}", link=f"https://s.example/{n}", brand=brand)
        for n, brand in zip(range(count), itertools.cycle(["apple", "asics"]), strict=False)
    ]


def test_a_list_goes_on_to_its_end(ask: Ask, table: Table, now: datetime) -> None:
    post(table, of_two_brands(130, now), now)

    seen = [link.text for document in walked(ask, "/deals") for link in document.findall(".//h3/a")]

    assert seen == [f"Deal {n:03}" for n in range(130)]


COSTS = {
    "/": ("BatchGetItem 1", 1),
    "/deals/{number}": ("GetItem {items}, Query {beside}", 3),
    "/deals/{deal_id}": ("GetItem 1", 1),
    "/deals": ("BatchGetItem 1", 1),
    "/editors-choice": ("BatchGetItem 1", 1),
    "/categories/shoes": ("BatchGetItem 1", 1),
    "/ending": ("Query 8", 1),
    **cases_by_name("COSTS"),
    "/brands": ("GetItem 1", 1),
    "/brands/apple": ("GetItem 1, Query {of_brand}", 2),
    "/search?q=trail runner": ("BatchGetItem 2, Query 3", 4),
    "/search?q=one two three four five": ("BatchGetItem 1, GetItem 1, Query 6", 3),
    "/about": ("", 0),
    "/opensearch.xml": ("", 0),
    "/site.webmanifest": ("", 0),
    "/nowhere": ("", 0),
}
"""The requests of each page, and its round trips, where its copies are there."""


def test_no_page_asks_for_more_than_it_shows(ask: Ask, now: datetime, posted: list[Deal]) -> None:
    refresher.refresh(page_cache.PARTS, set(), set())
    # Apple's three are of two or three months, the newest deals of three days; a deal's page asks for its brand's deals
    # of this month, of the one before and of its own, which others have any, and for its brand's at this price.
    months = {f"{deal.created_at:%Y-%m}" for deal in posted if deal.brand == "apple"}
    days = {deal.created_at.date() for deal in posted}
    asked_for = {f"{when:%Y-%m}" for when in (now, now.replace(day=1) - timedelta(days=1), posted[0].created_at)}
    days_of_shoes = {deal.created_at.date() for deal in posted if deal.category == "shoes"}
    numbers = {
        "items": 2 + cases("BESIDE").count("GetItem"),
        "beside": 4 + len(asked_for) + cases("BESIDE").count("Query"),
        "of_brand": 1 + len(months),
        "of_all": 3 + len(days),
        "of_category": 3 + len(days_of_shoes),
    }
    expected = {page: (told.format_map(numbers), trips) for page, (told, trips) in COSTS.items()}
    taken = {}

    for page in COSTS:
        cached_pages.memory.cache_clear()
        path, _, typed = page.format(number=posted[0].number, deal_id=posted[0].deal_id).partition("?q=")
        with watched(environment.table()) as wire:
            ask(path, query={"q": typed} if typed else None)
        told = ", ".join(f"{operation} {times}" for operation, times in sorted(wire.operations.items()))
        taken[page] = (told, wire.round_trips)

    assert taken == expected


def test_older_deals_of_a_topic_are_asked_for_together_with_its_name(ask: Ask, table: Table, now: datetime) -> None:
    newest = post(table, of_two_brands(2 * READ_FOR_CARDS + 5, now), now)[0]

    for feed in (feed_of(APPLE), feed_of(SHOES)):
        with watched(environment.table()) as wire:
            answer = ask(
                fragments.path_of(feed), query={"cursor": identifiers.cursor_after(feeds.scope(feed), newest.deal_id)}
            )

        shown = [len(parsed(each).findall(".//li[@class='card']")) for each in (answer, ask(fragments.path_of(feed)))]
        assert shown == [views.FULL_ROWS] * 2
        assert wire.operations == {"GetItem": 1, "Query": 1}
        assert wire.round_trips == 1


def test_a_deal_is_shown_beside_those_of_the_brand_that_it_has_now_however_old_they_are(
    ask: Ask, table: Table, now: datetime, posted: list[Deal]
) -> None:
    lamp = next(deal for deal in posted if deal.category == "home")
    long_ago, link = now - timedelta(days=200), "https://s.example/old"
    post(table, [a_deal(long_ago, brand="asics", brand_name="ASICS", title="An old one", link=link)], now)

    before = ask(f"/deals/{lamp.number}")["body"]
    deals.edit(table, lamp.deal_id, {"brand": "apple"}, now)
    after = ask(f"/deals/{lamp.number}")["body"]

    assert ("More from ASICS" in before, "An old one" in before) == (True, True)
    assert ("More from Apple" in after, "Trail runner" in after) == (True, True)


def test_a_brand_that_has_one_deal_this_month_is_shown_with_those_of_the_month_before(
    ask: Ask, table: Table, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = now.replace(day=28, hour=12)
    monkeypatch.setattr(times, "now", lambda: late)
    before = late.replace(day=1) - timedelta(days=5)
    made = [a_deal(late - timedelta(days=1), title="Alone", link="https://shop.example/alone")]
    made += [a_deal(before, title=f"Before {n}", link=f"https://shop.example/before-{n}") for n in range(3)]
    alone = indexed(table, post(table, made, late))[0]

    body = ask(f"/deals/{alone.number}")["body"]

    assert "More from Apple" in body
    assert body.count(">Before ") == 3


def test_a_query_of_any_name_is_only_a_query(ask: Ask, posted: list[Deal]) -> None:
    statuses = {"/deals": 400, "/deals/": 301, "/brands/Apple": 301, "/search": 400, "/nowhere/": 301}
    for path, status in statuses.items():
        for name in ("path", "template", "prefix", "status", "self", "request", "notice"):
            assert ask(path, query={"cursor": "forged", "q": "trail", name: "x"})["statusCode"] == status, (path, name)


def test_a_deals_id_leads_to_its_number_and_what_never_was_is_not_found(ask: Ask, posted: list[Deal]) -> None:
    answer = ask(f"/deals/{posted[0].deal_id}")

    assert answer["statusCode"] == 301
    assert answer["multiValueHeaders"]["Location"] == [f"/deals/{posted[0].number}"]
    for number in ("999999", "nothing", "1e3", "%00", "-1", "٣"):
        assert ask(f"/deals/{number}")["statusCode"] == 404


def test_a_deal_that_ended_says_so_and_one_that_was_withdrawn_is_gone_and_says_nothing_of_its_end(
    ask: Ask, table: Table, now: datetime, posted: list[Deal]
) -> None:
    path = f"/deals/{posted[0].number}"
    deals.edit(table, posted[0].deal_id, {"ends_at": now + timedelta(days=900)}, now)
    before = ask(path)["body"]
    deals.edit(table, posted[0].deal_id, {"ends_at": now - timedelta(seconds=5)}, now)
    ended = ask(path)
    deals.withdraw(table, posted[0].deal_id, now)

    gone = ask(path)

    assert "<dt>Ends</dt>" in before
    assert "<span>Go to the shop</span> <small>shop.example</small>" in before
    assert (ended["statusCode"], gone["statusCode"]) == (200, 410)
    for present in ("This deal ended on", "<dt>Ended</dt>", 'name="robots" content="noindex'):
        assert present in ended["body"]
    assert 'rel="canonical"' not in ended["body"]
    assert "This deal was withdrawn." in gone["body"]
    for absent in ("<dt>Ended</dt>", "<dt>Ends</dt>"):
        assert absent not in gone["body"]


def test_another_spelling_of_a_list_leads_to_its_page(ask: Ask) -> None:
    for name in ("Apple", "APPLE", "%C3%81pple"):
        answer = ask(f"/brands/{name}")

        assert (answer["statusCode"], answer["multiValueHeaders"].get("Location")) == (301, ["/brands/apple"])


def test_a_topic_without_deals_shows_what_ended(ask: Ask, table: Table, now: datetime, posted: list[Deal]) -> None:
    for deal in posted:
        over = deals.edit(table, deal.deal_id, {"ends_at": now - timedelta(seconds=5)}, now)
        offers.file(table, deal, over, has_ended=True)

    for path in ("/brands/apple", "/categories/shoes"):
        body = ask(path)["body"]

        assert "has no deals right now" in body
        assert body.index(">Watch<") < body.index(">Recently ended<") < body.index(">Trail runner<")
        assert 'class="tag over"' in body


def test_what_is_unknown_or_has_no_deals_leads_to_brands_or_categories(ask: Ask, table: Table) -> None:
    brand, category = ask("/brands/aple"), ask("/categories/toys")
    topics.create_brand(table, "home", "Home", times.now())
    empty = [ask(path)["body"] for path in ("/brands/home", "/categories/home")]

    assert (brand["statusCode"], category["statusCode"]) == (404, 404)
    assert 'href="/brands/apple"' in brand["body"]
    assert [body.count('class="tile t-') for body in (category["body"], *empty)] == [8, 8, 7]
    assert ['class="tile t-home"' in body for body in empty] == [True, False]
    assert ask("/brands/nobodys", query={"cursor": "forged"})["statusCode"] == 404


def test_a_title_from_right_to_left_orders_nothing_else(ask: Ask, table: Table, now: datetime) -> None:
    title = "נעלי ריצה 270"
    (deal,) = post(table, [a_deal(now - timedelta(minutes=1), title=title)], now)
    worded(table, [deal])

    found, own = parsed(ask("/search", query={"q": "270"})), parsed(ask(f"/deals/{deal.number}"))

    for document, level in ((found, "h2/a"), (own, "h1")):
        assert [each.text for each in document.findall(f".//{level}[@dir='auto']")] == [title]


def test_a_pages_header_follows_an_edit(ask: Ask, table: Table, now: datetime, posted: list[Deal]) -> None:
    deal, edited = posted[0], now + timedelta(minutes=1)
    deals.edit(table, deal.deal_id, {"title": "Renamed"}, edited)

    assert ask(f"/deals/{deal.number}")["multiValueHeaders"]["Last-Modified"] == [times.to_http(edited)]


def test_what_ends_within_seven_times_24_hours_is_shown_page_by_page(
    ask: Ask, table: Table, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "MOST_ENDING", 3)
    week = timedelta(days=7)
    lasts = [timedelta(hours=30), timedelta(hours=60), *(week + timedelta(seconds=each) for each in (0, 0, 600))]
    made = [
        a_deal(now - timedelta(minutes=ago), title=f"Ends {n}", ends_at=now + left, link=f"https://s.example/{n}")
        for n, (ago, left) in enumerate(zip((1, 0, 3, 2, 4), lasts, strict=True))
    ]
    post(table, made, now)

    shown = [[link.text for link in document.findall(".//h3/a")] for document in walked(ask, "/ending")]

    assert shown == [["Ends 0", "Ends 1", "Ends 2"], ["Ends 3"]]


def test_machines_find_where_things_are(ask: Ask) -> None:
    for path, media_type in {
        "/site.webmanifest": "application/manifest+json",
        "/opensearch.xml": "application/opensearchdescription+xml",
    }.items():
        answer = ask(path)

        assert (answer["statusCode"], answer["multiValueHeaders"]["Content-Type"]) == (200, [media_type])


def test_assets_are_kept_for_ever_under_their_contents_name_and_texts_are_sent_as_text(ask: Ask) -> None:
    for name in ("site.css", "site.js", "mark.svg", "glyphs.svg"):
        answer = ask(f"/assets/{links.served_name(name)}")

        assert answer["multiValueHeaders"]["Cache-Control"] == ["public, max-age=31536000, immutable"]
        assert not answer["isBase64Encoded"], "without Accept, the gateway would send the base64"
        assert answer["body"].encode() == (links.asset(links.served_name(name)) or (b"", ""))[0]
    assert ask("/assets/site.css")["statusCode"] == 404
    assert ask("/assets/..%2Fbase.html")["statusCode"] == 404


def test_no_header_says_where_links_lead_and_no_cookie_or_query_what_a_page_says(
    ask: Ask, posted: list[Deal], now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else one request could leave a page at the edge that leads everyone elsewhere."""
    monkeypatch.setattr(times, "now", lambda: now)  # pages change with the clock
    poison = {
        "Host": "evil.example",
        "Origin": "https://evil.example",
        "X-Forwarded-Host": "evil.example",
        "X-Forwarded-Proto": "http",
        "X-Original-URL": "/evil",
        "Forwarded": "host=evil.example",
        "Cookie": "__Host-btd=guessed; __Host-btd-in=1; btd-notice=signed-out",
    }
    for path in ("/", "/deals", *cases("OF_NO_HEADER")):
        assert ask(path, headers=poison) == ask(path)
    assert 'data-notice="signed-out" hidden>You’re signed out.<' in ask("/", query={"notice": "signed-out"})["body"]
    unknown = ask("/", query={"notice": "Buy at evil"})
    assert (unknown["statusCode"], "Buy at evil" in unknown["body"]) == (200, False)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(title=st.text(min_size=1, max_size=300), code=st.text(min_size=1, max_size=40))
def test_whatever_an_editor_typed_stays_text(ask: Ask, table: Table, now: datetime, title: str, code: str) -> None:
    (deal,) = post(table, [a_deal(now, title=f"<script>{title}</script><img src=x>", coupon_code=f'"><b>{code}')], now)

    for path in (f"/deals/{deal.number}", "/brands/apple"):
        answer = ask(path)
        assert answer["statusCode"] == 200
        document = parsed(answer, strict=False)
        scripts = [each for each in document.findall(".//script") if each.get("src") is None]
        assert {each.get("type") for each in scripts} <= {"application/ld+json"}
        assert document.findall(".//code//b") == document.findall(".//img[@src='x']") == []


def test_pages_joined_from_copies_say_the_same_below_the_sites_prefix(
    ask: Ask, table: Table, now: datetime, posted: list[Deal], monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = ("/", "/deals", "/editors-choice", "/categories/shoes")
    picks.set_featured(table, FRONT_PAGE, [posted[0].deal_id], now)
    made = [ask(path)["body"] for path in paths]
    changed = (posted[0].deal_id, posted[0].category)  # only the clock counts bargains, without a change
    refresher.refresh(page_cache.PARTS, {changed}, set())

    for path, body in zip(paths, made, strict=True):
        cached_pages.memory.cache_clear()
        with watched(environment.table()) as wire:
            joined = ask(path)["body"]

        assert wire.operations == {"BatchGetItem": 1}
        assert joined == body
    monkeypatch.setenv("SITE_BASE", "/web")
    links = [link.get("href") for link in parsed(ask("/deals")).findall(".//a")]
    assert all(link.startswith(("/web/", "#")) for link in links)


OF_ONE_READER = (
    {"User-Agent": "another browser"},
    {"Accept-Language": "de"},
    {"Accept": "*/*"},
    {"Referer": "https://any-page.example/"},
    {"Origin": "https://any-page.example"},
    {"Sec-Fetch-Site": "cross-site"},
    {"X-Forwarded-For": "203.0.113.9"},
    {"X-Forwarded-Host": "any-page.example"},
    {"Forwarded": "for=203.0.113.9"},
    {"X-Request-Id": "another"},
    {"DNT": "1"},
)
"""Headers of a request on which no page for everyone depends."""


def test_a_page_for_everyone_changes_with_the_clock_and_with_the_copy_that_is_read_and_with_nothing_else(
    ask: Ask, table: Table, posted: list[Deal], now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    deals.edit(table, posted[0].deal_id, {"ends_at": now + timedelta(minutes=90)}, now)
    picks.set_featured(table, FRONT_PAGE, [posted[0].deal_id], now)
    pages = [*PAGES, f"/deals/{posted[0].number}"]

    def seen(at: datetime, shard: int, headers: dict[str, str]) -> dict[str, Any]:
        """All that the pages answer at one moment, from the copies of one shard."""
        cached_pages.memory.cache_clear()
        with pytest.MonkeyPatch.context() as given:
            given.setattr(times, "now", lambda: at)
            given.setattr(cached_pages, "_any_shard", lambda: shard)
            return {path: ask(path, headers=headers) for path in pages}

    def differ(one: dict[str, Any], other: dict[str, Any]) -> set[str]:
        return {path for path in pages if one[path] != other[path]}

    refresher.refresh(page_cache.PARTS, set(), set())
    first = seen(now, 1, {})
    for headers in OF_ONE_READER:
        assert differ(first, seen(now, 2, headers)) == set(), headers
    assert f"/deals/{posted[0].number}" in differ(first, seen(now + timedelta(hours=2), 1, {}))

    before = [table.get(part.key(2, form)) for part in page_cache.PARTS for form in (page_cache.JSON, page_cache.HTML)]
    post(table, [a_deal(now, title="Brand new")], now)
    refresher.refresh(page_cache.PARTS, set(), set())
    put_all(table, [item for item in before if item])  # one shard is written after the other

    assert "/deals" in differ(seen(now, 1, {}), seen(now, 2, {}))
    monkeypatch.setenv("SHOWS_WORK", "true")  # and the requests below a page have their milliseconds
    shown, again = (seen(now, 1, {}) for _ in range(2))
    assert (shown["/about"]["body"] != first["/about"]["body"]) is bool(features.modules("panel"))
    tags = [[answers[path]["multiValueHeaders"]["ETag"] for path in pages] for answers in (shown, again)]
    assert tags[0] == tags[1]
