"""The lessons in the demo, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext

from features.scratch.running import READS
from features.scratch.steps import Step
from features.textbook import lessons
from tests.demo.conftest import Host, context, folder, host, served  # noqa: F401  # fixtures
from tests.demo.test_browser import POST, opened
from tests.support.tab import site_of

RESULTS = r"""text => {
  const of = (part, selector) => part.querySelector(selector)?.textContent ?? "";
  const page = new DOMParser().parseFromString(text, "text/html");
  return [...page.querySelectorAll("#came .sent")].map(sent => ({
    operation: of(sent, ".line b"), refused: of(sent, ".refusal b"),
    found: [...sent.querySelectorAll(".line span")].map(e => /^(\d+) items?/.exec(e.textContent)?.[1]).join(""),
  }));
}"""


def _found(step: Step) -> str:
    """How many items a lesson says that a request reads; nothing of one that writes, or where it does not say it."""
    reads = step.operation in READS and not step.refused
    return str(step.finds) if reads and step.finds is not None else ""


@pytest.mark.thorough
def test_each_lesson_comes_to_what_it_says_in_the_tab(context: BrowserContext, host: Host) -> None:
    page = opened(context, host, "/learn")

    wrong = []
    for lesson in lessons.by_slug().values():
        if lesson.can_run:
            value = {"value": lesson.value.default} if lesson.value else {}
            status, text = site_of(page).evaluate(POST, [f"/name/demo/site/learn/{lesson.slug}", value])
            steps = [*lesson.common, *lesson.ours]
            said = [(step.operation, step.refused or "", _found(step)) for step in steps]
            came = [(each["operation"], each["refused"], each["found"]) for each in page.evaluate(RESULTS, text)]
            # What the table holds decides how many some find: their lesson does not say it.
            came = [(*most, found if number else "") for (*most, found), (*_, number) in zip(came, said, strict=True)]
            wrong += [(lesson.slug, status, said, came)] * ((status, came) != (200, said))
    assert wrong == []
