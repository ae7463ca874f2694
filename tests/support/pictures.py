"""The pictures of ``docs/site.md``: ``make pictures`` takes them of the sample's deals, in docs/pictures."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.support.browser import browser
from tests.support.preview import running

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "pictures"
MOST = 150 * 1024
"""Bytes of a picture: a clone carries every one there ever was."""

WIDE, PHONE = (1280, 900), (390, 844)


def take() -> None:
    """Take all of them. Raises SystemExit for one that is too large."""
    FOLDER.mkdir(exist_ok=True)
    with running() as site, browser() as launched:
        deal = next(deal for deal in site.deals if deal.coupon_code)
        wanted = (
            ("front-page", "/", WIDE, "light"),
            ("front-page-dark", "/", PHONE, "dark"),
            ("deal", f"/deals/{deal.number}", WIDE, "light"),
            ("brand-phone", f"/brands/{deal.brand}", PHONE, "light"),
            ("search-dark", "/search?q=mens", WIDE, "dark"),
            ("sign-up", "/account/sign-up", PHONE, "light"),
        )
        for name, path, (width, height), scheme in wanted:
            context = launched.new_context(
                base_url=site.origin,
                viewport={"width": width, "height": height},
                color_scheme="dark" if scheme == "dark" else "light",
            )
            page = context.new_page()
            page.goto(path, wait_until="networkidle")
            file = FOLDER / f"{name}.png"
            page.screenshot(path=file)
            context.close()
            if file.stat().st_size > MOST:
                sys.exit(f"{file.name} has {file.stat().st_size} bytes; {MOST} are the most.")


if __name__ == "__main__":
    take()
