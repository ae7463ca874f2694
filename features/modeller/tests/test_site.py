"""The modeller in a real browser: with and without script, accessible, and whole on a phone."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from features.modeller import modeller
from features.workings.tests.test_site import shown
from shared import features
from tests.site.conftest import people, site
from tests.site.test_states import answer
from tests.support.browser import Visit
from tests.support.commands import PATIENCE
from tests.support.preview import Preview
from tests.support.quality import invalid_html, violations
from tests.support.states import State

__all__ = ["people", "shown", "site"]

pytestmark = pytest.mark.usefixtures("shown")

LIBRARY = "/model?start=library"


def test_a_model_is_tried_and_undone_without_script(visit: Visit) -> None:
    page = visit("/learn" if "textbook" in features.INSTALLED else "/", script=False)
    page.get_by_role("link", name="Design a table of one’s own").click()
    page.get_by_role("link", name="Library").click()
    page.locator("button[value='size:Loan']").click()
    expect(page.locator(".now")).to_contain_text("$514")

    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".now")).to_contain_text("$1,137")


def test_an_edit_is_drawn_at_once_and_kept_in_the_address(visit: Visit) -> None:
    page = visit(LIBRARY)
    rate = page.locator("[name='patterns.4.rate']")
    rate.fill("30 a second")
    rate.press("Tab")
    expect(page.locator(".now")).to_contain_text("+$65.69 by Borrow a book: rate 25 a second → 30 a second")
    page.wait_for_url("**#m=*")
    address = page.url

    page.goto("/model")
    page.goto(address)
    expect(page.locator(".now")).to_contain_text("$1,202")
    expect(page.locator("[name='patterns.4.rate']")).to_have_value("30 a second")

    page.goto("/model")
    page.goto(address[: len(address) * 2 // 3])
    expect(page.get_by_text("This link or file ends too early")).to_be_visible()


def _holding(page: Page) -> Callable[[], Route]:
    """Hold the page's requests from now on; returns what waits for the next one."""
    held: list[Route] = []
    page.route(re.compile("/model$"), lambda route: held.append(route))  # noqa: PLW0108  # it is given attributes

    def waiting() -> Route:
        for _ in range(int(100 * PATIENCE)):
            if held:
                return held.pop()
            page.wait_for_timeout(10)
        raise AssertionError("nothing was sent")

    return waiting


def test_what_is_typed_while_an_edit_is_drawn_stays_in_its_field(visit: Visit) -> None:
    page = visit(LIBRARY)
    held = _holding(page)
    page.locator("[name='patterns.4.name']").fill("Lend a book")
    page.locator("[name='patterns.4.name']").press("Tab")
    page.keyboard.type("30 a ")
    held().continue_()
    expect(page.get_by_role("group", name="5. Lend a book")).to_be_visible()

    page.keyboard.type("second")
    page.unroute_all()
    page.keyboard.press("Tab")

    expect(page.locator(".now")).to_contain_text("$1,202")
    expect(page.locator("[name='patterns.4.rate']")).to_have_value("30 a second")


def test_a_button_that_is_held_down_while_an_edit_is_drawn_is_pressed(visit: Visit) -> None:
    page = visit(LIBRARY)
    held = _holding(page)
    page.locator("[name=peak]").fill("13")
    page.get_by_role("button", name="Add a pattern").hover()
    page.mouse.down()
    with page.expect_response("**/model"):
        held().continue_()
    page.unroute_all()
    page.mouse.up()

    expect(page.locator("[name='patterns.6.name']")).to_be_focused()
    expect(page.locator("[name=peak]")).to_have_value("13")


def test_what_was_tried_is_undone_by_the_browsers_back(visit: Visit) -> None:
    page = visit(LIBRARY)
    page.locator("[name=peak]").fill("13")
    page.locator("[name=peak]").press("Tab")
    expect(page.locator(".big.breaks")).to_be_visible()
    page.wait_for_url("**#m=*")
    page.get_by_role("button", name="Try all 4").click()
    expect(page.locator(".now")).to_contain_text("$388")

    page.go_back()
    expect(page.locator(".now")).to_contain_text("$1,137")


def test_a_model_is_run_on_the_table(visit: Visit) -> None:
    page = visit(LIBRARY)
    page.get_by_role("button", name="Run", exact=True).click()

    expect(page.locator("#came")).to_have_text("6 patterns were run. Items and units are those that the rules say.")


@pytest.mark.parametrize(
    "path",
    [
        LIBRARY,
        *(
            pytest.param(path, marks=pytest.mark.thorough)
            for path in ("/model", f"{LIBRARY}&guide=1", "/model?start=empty")
        ),
    ],
)
def test_pages_are_accessible(visit: Visit, path: str) -> None:
    assert violations(visit(path)) == []


def test_a_page_with_faults_is_accessible(visit: Visit) -> None:
    page = visit(LIBRARY)
    page.locator("[name='entities.3.PK']").fill("BOOK#<Nothing>")
    page.locator("[name='entities.3.PK']").press("Tab")
    expect(page.get_by_text("Hold has no attribute Nothing.")).to_be_visible()

    assert violations(page) == []


@pytest.mark.parametrize("width", [320, 390, 768])
@pytest.mark.parametrize("path", ["/model", *(f"/model?start={name}" for name in ("library", "site"))])
def test_no_page_is_wider_than_its_window(visit: Visit, path: str, width: int) -> None:
    assert visit(path, width=width).evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.thorough
def test_html_validate_finds_nothing(site: Preview, people: dict[str, str], tmp_path: Path) -> None:
    states = {name: State(f"/model?start={name}") for name in modeller.starts()}
    states |= {"starts": State("/model"), "guide": State(f"{LIBRARY}&guide=1")}
    cut = json.dumps(modeller.starts()["library"])[:900]
    states["cut"] = State("/model", 422, form={"open": "1", "model": cut})

    answers = {name: answer(site, people, state) for name, state in states.items()}

    assert invalid_html({name: each.text for name, each in answers.items()}, tmp_path)[-6000:] == ""
