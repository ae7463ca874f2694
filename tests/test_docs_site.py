"""The documents as a site: each is in its menu, links lead somewhere, and nothing is loaded from another host."""

from __future__ import annotations

import re
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from features.textbook import exercises, lessons
from features.textbook import generated as textbook
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


@pytest.fixture(scope="module")
def pages() -> dict[Path, Seen]:
    site.build()
    return {path: Seen(path.read_text(encoding="utf-8")) for path in site.SITE.rglob("*.html")}


def test_each_document_is_a_page_of_the_menu() -> None:
    menu = tomllib.loads(site.write_config().read_text(encoding="utf-8"))["project"]["nav"]

    listed = set(re.findall(r"'([\w-]+\.md)'", str(menu)))

    shown = {str(site.page_of(str(document.relative_to(documents.ROOT)))) for document in documents.all_documents()}
    assert listed == shown | {str(site.page_of(textbook.CONTENTS))}


def test_each_lesson_is_a_page_that_the_contents_lead_to(pages: dict[Path, Seen]) -> None:
    contents = pages[site.SITE / "learn.html"]

    for lesson in lessons.by_slug().values():
        page = site.SITE / f"learn-{lesson.slug}.html"
        assert page in pages
        assert page.name in contents.links


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


def test_each_exercise_is_a_page_that_the_contents_lead_to_and_that_leads_to_the_demo(pages: dict[Path, Seen]) -> None:
    for slug in exercises.by_slug():
        assert f"learn-{slug}.html" in pages[site.SITE / "learn.html"].links
        assert f"demo/#/learn/{slug}" in pages[site.SITE / f"learn-{slug}.html"].links


@pytest.mark.usefixtures("pages")
def test_each_lesson_that_runs_shows_answers_that_the_build_recorded_and_says_so() -> None:
    for lesson in lessons.by_slug().values():
        text = (site.SOURCES / f"learn-{lesson.slug}.md").read_text(encoding="utf-8")

        assert ("The answers on this page were recorded when it was built, on " in text) == lesson.can_run
        came = re.findall(r"^```\n\n(Refused.*|Written.*|\d+ items?.*)\.$", text, re.MULTILINE)
        assert len(came) >= len([*lesson.common, *lesson.ours]) or lesson.live
        assert [each for each in lesson.common if each.refused and f"`{each.refused}`" not in text] == []
        assert "LEARN#you#" not in text.replace("LEARN#you#run", "")


def test_each_lesson_that_runs_leads_to_itself_in_the_demo(pages: dict[Path, Seen]) -> None:
    for lesson in lessons.by_slug().values():
        links = {each for each in pages[site.SITE / f"learn-{lesson.slug}.html"].links if each.startswith("demo/")}

        assert links == ({f"demo/#/learn/{lesson.slug}"} if lesson.can_run or lesson.figure else set())


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
