"""Pages in rarer states in a real browser: accessible, whole on every screen, and valid."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.site.conftest import Windows, answer
from tests.site.states import NAMES, State
from tests.support.preview import Preview
from tests.support.quality import invalid_html, violations


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_accessible_and_no_wider_than_its_window(
    windows: Windows, states: dict[str, State], name: str
) -> None:
    page = windows.show(states[name])

    assert page.locator("h1").count() == 1
    assert violations(page) == []


def test_html_validate_finds_nothing(
    site: Preview, people: dict[str, str], states: dict[str, State], tmp_path: Path
) -> None:
    answers = {name: answer(site, people, state) for name, state in states.items()}

    assert {name: found.status_code for name, found in answers.items()} == {
        name: state.status for name, state in states.items()
    }
    assert invalid_html({name: found.text for name, found in answers.items()}, tmp_path)[-6000:] == ""
