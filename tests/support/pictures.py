"""The pictures of ``docs/site.md``: ``make pictures`` takes them of the sample's deals, in docs/pictures."""

from __future__ import annotations

import sys
from pathlib import Path

from shared.data import keys
from shared.data.members import messages, saved
from shared.data.orders import carts
from shared.values import times
from tests.support.browser import browser
from tests.support.making import send
from tests.support.preview import Preview, running

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "pictures"
MOST = 150 * 1024
"""Bytes of a picture: a clone carries every one there ever was."""

WIDE, PHONE = (1280, 900), (390, 844)


def take() -> None:
    """Take all of them. Raises SystemExit for one that is too large."""
    FOLDER.mkdir(exist_ok=True)
    with running() as site, browser() as launched:
        deal = next(deal for deal in site.deals if deal.coupon_code)
        ana, eddy = _member(site), _signed_in(site, "eddy", "editor")
        wanted: tuple[tuple[str, str, tuple[int, int], str, str], ...] = (
            ("front-page", "/", WIDE, "light", ""),
            ("front-page-dark", "/", PHONE, "dark", ""),
            ("deal", f"/deals/{deal.number}", WIDE, "light", ""),
            ("brand-phone", f"/brands/{deal.brand}", PHONE, "light", ""),
            ("search-dark", "/search?q=mens", WIDE, "dark", ""),
            ("sign-up", "/account/sign-up", PHONE, "light", ""),
            ("inbox", "/my/inbox", PHONE, "light", ana),
            ("cart-dark", "/shop/cart", PHONE, "dark", ana),
            ("desk", "/desk", WIDE, "light", eddy),
        )
        for name, path, (width, height), scheme, token in wanted:
            context = launched.new_context(
                base_url=site.origin,
                viewport={"width": width, "height": height},
                color_scheme="dark" if scheme == "dark" else "light",
            )
            if token:
                # A cookie of this name is set over HTTPS alone; this very machine is sent it over HTTP, too.
                secure = site.origin.replace("http:", "https:")
                context.add_cookies(
                    [
                        {"name": cookies.SESSION, "value": token, "url": secure, "secure": True, "httpOnly": True},
                        {"name": cookies.HINT, "value": "1", "url": secure, "secure": True},
                    ]
                )
            page = context.new_page()
            page.goto(path, wait_until="networkidle")
            file = FOLDER / f"{name}.png"
            page.screenshot(path=file)
            context.close()
            if file.stat().st_size > MOST:
                sys.exit(f"{file.name} has {file.stat().st_size} bytes; {MOST} are the most.")


def _signed_in(site: Preview, username: str, role: Role = "member") -> str:
    """The token of somebody new."""
    user = User(username, f"{username}@mail.example", username.title(), "no-hash", role, times.now())
    users.create(site.table, user)
    return sessions.start(site.table, user, times.now(), username.encode().ljust(32, b"-"))[0]


def _member(site: Preview) -> str:
    """The token of somebody who has messages, saved deals and a cart."""
    token, now = _signed_in(site, "ana"), times.now()
    for deal in site.deals[2:22:4]:
        send(site.table, messages.compose(messages.of_deal(deal, "brand"), "ana", now))
        saved.save(site.table, deal, "ana", now)
    for deal in site.deals[30:36:2]:
        stock.add(site.table, deal.deal_id, 40, now, shards=1)
        stock.show_level(site.table, deal.deal_id)
        carts.put_in(site.table, "ana", deal.deal_id, 1, now)
    return token


if __name__ == "__main__":
    take()
