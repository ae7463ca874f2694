"""The lessons as pages of the documents' site."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from features.textbook import exercises, lessons
from tests.test_docs_site import Seen, pages  # noqa: F401  # fixtures
from tools import site


def test_each_lesson_is_a_page_that_the_contents_lead_to(pages: dict[Path, Seen]) -> None:
    contents = pages[site.SITE / "learn.html"]

    for lesson in lessons.by_slug().values():
        page = site.SITE / f"learn-{lesson.slug}.html"
        assert page in pages
        assert page.name in contents.links


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
