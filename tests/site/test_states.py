"""Pages in rarer states in a real browser: accessible, and whole on every screen."""

from __future__ import annotations

import pytest

from tests.site.conftest import Windows
from tests.site.states import NAMES, State
from tests.support.quality import violations


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_accessible_and_no_wider_than_its_window(
    windows: Windows, states: dict[str, State], name: str
) -> None:
    page = windows.show(states[name])

    assert page.locator("h1").count() == 1
    assert violations(page) == []
