"""What the stream does of a form, on the page that shows what the form took, on a deployed site."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from playwright.sync_api import expect

from features.workings.tests.conftest import by_form
from shared.models.catalog import Deal
from tests.e2e.conftest import site  # noqa: F401  # a fixture
from tests.e2e.test_browser import wares  # noqa: F401  # a fixture
from tests.support.browser import Visit, press
from tests.support.preview import entered
from tests.support.site import Site, fresh

pytestmark = [pytest.mark.e2e, by_form]


def test_what_the_stream_does_of_a_form_comes_onto_the_page_that_shows_what_it_took(
    visit: Visit, site: Site, wares: Sequence[Deal]
) -> None:
    desk = visit(f"/desk/deals/{wares[0].number}/end", token=entered(site, fresh("ender"), "editor"))

    press(desk, "End it now")

    for followed in ("publisher", "refresher", "copied"):
        expect(desk.locator("#followed")).to_contain_text(followed)
