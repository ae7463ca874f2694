"""A deal's tile in a real browser, while its picture can't be reached."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO

import pytest
from PIL import Image, ImageChops
from playwright.sync_api import Locator, expect

from features.pictures.models import Picture
from shared.data.catalog import deals
from shared.values import times
from tests.support.browser import Visit
from tests.support.commands import until
from tests.support.preview import Preview, started


@pytest.fixture(scope="module")
def site() -> Iterator[Preview]:
    """A site of a dozen deals without pictures."""
    with started(most=12) as preview:
        yield preview


def test_a_picture_that_cannot_be_reached_leaves_its_tile(visit: Visit, site: Preview) -> None:
    """Nothing is drawn in the picture's place, so the glyph below is seen as before the deal had a picture."""
    deal = site.deals[8]  # whose tile has the colour of the picture
    page = visit(f"/deals/{deal.number}")
    page.wait_for_load_state("networkidle")
    page.evaluate("document.fonts.ready")
    glyph = inside(page.locator(".deal > .tile"))
    deals.edit(site.table, deal.deal_id, {"more": {Picture: Picture("0" * 20, 960, 720, "dde8ff")}}, times.now())
    page.context.route("**/pictures/**", lambda route: route.abort())

    page.goto(f"/deals/{deal.number}")

    tile = page.locator(".deal > .tile")
    expect(tile.locator("img")).to_have_attribute("src", re.compile("/pictures/0{20}/960.webp"))
    assert until(lambda: bool(page.evaluate("document.querySelector('.deal > .tile img').complete")))
    different = ImageChops.difference(inside(tile), glyph)
    # The disc behind some glyphs is blended with two layers: a shade of 255 is rounded in another way.
    assert different.point(lambda shades: 255 * (shades > 1)).getbbox() is None


def inside(tile: Locator) -> Image.Image:
    """A picture of a tile without its edges, whose corners are blended in another order over a picture."""
    box = tile.bounding_box()
    assert box is not None
    taken = tile.page.screenshot(
        clip={"x": box["x"] + 9, "y": box["y"] + 9, "width": box["width"] - 18, "height": box["height"] - 18}
    )
    return Image.open(BytesIO(taken)).convert("RGB")
