"""Every page in a real browser: accessible, and whole on every screen.

Every page is valid HTML, in its rarer states too, and with what it says it took.
"""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from shared.learn import exercises, lessons
from tests.site.conftest import Windows, client_of, found
from tests.site.states import OF_EDITORS, OF_MEMBERS, OF_NICK, PUBLIC, RARE, USUAL, State, in_every_tier
from tests.site.test_own_pages import table_paths
from tests.support.preview import Preview
from tests.support.quality import invalid_html, too_low, violations


@pytest.mark.parametrize("name", in_every_tier(USUAL | RARE, "front page", "deal", "category", "search", "sign in"))
def test_a_page_is_accessible_no_wider_than_its_window_and_easy_to_hit(
    windows: Windows, every_page: dict[str, State], name: str
) -> None:
    page = windows.show(every_page[name])

    assert page.locator("h1").count() == 1
    assert violations(page) == []
    assert too_low(page) == []


FROM_OUR_PAGES = {"Sec-Fetch-Site": "same-origin"}


def answer(site: Preview, people: dict[str, str], state: State) -> httpx.Response:
    """The answer that brings a page into a state."""
    with client_of(site, people.get(state.who, "")) as client, found(site, state):
        if state.form is None:
            return client.get(state.path)
        return client.post(state.path, data=dict(state.form), headers=FROM_OUR_PAGES)


def test_html_validate_finds_nothing(
    site: Preview,
    people: dict[str, str],
    every_page: dict[str, State],
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    plain = {name: answer(site, people, every_page[name]) for name in PUBLIC | RARE}
    request.getfixturevalue("shown")
    took = {name: answer(site, people, every_page[name]) for name in OF_MEMBERS | OF_EDITORS | OF_NICK}
    took |= {
        f"of the table {kind}": answer(site, people, State(path, who="eddy"))
        for kind, path in table_paths(site, people["eddy"]).items()
    }
    taught = {path: State(path) for path in ("/learn", "/learn/two-years", "/learn/pattern-12?value=1")}
    taught |= {f"/learn/{each.slug}": State(f"/learn/{each.slug}") for each in lessons.groups()[0].lessons}
    taught["sizes that are none"] = State("/learn/units?size=0&number=x")
    for slug, value in (("sparse-index", ""), ("hierarchy", "?")):
        taught[f"run {slug}"] = State(f"/learn/{slug}", form={"value": value})
    for name, typed in (("run", exercises.find("exercise-first-page").broken), ("refused", "Query")):
        taught[f"exercise {name}"] = State("/learn/exercise-first-page", form={"request": typed})
    answers = plain | took | {name: answer(site, people, state) for name, state in taught.items()}

    wrong = {name: each.status_code for name, each in plain.items() if each.status_code != every_page[name].status}
    assert wrong == {}
    assert all("Cost of this page" in each.text for each in took.values())
    assert invalid_html({name: each.text for name, each in answers.items()}, tmp_path)[-6000:] == ""
