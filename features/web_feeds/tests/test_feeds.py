"""Feeds of lists and searches."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from urllib.parse import parse_qsl
from xml.etree import ElementTree as ET

import feedparser  # type: ignore[import-untyped]  # publishes no types
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.data.catalog import deals, search
from shared.data.catalog.deals import to_item
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put
from shared.models.catalog import Deal
from shared.values import times
from tests.pages.conftest import ask, now, posted, table  # noqa: F401  # fixtures
from tests.support.browsing import Ask, parsed
from tests.support.factories import a_deal, post


@pytest.mark.parametrize("filled", [True, False], ids=["deals", "empty"])
def test_every_list_and_search_is_a_feed(ask: Ask, filled: bool, request: pytest.FixtureRequest) -> None:
    count = len([deal for deal in request.getfixturevalue("posted") if deal.brand == "apple"]) if filled else 0

    for path in ("/feed", "/brands/apple/feed", "/categories/shoes/feed"):
        read = feedparser.parse(ask(f"{path}.atom")["body"])
        items = json.loads(ask(f"{path}.json")["body"])["items"]

        assert not read.bozo, read.get("bozo_exception")
        assert read.version == "atom10"
        assert len(read.entries) == len(items) >= count
        assert all(entry.link.startswith("https://deals.example/deals/") for entry in read.entries)
    found = feedparser.parse(ask("/feed.atom", query={"q": "lamp"})["body"])
    assert [entry.title for entry in found.entries] == (["Café lamp: $31.90"] if filled else [])


def test_a_feed_that_never_was_is_said_as_machines_read_it(ask: Ask) -> None:
    for path in ("/brands/nobodys/feed", "/categories/toys/feed"):
        in_json, in_xml = ask(f"{path}.json"), ask(f"{path}.atom")

        assert (in_json["statusCode"], in_xml["statusCode"]) == (404, 404)
        assert in_json["multiValueHeaders"]["Content-Type"] == ["application/problem+json"]
        assert in_xml["multiValueHeaders"]["Content-Type"] == ["application/problem+xml"]
        assert json.loads(in_json["body"])["title"] == "Not Found"
        assert ET.fromstring(in_xml["body"]).tag == "{urn:ietf:rfc:7807}problem"


def test_a_lists_feeds_are_found_by_readers_of_feeds(ask: Ask, posted: list[Deal]) -> None:
    feeds_of = {
        "/": "/feed",
        "/deals": "/feed",
        **{path: f"{path}/feed" for path in ("/brands/apple", "/categories/shoes")},
        **dict.fromkeys(("/search?q=trail+runner", "/search?q=zeppelin"), "/feed"),
    }
    for page, feed in feeds_of.items():
        path, _, query = page.partition("?")
        document = parsed(ask(path, query=dict(parse_qsl(query)) or None))

        shown = {link.get("type"): link.get("href") for link in document.findall(".//link[@rel='alternate']")}
        assert shown == {
            f"application/{kind}": f"{feed}.{ending}{'?' if query else ''}{query}"
            for kind, ending in (("atom+xml", "atom"), ("feed+json", "json"))
        }
    assert parsed(ask("/search")).find(".//link[@rel='alternate']") is None


@pytest.mark.parametrize(("list_price", "told"), [("158.00", ", was $158.00."), ("31.90", ".")])
def test_a_feed_shows_a_higher_list_price(ask: Ask, table: Table, now: datetime, list_price: str, told: str) -> None:
    post(table, [a_deal(now, list_price=list_price)], now)

    (item,) = json.loads(ask("/feed.json")["body"])["items"]

    assert item["content_text"] == f"Apple: Trail runner for $31.90{told}"


def test_another_spelling_of_a_list_leads_to_its_feed(ask: Ask) -> None:
    for typed, known in (
        ("/brands/Apple/feed.atom", "/brands/apple/feed.atom"),
        ("/categories/SHOES/feed.json", "/categories/shoes/feed.json"),
    ):
        answer = ask(typed)

        assert (answer["statusCode"], answer["multiValueHeaders"].get("Location")) == (301, [known])


def test_a_feed_follows_an_edit(ask: Ask, table: Table, now: datetime, posted: list[Deal]) -> None:
    deal, edited = posted[0], now + timedelta(minutes=1)
    deals.edit(table, deal.deal_id, {"title": "Renamed"}, edited)

    atom = feedparser.parse(ask("/feed.atom")["body"])
    (entry,) = (each for each in atom.entries if each.title.startswith("Renamed"))
    assert (entry.published, entry.updated, atom.feed.updated) == (
        times.to_iso(deal.created_at), times.to_iso(edited), times.to_iso(edited),
    )  # fmt: skip
    (item,) = (each for each in json.loads(ask("/feed.json")["body"])["items"] if each["id"] == deal.deal_id)
    assert item["date_modified"] == times.to_iso(edited)
    for path in ("/feed.atom", "/feed.json"):
        assert ask(path)["multiValueHeaders"]["Last-Modified"] == [times.to_http(edited)]


def test_a_title_from_right_to_left_orders_nothing_else(ask: Ask, table: Table, now: datetime) -> None:
    title = "נעלי ריצה 270"
    post(table, [a_deal(now - timedelta(minutes=1), title=title)], now)

    (entry,) = feedparser.parse(ask("/feed.atom")["body"]).entries

    assert entry.title == f"\u2068{title}\u2069: $31.90"


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(title=st.text(min_size=1, max_size=300), code=st.text(min_size=1, max_size=40))
def test_whatever_an_editor_typed_stays_text(ask: Ask, table: Table, now: datetime, title: str, code: str) -> None:
    post(table, [a_deal(now, title=f"<script>{title}</script><img src=x>", coupon_code=f'"><b>{code}')], now)

    assert not feedparser.parse(ask("/feed.atom")["body"]).bozo


def test_a_deal_without_a_number_is_named_by_its_id(ask: Ask, table: Table, now: datetime) -> None:
    deal = a_deal(now, title="Unnumbered lamp")
    table.write(put(to_item(deal, now), because="deals are numbered where they are created"))
    search.file(table, None, deal)
    own = f"https://deals.example/deals/{deal.deal_id}"

    atom, in_json = (ask(path, query={"q": "lamp"})["body"] for path in ("/feed.atom", "/feed.json"))

    assert [entry.link for entry in feedparser.parse(atom).entries] == [own]
    assert [item["url"] for item in json.loads(in_json)["items"]] == [own]
