"""The textbook in a real browser: its hour walked without script, accessible, and whole at 320 px."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from features.textbook import exercises, lessons
from features.workings.tests.test_site import shown
from tests.site.conftest import people, site
from tests.site.test_states import answer
from tests.support.browser import Visit
from tests.support.preview import Preview
from tests.support.quality import invalid_html, violations
from tests.support.states import State

__all__ = ["people", "shown", "site"]

pytestmark = pytest.mark.usefixtures("shown")


def test_the_path_is_walked_and_run_without_script(visit: Visit) -> None:
    page = visit("/", script=False)
    expect(page.get_by_role("link", name="Learn single-table design")).to_be_in_viewport(ratio=1)
    page.get_by_role("banner").get_by_role("link", name="Learn", exact=True).click()
    page.get_by_role("link", name="Begin", exact=True).click()

    for lesson in lessons.path()[:2]:
        expect(page.get_by_role("heading", level=1)).to_have_text(lesson.question)
        page.get_by_role("button", name="Run it").click()
        expect(page.locator("#came .sent").last).to_be_visible()
        page.get_by_role("link", name="Next:").click()

    page.get_by_role("link", name="Learn", exact=True).first.click()
    expect(page.get_by_role("link", name="Continue")).to_have_attribute("href", f"/learn/{lessons.path()[2].slug}")


def test_the_first_screen_of_a_phone_links_to_the_textbook(visit: Visit) -> None:
    page = visit("/", width=320)
    link = page.get_by_role("navigation", name="Sections").get_by_role("link", name="Learn", exact=True)

    expect(link).to_be_in_viewport(ratio=1)
    link.click()

    expect(page.locator(".bar a[aria-current]")).to_have_text("Learn")


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


PART_0 = [lesson.slug for lesson in lessons.groups()[0].lessons]


@pytest.mark.parametrize(
    "slug",
    [
        pytest.param(slug, marks=[] if slug == "units" else [pytest.mark.thorough])
        for slug in ("by-partition", "sparse-index", *PART_0)
        if slug != "partitions"
    ],
)
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


def test_sliders_and_a_calculator_need_no_script(visit: Visit) -> None:
    page = visit("/learn/partitions", script=False)
    page.get_by_label("Keys that share the hot item").press("ArrowRight")
    page.get_by_role("button", name="Draw it").click()
    expect(page).to_have_url(re.compile("shards=2"))
    expect(page.locator("figcaption").last).to_contain_text("All are served.")

    page.goto("/learn/units")
    page.get_by_label("Size of the item, in bytes").fill("5000")
    page.get_by_label("In a transaction").check()
    page.get_by_role("button", name="Calculate").click()

    expect(page.get_by_role("row", name="Write")).to_contain_text("10 WRU")


def test_partitions_and_the_calculator_are_accessible(visit: Visit) -> None:
    page = visit("/learn/partitions?rate=20000&kind=writes")
    assert violations(page) == []

    page.goto("/learn/units?size=0&number=x")

    expect(page.get_by_text("Use a whole number from 2 to 409,600.")).to_be_visible()
    assert violations(page) == []


@pytest.mark.parametrize("slug", PART_0)
def test_no_page_of_part_0_is_wider_than_a_phone(visit: Visit, slug: str) -> None:
    assert visit(f"/learn/{slug}", width=320).evaluate("document.documentElement.scrollWidth") <= 320


def test_a_question_and_a_term_need_no_script(visit: Visit) -> None:
    page = visit("/learn/item-collection", script=False)
    page.locator("button.term", has_text="sort key").click()
    expect(page.get_by_text(lessons.glossary()["sort key"])).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="WISHES").click()

    expect(page.locator(".because")).to_be_visible()


def test_an_answered_question_and_an_open_term_are_accessible(visit: Visit) -> None:
    page = visit("/learn/item-collection")  # axe needs script
    page.get_by_role("button", name="WISHES").click()
    expect(page.locator(".because")).to_be_visible()
    page.locator("button.term", has_text="sort key").click()
    expect(page.get_by_text(lessons.glossary()["sort key"])).to_be_visible()

    assert violations(page) == []


def test_on_a_phone_a_partition_scrolls_inside_itself(visit: Visit) -> None:
    page = visit("/learn/sparse-index", width=320)

    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert page.locator(".lying").first.evaluate(
        "e => e.scrollWidth > e.clientWidth && e.scrollHeight > e.clientHeight"
    )
    assert page.locator(".lying thead th").first.evaluate("e => getComputedStyle(e).textTransform") == "none"


@pytest.mark.parametrize("slug", ["exercise-first-page", "exercise-nine-and-ten"])
def test_an_exercise_is_failed_then_solved_without_script(visit: Visit, slug: str) -> None:
    exercise = exercises.find(slug)
    page = visit(f"/learn/{slug}", script=False)

    page.get_by_role("button", name="Run and check").click()
    expect(page.get_by_role("heading", name="Not yet")).to_be_visible()
    page.get_by_text("A hint", exact=True).click()
    page.get_by_text("Another hint", exact=True).click()
    page.get_by_text("The solution", exact=True).click()
    expect(page.locator(".hint pre")).to_have_text(exercise.solution)
    page.locator("#f-request").fill(exercise.solution)
    page.get_by_role("button", name="Run and check").click()

    expect(page.get_by_role("heading", name="Solved")).to_be_visible()


def test_an_exercise_is_accessible_before_and_after_and_where_it_refuses(visit: Visit) -> None:
    page = visit("/learn/exercise-out-of-the-index")
    assert violations(page) == []

    page.get_by_role("button", name="Run and check").click()
    expect(page.get_by_role("heading", name="Not yet")).to_be_visible()
    for name in ("A hint", "Another hint", "The solution"):
        page.get_by_text(name, exact=True).click()
    assert violations(page) == []

    page.locator("#f-request").fill("Query")
    page.get_by_role("button", name="Run and check").click()
    expect(page.get_by_text("This is not JSON, in line 1. Nothing was sent.")).to_be_visible()
    assert violations(page) == []


@pytest.mark.parametrize("slug", ["exercise-from-32-units-to-3", "exercise-hot-key"])
def test_on_a_phone_an_exercise_is_one_column(visit: Visit, slug: str) -> None:
    page = visit(f"/learn/{slug}", width=320)
    page.get_by_role("button", name="Run and check").click()
    expect(page.get_by_role("heading", name="Not yet")).to_be_visible()

    assert page.evaluate("document.documentElement.scrollWidth") <= 320


@pytest.mark.thorough
def test_html_validate_finds_nothing(site: Preview, people: dict[str, str], tmp_path: Path) -> None:
    taught = {path: State(path) for path in ("/learn", "/learn/two-years", "/learn/pattern-12?value=1")}
    taught |= {f"/learn/{each.slug}": State(f"/learn/{each.slug}") for each in lessons.groups()[0].lessons}
    taught["sizes that are none"] = State("/learn/units?size=0&number=x")
    for slug, value in (("sparse-index", ""), ("hierarchy", "?")):
        taught[f"run {slug}"] = State(f"/learn/{slug}", form={"value": value})
    for name, typed in (("run", exercises.find("exercise-first-page").broken), ("refused", "Query")):
        taught[f"exercise {name}"] = State("/learn/exercise-first-page", form={"request": typed})

    answers = {name: answer(site, people, state) for name, state in taught.items()}

    assert invalid_html({name: each.text for name, each in answers.items()}, tmp_path)[-6000:] == ""
