"""The page of the demo on which a visitor imports a feed, on the laptop's Python and engine."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import nh3
import pytest

from features.feeds import in_tab, markup_in_tab
from features.feeds.texts import without_tags
from shared.dynamodb.table import Table
from tests.support.browsing import ORIGIN, Browser, Seen, posted
from tests.support.engines import DYNOXIDE_ENGINE
from tests.support.surroundings import hand_over, surrounded

FILES = Path(__file__).with_name("files")
SHOP = {"source": "Marlow", "shop": "https://marlow.example", "category": "clothing"}


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Iterator[Table]:
    with DYNOXIDE_ENGINE.table() as own, surrounded(monkeypatch, own, SITE_ORIGIN=ORIGIN, SITE_BASE=""):
        hand_over(monkeypatch, own, in_tab)
        yield own


def sent(content: bytes, fetch_site: str = "same-origin", **fields: str) -> Seen:
    """The answer to the form with a file, as the demo's site hands it on."""
    browser = Browser(
        {"/import": lambda event, context: in_tab.handler({**event, "files": {"file": content}}, context)}
    )
    browser.fetch_site = fetch_site
    return browser.post("/import", {**SHOP, **fields})


def lines(count: int) -> bytes:
    records = (
        {"sourceId": str(n), "title": f"Coat {n}", "link": f"https://marlow.example/{n}", "price": "20",
         "listPrice": "30", "brand": "Marlow", "category": "clothing"}
        for n in range(count)
    )  # fmt: skip
    return "\n".join(map(json.dumps, records)).encode()


@pytest.mark.parametrize("name", ["google.xml", "shopify.csv", "deals.json", "google-semicolons.csv"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_shops_file_is_imported_and_a_repeat_creates_nothing(table: Table, name: str, packed: bool) -> None:
    content = (FILES / name).read_bytes()
    content = gzip.compress(content) if packed else content

    first, again = sent(content), sent(content)

    there = posted(table)
    assert (first.status, again.status) == (200, 200)
    assert there
    assert f"{len(there)} deal" in first.words
    assert "created" not in again.words
    assert f"{len(there)} deal" in again.words
    assert "See the latest deals" in first.words
    assert "See the latest deals" not in again.words


def test_of_a_long_file_the_first_thousand_records_are_imported(table: Table) -> None:
    seen = sent(lines(1001))

    assert "1,000 deals created" in seen.words
    assert "Only the first 1,000 records are read." in seen.words
    assert "Only the first" not in sent(lines(1000)).words
    assert len(posted(table)) == 100  # of which a page shows so many


@pytest.mark.parametrize(
    ("content", "fields", "says"),
    [
        (b"", {}, "Choose a file."),
        (lines(1), {"source": " "}, "Name of the shop must be filled in."),
        (lines(1), {"shop": "marlow"}, "must be an address, such as https://shop.example."),
        (lines(1), {"category": "cars"}, "Choose a category."),
    ],
)
def test_a_form_that_lacks_something_imports_nothing(
    table: Table, content: bytes, fields: dict[str, str], says: str
) -> None:
    seen = sent(content, **fields)

    assert seen.status == 422
    assert says in seen.words
    assert posted(table) == []


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"<!doctype html><title>A shop</title>", "This is a web page and not a feed"),
        (b"\x00\x01\x02", "This is not a text file"),
        (b'<rss><channel><item><title>"', "The file cannot be read"),
        (b'<!DOCTYPE x [<!ENTITY a "b">]><rss><channel/></rss>', "The file declares XML entities."),
    ],
)
def test_a_file_that_is_no_feed_gets_one_sentence(table: Table, content: bytes, says: str) -> None:
    seen = sent(content)

    assert seen.status == 200
    assert says in seen.words
    assert posted(table) == []


def test_a_form_of_another_site_imports_nothing(table: Table) -> None:
    assert sent(lines(1), fetch_site="cross-site").status == 403
    assert posted(table) == []


MARKUP = (
    "A <b>warm</b> coat", "<p>One</p><p>Two</p>", "1 &lt; 2 &amp;&nbsp;3", "<script>alert(1)</script>Coat",
    "<style>p { color: red }</style><p class='x' onclick='y()'>Red", "Coat<br>blue<img src=x onerror=y()>",
    "a <!-- b --> c", "<ul><li>wool<li>silk</ul>", "<div><script>1</script>two</div>", "Zelen&#225; &euro;5",
)  # fmt: skip


@pytest.mark.parametrize("markup", MARKUP)
def test_the_tabs_parser_of_html_leaves_the_text_that_nh3_leaves(monkeypatch: pytest.MonkeyPatch, markup: str) -> None:
    wanted = without_tags(markup)

    monkeypatch.setattr(nh3, "clean", markup_in_tab.clean)

    assert without_tags(markup) == wanted
