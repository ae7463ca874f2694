"""The pictures of ``docs/site.md`` and of features' documents: ``make pictures`` takes them of the laptop's sample."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from statistics import mode

from playwright.sync_api import sync_playwright

from shared.data.members import follows, messages
from shared.errors import AlreadyWatching
from shared.models.catalog import BRAND, Topic
from shared.values import times
from tests.support.browser import browser, sign_in
from tests.support.cases import cases, cases_by_name
from tests.support.factories import send
from tests.support.preview import Preview, entered, running

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "pictures"
MOST = 150 * 1024
"""Bytes of a picture: a clone carries every one there ever was."""

WIDE, LOW, PHONE = (1280, 900), (1280, 620), (390, 844)


def take() -> None:
    """Take all of them. Raises SystemExit for one that is too large."""
    FOLDER.mkdir(exist_ok=True)
    with running(drawn=True) as site, sync_playwright() as driver, browser(driver) as launched:
        deal = next(deal for deal in site.deals if deal.coupon_code)
        brand = mode(deal.brand for deal in site.deals)
        ana, eddy = _member(site), entered(site, "eddy", "editor")
        parts, of_features = cases_by_name("PICTURED_PARTS"), cases_by_name("PICTURED")
        wanted: tuple[tuple[str, str, tuple[int, int], str, str], ...] = (
            ("front-page", "/", (1280, 745), "light", ""),
            ("front-page-dark", "/", PHONE, "dark", ""),
            ("deal", f"/deals/{deal.number}", WIDE, "light", ""),
            ("brand-phone", f"/brands/{brand}", PHONE, "light", ""),
            ("search-dark", "/search?q=shoes", WIDE, "dark", ""),
            ("sign-up", "/account/sign-up", PHONE, "light", ""),
            ("inbox", "/my/inbox", PHONE, "light", ana),
            *((name, path, PHONE, "dark", ana) for name, path in cases_by_name("PICTURED_OF_MEMBERS").items()),
            *((name, path, LOW, "light", eddy) for name, path in cases_by_name("PICTURED_OF_EDITORS").items()),
            *((name, f"/brands/{brand}", WIDE, "light", ana if who else "") for name, (who, _) in parts.items()),
            *((name, path(deal), LOW, "light", eddy) for name, path in of_features.items()),
        )
        for name, path, (width, height), scheme, token in wanted:
            # As on a stage that shows its work, but for the pictures of pages as readers know them.
            os.environ["SHOWS_WORK"] = "true" if name in {**parts, **of_features} else ""
            context = launched.new_context(
                base_url=site.origin,
                viewport={"width": width, "height": height},
                color_scheme="dark" if scheme == "dark" else "light",
            )
            if token:
                sign_in(context, site.origin, token)
            page = context.new_page()
            page.goto(path, wait_until="networkidle")
            file = ROOT / f"{name}.png" if "/" in name else FOLDER / f"{name}.png"
            if name in parts:
                _, take_part = parts[name]
                take_part(page, file)
            else:
                page.screenshot(path=file)
            context.close()
            if file.stat().st_size > MOST:
                sys.exit(f"{file.name} has {file.stat().st_size} bytes; {MOST} are the most.")


def _member(site: Preview) -> str:
    """The token of someone who has messages and what features have of a member."""
    token, now = entered(site, "ana"), times.now()
    for deal in [each for each in site.deals if each.ends_at is None][2:22:4]:
        with suppress(AlreadyWatching):
            follows.watch(site.table, Topic(BRAND, deal.brand), "ana", now)
        send(site.table, messages.compose(messages.of_deal(deal, "brand"), "ana"))
        for give in cases("OWNS"):
            give(site.table, deal, "ana", now)
    return token


if __name__ == "__main__":
    take()
