"""The documents as a site: each is in its menu, links lead somewhere, and nothing is loaded from another host."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from shared import features, hooks
from tools import documents, site

LOADS = {("script", "src"), ("link", "href"), ("img", "src"), ("source", "src"), ("iframe", "src")}
ABSOLUTE = ("http:", "https:", "//")


class Seen(HTMLParser):
    """The ids of a page, where its links lead, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.loads: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.ids.add(value)
            elif value and (tag, name) in LOADS:
                self.loads.add(value)
            elif value and (tag, name) == ("a", "href"):
                self.links.add(value)


@pytest.fixture(scope="session")
def pages() -> dict[Path, Seen]:
    return built()


@cache
def built() -> dict[Path, Seen]:
    """The pages of the site, built once for all modules of tests."""
    site.build()
    return {path: Seen(path.read_text(encoding="utf-8")) for path in site.SITE.rglob("*.html")}


def test_each_document_is_a_page_of_the_menu() -> None:
    menu = tomllib.loads(site.write_config().read_text(encoding="utf-8"))["project"]["nav"]

    listed = set(re.findall(r"'([\w-]+\.md)'", str(menu)))

    shown = {str(site.page_of(str(document.relative_to(documents.ROOT)))) for document in documents.all_documents()}
    of_features = {path for each in features.roles(hooks.Generated) for path in each.MENU.values()}
    assert listed == shown | {str(site.page_of(path)) for path in of_features}


def test_each_link_leads_to_a_page_and_to_a_place_on_it(pages: dict[Path, Seen]) -> None:
    dead = []
    for path, seen in pages.items():
        for link in seen.links:
            target = urlsplit(link)
            if target.scheme or path.name == "404.html":  # which may be shown at any address
                continue
            if target.path == "demo/":  # make demo builds it: the test below holds where these lead
                continue
            page = (path.parent / unquote(target.path)).resolve() if target.path else path
            if not page.exists() or (target.fragment and page in pages and target.fragment not in pages[page].ids):
                dead.append(f"{path.relative_to(site.SITE)}: {link}")

    assert len(pages) > 40
    assert dead == []


def test_the_overview_leads_to_the_demo_and_a_lost_address_of_the_demo_into_it(pages: dict[Path, Seen]) -> None:
    assert "demo/" in pages[site.SITE / "index.html"].links
    assert '"/demo/site/"' in (site.SITE / "404.html").read_text(encoding="utf-8")


def test_a_link_to_a_line_of_code_leads_to_that_line(pages: dict[Path, Seen]) -> None:
    readme = pages[site.SITE / "index.html"]

    assert any(re.fullmatch(r"code/shared/data/members/follows\.py\.html#__span-0-\d+", link) for link in readme.links)


def test_the_site_loads_nothing_from_another_host(pages: dict[Path, Seen]) -> None:
    sheets = "".join(path.read_text(encoding="utf-8") for path in site.SITE.rglob("*.css"))

    assert {load for seen in pages.values() for load in seen.loads if load.startswith(ABSOLUTE)} == set()
    assert re.findall(r"(?:url\(|@import )[\"']?(?:https?:)?//[^)\"']+", sheets) == []
    # The theme's script would fetch a program that draws these.
    assert [path for path in site.SITE.rglob("*.html") if 'class="mermaid"' in path.read_text(encoding="utf-8")] == []
