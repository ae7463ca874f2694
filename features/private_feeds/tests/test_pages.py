"""A private feed's address: made, shown once, revoked."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest

from features.private_feeds.data import keys as private_keys
from shared.data.members import sessions, users
from shared.dynamodb.table import Table
from shared.dynamodb.writes import update
from shared.html import cookies
from shared.values import times
from tests.signed_in.conftest import FUNCTIONS, PostDeal, ana, anyone, post_deal, table  # noqa: F401  # fixtures
from tests.support.browsing import Browser
from tests.support.factories import a_message, send


def test_a_private_feed_has_a_secret_address_that_is_shown_once_and_revoked(
    ana: Browser, anyone: Browser, table: Table, post_deal: PostDeal
) -> None:
    for minutes in (1, 5):
        deal = post_deal(minutes, title=f"Shoe {minutes}", link=f"https://shop.example/{minutes}")
        send(table, a_message(deal))
    offered = ana.get("/my/watches").words
    first, second = (urlsplit(ana.post("/my/feed", {}).values()["address"]) for _ in range(2))

    read = anyone.get(f"{second.path}?{second.query}")
    replaced = anyone.get(f"{first.path}?{first.query}")
    shown = ana.get("/my/watches")
    ana.post("/my/feed/revoke", {})
    revoked = anyone.get(f"{second.path}?{second.query}")
    third = urlsplit(ana.post("/my/feed", {}).values()["address"])
    ana.post("/account/sign-out-everywhere", {})
    token, _ = sessions.start(table, users.get(table, "ana"), times.now(), bytes(32))
    ended = Browser(FUNCTIONS, {cookies.SESSION: token, cookies.HINT: "1"}).get("/my/watches").words

    assert "We create a secret address for it" in offered
    assert (read.status, replaced.status) == (200, 404)
    assert "<title>New from Apple:" in read.text
    feed, newer, older = re.findall("<updated>(.+?)</updated>", read.text)
    assert feed == newer > older
    assert read.headers["Cache-Control"] == ["no-store"]
    assert "Its address was created on" in shown.words
    assert second.query.removeprefix("key=") not in shown.text
    assert revoked.status == 404
    assert anyone.get("/my/messages.atom").status == 404
    assert anyone.get(f"{third.path}?{third.query}").status == 404
    assert "no longer works because you changed your password or signed out everywhere" in ended


def test_colours_of_a_product_are_one_entry_which_stays_the_same_when_another_comes(
    ana: Browser, anyone: Browser, table: Table, post_deal: PostDeal
) -> None:
    address = urlsplit(ana.post("/my/feed", {}).values()["address"])
    seen = []
    for minutes, colour in ((9, "blue"), (5, "red"), (1, "green")):
        send(table, a_message(post_deal(minutes, variant=colour)))
        seen.append(anyone.get(f"{address.path}?{address.query}").text)

    assert [len(re.findall("<entry>", each)) for each in seen] == [1, 1, 1]
    assert len({re.findall("urn:ksuid:[^<]*", each)[0] for each in seen}) == 1
    assert [("colours and sizes" in each, "· 3 colours and sizes" in each) for each in seen] == [
        (False, False),
        (True, False),
        (True, True),
    ]


@pytest.mark.parametrize("lost", ["CreatedAt", "TokenHash"])
@pytest.mark.damages
def test_a_damaged_note_of_a_feed_is_left_out_and_replaced(
    ana: Browser, anyone: Browser, table: Table, lost: str
) -> None:
    ana.post("/my/feed", {})
    table.write(update(private_keys.feed("ana"), f"REMOVE {lost}", refused=None))

    seen = ana.get("/my/watches")
    address = urlsplit(ana.post("/my/feed", {}).values()["address"])

    assert seen.status == 200
    assert anyone.get(f"{address.path}?{address.query}").status == 200
    assert "Its address was created on" in ana.get("/my/watches").words
    table.write(update(private_keys.feed("ana"), f"REMOVE {lost}", refused=None))
    assert ana.post("/my/feed/revoke", {}).status == 303
    assert table.get(private_keys.feed("ana")) is None
