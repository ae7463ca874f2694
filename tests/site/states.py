"""A page of each kind, and pages in rarer states: refused forms, deals that are over, errors, empty tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest

from shared import settings
from shared.data import keys
from shared.data.catalog import deals, offers, topics
from shared.data.members import alerts, rate_limits, users
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put_new
from shared.errors import AlreadyExists
from shared.models.catalog import Deal
from shared.models.members import Limits
from shared.settings import READ_FOR_CARDS, SIGN_IN_WINDOW
from shared.values import times
from tests.support.cases import cases, cases_by_name
from tests.support.factories import a_deal, offered, worded
from tests.support.preview import Preview, entered
from tests.support.states import State

BRAND, BRAND_NAME = "harbour-goods", "Harbour Goods"
EMPTY, ENDED = "tide-and-co", "slack-water"
GONE_WORD = "kelpie"
EXTREME, EXTREME_NAME = "w" * 60, "W" * 60
LARGEST = {"USD": "999999999.99", "JPY": "999999999", "KWD": "999999999.999", "CLF": "999999999.9999", "EUR": "0.01"}
"""The largest price of currencies with two, no, three and four decimals, and the smallest."""
LOCAL = "127.0.0.1"


PUBLIC = {
    "front page": State("/"),
    "latest": State("/deals"),
    "deal": State("/deals/{deal.number}"),
    "ending": State("/ending"),
    **{name: State(path) for name, path in cases_by_name("EVERYONES").items()},
    "choice": State("/editors-choice"),
    "category": State("/categories/{deal.category}"),
    "sorted": State("/categories/{deal.category}?sort=cheapest&to=999"),
    "brands": State("/brands"),
    "brand": State("/brands/{deal.brand}"),
    "search": State("/search?q=mens"),
    "search without words": State("/search"),
    "search without deals": State("/search?q=zeppelin"),
    "about": State("/about"),
    "nothing here": State("/nothing/here", 404),
    "sign in": State("/account/sign-in"),
    "sign up": State("/account/sign-up"),
}
"""A page of each kind that is everyone's."""

OF_MEMBERS = {
    name: State(path, who="ana")
    for name, path in {
        "inbox": "/my/inbox",
        "watches": "/my/watches",
        **cases_by_name("MEMBERS"),
        "account": "/account",
        "leaving": "/account/remove",
    }.items()
}
OF_EDITORS = {name: State(path, who="eddy") for name, path in cases_by_name("EDITORS").items()}
OF_NICK = {f"nothing in {path}": State(path, who="nick") for path in ("/my/inbox", "/my/watches", *cases("EMPTY"))}
"""Pages of someone who has nothing yet."""

RARE = {
    "signed out": State("/account/name", 403, form={"name": "Ana Blake"}),
    "400": State("/deals?cursor=nonsense", 400),
    "404": State(f"/brands/{BRAND[:-1]}", 404),
    "410": State("/deals/{withdrawn.number}", 410),
    "429": State("/account/sign-in", 429, form={"username": "hasty", "password": "a wrong password"}),
    "503": State("/brands/none", 503, table="not-there"),
    "ended deal": State("/deals/{ended.number}"),
    "brand without deals": State(f"/brands/{EMPTY}"),
    "brand whose deals ended": State(f"/brands/{ENDED}"),
    "look further back": State(f"/search?q={GONE_WORD}"),
    "sign in with errors": State("/account/sign-in", 422, form={"username": "ana", "password": "a wrong password"}),
    "sign up with errors": State(
        "/account/sign-up", 422, form={"username": "-", "name": "", "email": "ana", "password": "short"}
    ),
    **cases_by_name("FORMS"),
    "watch with errors": State(
        "/my/watches/brand/{first.brand}/limits", 422, "ana", {"ceiling": "cheap", "leastDiscount": "120"}
    ),
    "alert with errors": State("/my/alerts", 422, "ana", {"words": "mens", "ceiling": "cheap"}),
    "longest title": State("/deals/{longest.number}"),
    "alert on the longest title": State("/my/watches", who="ana"),
    "most variants": State("/deals/{variant.number}"),
    "brand of extremes": State(f"/brands/{EXTREME}"),
    "cheapest of extremes": State(f"/brands/{EXTREME}?sort=cheapest&currency=KWD"),
    "search for the longest word": State(f"/search?q={'w' * 100}"),
    "front page without deals": State("/?of=nothing", table="{bare.name}"),
}

USUAL = PUBLIC | OF_MEMBERS | OF_EDITORS | OF_NICK


def in_every_tier(names: Iterable[str], *these: str) -> list[Any]:
    """Parameters: these names in every tier, the others in ``make test-all`` only."""
    return [pytest.param(name, marks=[] if name in these else [pytest.mark.thorough]) for name in names]


def usual(site: Preview) -> dict[str, State]:
    """The pages of each kind by their names, on a site whose ``people`` are there."""
    table, first = site.table, site.deals[40]
    known = {
        "deal": site.deals[0],
        "first": first,
        "link": quote(first.link),
        **{name: find(table) for name, find in cases_by_name("KNOWN").items()},
    }
    return {name: state.filled(known) for name, state in USUAL.items()}


def rare(site: Preview, bare: Table) -> dict[str, State]:
    """The rarer states by their names; ``bare`` is a table without deals.

    What is written is days old and of brands of its own, so the pages of other tests stay as they are.
    """
    table, now = site.table, times.now()
    first, second = site.deals[40:42]
    for slug, name in ((BRAND, BRAND_NAME), (EMPTY, "Tide & Co"), (ENDED, "Slack Water"), (EXTREME, EXTREME_NAME)):
        topics.create_brand(table, slug, name, now)
    ended, withdrawn, told, being_told = (_posted(table, now, number, BRAND) for number in range(4))
    deals.edit(table, ended.deal_id, {"ends_at": now}, now)
    deals.edit(table, withdrawn.deal_id, {"withdrawn_at": now}, now)
    for deal in (told, being_told):
        deals.make_hot(table, deal.deal_id, now)
    _tell(table, told, now)
    over = deals.edit(table, _posted(table, now, 4, ENDED).deal_id, {"ends_at": now}, now)
    offers.file(table, None, over, has_ended=True)
    longest, variant = _extremes(table, now)
    alerts.on_price(table, longest, "ana", users.get(table, "ana").account_id, Limits("999999997.99", "USD"), now)
    _leave_words(table, now)
    _attempt(table, now)
    entered(replace(site, table=bare), "eddy", "editor")
    known = {
        "first": first, "second": second, "ended": ended, "withdrawn": withdrawn,
        "told": told, "being_told": being_told, "bare": bare,
        "longest": longest, "variant": variant,
        **{name: of(first) for name, of in cases_by_name("KNOWN_OF_DEAL").items()},
    }  # fmt: skip
    return {name: state.filled(known) for name, state in RARE.items()}


def _posted(table: Table, now: datetime, number: int, brand: str) -> Deal:
    """A deal of three days ago."""
    deal = a_deal(
        now - timedelta(days=3, minutes=number),
        title=f"Deck shoe {number}",
        link=f"https://shop.example/{brand}-{number}",
        brand=brand,
    )
    return deals.create(table, deal, now)


def _extremes(table: Table, now: datetime) -> tuple[Deal, Deal]:
    """Deals that hold the most that a field takes; returns one with the longest texts, and one of forty variants."""
    emoji = "\N{GRINNING FACE}" * 40
    made: list[Deal] = []

    def post(title: str, price: str, currency: str, **more: Any) -> Deal:
        old = now - timedelta(days=3, minutes=10 + len(made))
        link = more.pop("link", f"https://shop.example/extreme-{len(made)}")
        deal = a_deal(
            old, title=title, brand=EXTREME, brand_name=EXTREME_NAME, price=price, currency=currency, link=link, **more
        )
        made.append(deals.create(table, deal, now))
        return made[-1]

    texts = {"description": "W" * 1000, "coupon_code": "W" * 50, "variant": "W" * 60}
    longest = post("W" * 300, "999999998.99", "USD", list_price="999999999.99", **texts)
    for currency, price in LARGEST.items():
        post(f"Deck shoe for {currency}", price, currency, variant=emoji)
    post(emoji, "9.99", "USD", description=emoji, coupon_code=emoji)
    product = {"link": "https://shop.example/in-all-colours"}
    variants = [post("Deck shoe", "9.99", "USD", variant=f"{n} Dark navy, wide", **product) for n in range(40)]
    offered(table, made)
    return longest, variants[0]


def _tell(table: Table, deal: Deal, now: datetime) -> None:
    """Leave what the worker leaves that has told everyone of a hot deal: no message, which would be in an inbox."""
    counted = {"Told": 1234, "Pages": 5, "LastPage": 5, "Segments": 1, "LastAt": times.to_iso(now)}
    item = {**keys.fan_out_segment(deal.deal_id, 0), "Type": keys.FAN_OUT, **counted}
    table.write(put_new(item, refused=AlreadyExists()))


def _leave_words(table: Table, now: datetime) -> None:
    """Leave a word of more deals than one page of a search reads, all of them gone: the stream is slow to follow."""
    gone = [
        a_deal(now - timedelta(days=3, minutes=number), title=GONE_WORD, brand_name=GONE_WORD)
        for number in range(READ_FOR_CARDS + 1)
    ]
    worded(table, gone)


def _attempt(table: Table, now: datetime) -> None:
    """Try to sign in as often as one may, in the window of now and the next one, whichever the browser comes in."""
    for window in (now, now + SIGN_IN_WINDOW):
        for _ in range(settings.SIGN_INS_PER_USER):
            rate_limits.begin(table, "hasty", LOCAL, window)
