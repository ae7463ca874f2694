"""A picture's way from an editor to readers, in a browser on a deployed site."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from playwright.sync_api import FilePayload

from shared.models.catalog import Deal
from tests.e2e.conftest import site  # noqa: F401  # a fixture
from tests.e2e.test_browser import seen_by_reloading, shows, tells, wares  # noqa: F401  # a fixture
from tests.support.browser import Visit, press, with_and_without_script
from tests.support.commands import until
from tests.support.factories import plain_picture
from tests.support.preview import entered
from tests.support.site import Site, fresh

pytestmark = pytest.mark.e2e


@with_and_without_script
def test_an_editor_sends_a_picture_and_readers_see_it(
    visit: Visit, site: Site, wares: Sequence[Deal], *, script: bool
) -> None:
    deal = wares[11 + script]
    page = visit(f"/desk/deals/{deal.number}", token=entered(site, fresh("painter"), "editor"), script=script)

    shoe = FilePayload(name="shoe.png", mimeType="image/png", buffer=plain_picture(1200, 900))
    page.get_by_label("File", exact=True).set_input_files(shoe)
    press(page, "Send the picture")

    tells(page, "The picture is ready. All pages show it within a second or two.")
    page.goto(f"/deals/{deal.number}")
    picture = page.locator(".deal img")
    assert seen_by_reloading(page, picture)
    assert until(lambda: bool(picture.evaluate("img => img.complete && img.naturalWidth")))
    assert picture.evaluate("img => [img.width / img.height, new URL(img.currentSrc).origin == location.origin]") == [
        pytest.approx(4 / 3, abs=0.01),
        True,
    ]

    page.goto(f"/desk/deals/{deal.number}")
    script_in_it = FilePayload(name="page.png", mimeType="image/png", buffer=b"<html><script>alert(1)</script>")
    page.get_by_label("Another file", exact=True).set_input_files(script_in_it)
    press(page, "Send the picture")
    shows(page.get_by_role("alert"), "We couldn’t use the last file. It is more than a picture")
