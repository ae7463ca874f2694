"""The textbook in a real browser: its hour walked without script, accessible, and whole at 320 px."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from shared.learn import lessons
from tests.support.quality import violations
from tests.support.windows import Visit

pytestmark = pytest.mark.usefixtures("shown")


def test_the_path_is_walked_and_run_without_script(visit: Visit) -> None:
    page = visit("/", script=False)
    page.get_by_role("link", name="Learn", exact=True).click()
    page.get_by_role("link", name="Begin").click()

    for lesson in lessons.path()[:2]:
        expect(page.get_by_role("heading", level=1)).to_have_text(lesson.question)
        page.get_by_role("button", name="Run it").click()
        expect(page.locator("#came .sent").last).to_be_visible()
        page.get_by_role("link", name="Next:").click()

    page.get_by_role("link", name="Learn", exact=True).first.click()
    expect(page.get_by_role("link", name="Continue")).to_have_attribute("href", f"/learn/{lessons.path()[2].slug}")


@pytest.mark.thorough
def test_each_lesson_is_run_by_its_button(visit: Visit) -> None:
    """Complaints of the browser on any of the pages are failures (``visit``)."""
    page = visit("/learn")
    for slug, lesson in lessons.by_slug().items():
        page.goto(f"/learn/{slug}")
        expect(page.get_by_role("heading", level=1), slug).to_have_text(lesson.question)
        if lesson.can_run:
            page.get_by_role("button", name="Run it").click()
            expect(page.locator("#came .sent").first, slug).to_be_visible(timeout=10_000)


@pytest.mark.parametrize("slug", ["sparse-index", "by-partition"])
def test_a_lesson_that_was_run_is_accessible_and_no_wider_than_its_window(visit: Visit, slug: str) -> None:
    page = visit(f"/learn/{slug}")
    page.get_by_role("button", name="Run it").click()

    expect(page.locator("#came .sent").first).to_be_visible()
    assert violations(page) == []


def test_the_contents_and_a_value_that_is_none_are_accessible(visit: Visit) -> None:
    page = visit("/learn")
    assert violations(page) == []

    page.goto("/learn/by-partition?value=No%20Brand")

    expect(page.get_by_text("Use small letters, digits and hyphens.")).to_be_visible()
    assert violations(page) == []


def test_a_question_and_a_term_need_no_script(visit: Visit) -> None:
    page = visit("/learn/item-collection", script=False)
    page.get_by_role("button", name="sort key").click()
    expect(page.get_by_text(lessons.glossary()["sort key"])).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="At the first order").click()

    expect(page.locator(".because")).to_be_visible()


def test_an_answered_question_and_an_open_term_are_accessible(visit: Visit) -> None:
    page = visit("/learn/item-collection")  # axe needs script
    page.get_by_role("button", name="At the first order").click()
    expect(page.locator(".because")).to_be_visible()
    page.get_by_role("button", name="sort key").click()
    expect(page.get_by_text(lessons.glossary()["sort key"])).to_be_visible()

    assert violations(page) == []


def test_on_a_phone_a_partition_scrolls_inside_itself(visit: Visit) -> None:
    page = visit("/learn/sparse-index", width=320)

    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert page.locator(".lying").first.evaluate(
        "e => e.scrollWidth > e.clientWidth && e.scrollHeight > e.clientHeight"
    )
    assert page.locator(".lying thead th").first.evaluate("e => getComputedStyle(e).textTransform") == "none"
