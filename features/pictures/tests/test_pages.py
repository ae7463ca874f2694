"""Pictures on public pages."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from features.pictures.models import Picture
from functions.background import refresher
from shared.data.catalog import page_cache
from shared.dynamodb.table import Table
from shared.http import cached_pages
from tests.pages.conftest import ask, now, table  # noqa: F401  # fixtures
from tests.support.browsing import Ask, parsed
from tests.support.factories import a_deal, post


@pytest.mark.parametrize("copied", [True, False], ids=["from a copy", "made now"])
def test_a_leading_deals_own_picture_is_offered_in_three_widths_and_asked_for_first(
    ask: Ask, table: Table, now: datetime, copied: bool
) -> None:
    ours = Picture("0" * 20, 640, 480, "dde8ff")
    made = [a_deal(now - timedelta(minutes=n), link=f"https://{n}.example/shoe") for n in range(2)]
    post(table, [made[0].with_own(ours), made[1].with_own(ours)], now)
    if copied:
        refresher.refresh(page_cache.PARTS, set(), set())
        cached_pages.memory.cache_clear()

    leading, other = parsed(ask("/")).findall(".//li//img")

    names = [f"/pictures/{ours.hash}/{width}.webp" for width in (240, 480, 960)]
    assert leading.get("srcset") == f"{names[0]} 240w, {names[1]} 480w, {names[2]} 640w"
    assert (leading.get("src"), leading.get("sizes"), leading.get("width")) == (names[2], "720px", "640")
    assert (leading.get("fetchpriority"), leading.get("loading")) == ("high", None)
    assert (other.get("fetchpriority"), other.get("loading")) == (None, "lazy")
