"""Every page is valid HTML, in its rarer states too, and with what it says it took."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import httpx
import pytest

from tests.site.conftest import client_of
from tests.site.states import State
from tests.site.test_own_pages import EMPTY, OF_EDITORS, OF_MEMBERS, table_paths
from tests.site.test_pages import TYPES
from tests.support.preview import Preview, finding
from tests.support.quality import invalid_html

FROM_OUR_PAGES = {"Sec-Fetch-Site": "same-origin"}


def answer(site: Preview, people: dict[str, str], state: State) -> httpx.Response:
    """The answer that brings a page into a state."""
    with client_of(site, people.get(state.who, "")) as client, finding(state.table) if state.table else nullcontext():
        if state.form is None:
            return client.get(state.path)
        return client.post(state.path, data=dict(state.form), headers=FROM_OUR_PAGES)


def test_html_validate_finds_nothing(
    site: Preview,
    people: dict[str, str],
    paths: dict[str, str],
    own_paths: dict[str, str],
    states: dict[str, State],
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    anybody, member, editor, nobody_yet = (client_of(site, people.get(who, "")) for who in ("", "ana", "eddy", "nick"))
    texts = {kind: anybody.get(paths[kind]).text for kind in TYPES}
    answers = {name: answer(site, people, state) for name, state in states.items()}
    texts |= {f"state {name}": found.text for name, found in answers.items()}

    request.getfixturevalue("shown")
    took = {kind: member.get(own_paths[kind]).text for kind in OF_MEMBERS}
    took |= {kind: editor.get(own_paths[kind]).text for kind in OF_EDITORS}
    took |= {f"of the table {kind}": editor.get(path).text for kind, path in table_paths(site, people["eddy"]).items()}
    took |= {f"empty {path}": nobody_yet.get(path).text for path in EMPTY}
    lessons = {path: anybody.get(path).text for path in ("/learn", "/learn/two-years", "/learn/pattern-12?value=1")}
    lessons |= {
        f"run {slug}": anybody.post(f"/learn/{slug}", data={"value": value}, headers=FROM_OUR_PAGES).text
        for slug, value in (("sparse-index", ""), ("hierarchy", "?"))
    }

    assert {name: found.status_code for name, found in answers.items()} == {
        name: state.status for name, state in states.items()
    }
    assert all("What this page took" in text for text in took.values())
    assert invalid_html(texts | took | lessons, tmp_path)[-6000:] == ""
