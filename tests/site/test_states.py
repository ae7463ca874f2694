"""Every page in a real browser: accessible, and whole on every screen."""

from __future__ import annotations

import pytest

from tests.site.conftest import Windows
from tests.site.states import RARE, USUAL, State, in_every_tier
from tests.support.quality import too_low, violations


@pytest.mark.parametrize("name", in_every_tier(USUAL | RARE, "front page", "deal", "category", "search", "sign in"))
def test_a_page_is_accessible_no_wider_than_its_window_and_easy_to_hit(
    windows: Windows, every_page: dict[str, State], name: str
) -> None:
    page = windows.show(every_page[name])

    assert page.locator("h1").count() == 1
    assert violations(page) == []
    assert too_low(page) == []
