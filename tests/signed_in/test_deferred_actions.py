"""A button that was pressed before signing in does its work afterwards."""

from __future__ import annotations

import pytest

from shared.data.members import follows, votes
from shared.data.orders import carts
from shared.dynamodb.table import Table
from shared.html import cookies
from shared.http import requests
from shared.values import times
from tests.signed_in.conftest import PASSWORD, Sell
from tests.support.browsing import Browser, Seen
from tests.support.factories import APPLE

ANA = {"username": "ana", "name": "Ana", "email": "ana@mail.example", "password": PASSWORD}


def pressed(anyone: Browser, path: str, form: dict[str, str]) -> Seen:
    """The page to sign in that nobody is led to who presses a button."""
    seen = anyone.post(path, form)
    assert (seen.status, seen.location.partition("?")[0]) == (303, "/account/sign-in")
    return anyone.get(seen.location)


def signed_up(anyone: Browser, asked: Seen) -> Seen:
    """The answer at the place that a new account is led to."""
    welcomed = anyone.post("/account/sign-up", {**ANA, "next": asked.values()["next"]})
    return anyone.get(welcomed.location)


@pytest.mark.parametrize(
    ("path", "form", "place"),
    [
        ("/shop/cart", {"deal": "{number}"}, "/shop/cart?notice=in-cart"),
        ("/my/saved/{number}", {"on": "1"}, "/deals/{number}?notice=saved"),
        ("/my/watches/brand/apple", {"on": "1", "next": "/brands/apple?a=b"}, "/brands/apple?a=b&notice=watching"),
        ("/my/likes/brand/apple", {"on": "1"}, "/brands/apple?notice=liked"),
        ("/my/votes/{number}/up", {"on": "1"}, "/deals/{number}?notice=voted"),
    ],
)
def test_what_nobody_asked_for_is_done_once_they_have_an_account(
    anyone: Browser, table: Table, sell: Sell, path: str, form: dict[str, str], place: str
) -> None:
    deal = sell()
    form = {name: text.format(number=deal.number) for name, text in form.items()}

    asked = pressed(anyone, path.format(number=deal.number), form)
    done = signed_up(anyone, asked)

    assert "we’ll finish what you started." in asked.words
    assert (done.status, done.location) == (303, place.format(number=deal.number))
    assert requests.name(cookies.COOKIE) not in anyone.cookies
    assert (
        carts.deals_in(table, "ana", times.now())
        or votes.is_saved(table, deal.deal_id, "ana")
        or follows.is_watched(table, APPLE, "ana")
        or follows.is_liked(table, APPLE, "ana")
        or votes.given(table, deal.deal_id, "ana")
    )


def test_a_wish_is_kept_until_somebody_has_signed_in_and_done_once(anyone: Browser, table: Table, sell: Sell) -> None:
    deal = sell()
    place = pressed(anyone, "/shop/cart", {"deal": str(deal.number)}).values()["next"]
    still_nobody, kept = anyone.get(place), requests.name(cookies.COOKIE) in anyone.cookies
    anyone.post("/account/sign-up", {**ANA, "next": place})
    anyone.get(place)
    carts.take_out(table, "ana", deal.deal_id)

    again = anyone.get(place)

    assert (still_nobody.location.startswith("/account/sign-in?next=%2Fshop%2Fwish"), kept) == (True, True)
    assert again.location == f"/deals/{deal.number}"
    assert carts.deals_in(table, "ana", times.now()) == []


@pytest.mark.parametrize(
    "wish",
    ["/shop/cart/remove?deal={number}", "/my/saved/1?on=1", "/shop/orders/x/cancel?", "?", "", "/shop/cart?%ff=%ff"],
)
def test_a_wish_that_no_button_of_ours_made_does_nothing(ana: Browser, table: Table, sell: Sell, wish: str) -> None:
    """Its owner alone can make one, and is signed in as whom it would be done for."""
    deal = sell()
    carts.put_in(table, "ana", deal.deal_id, 1, times.now())
    ana.cookies[requests.name(cookies.COOKIE)] = wish.format(number=deal.number)

    ana.get("/shop/wish")

    assert carts.deals_in(table, "ana", times.now()) == [deal.deal_id]


def test_a_form_that_is_too_long_to_keep_leads_back_to_where_it_stood(anyone: Browser) -> None:
    seen = anyone.post("/my/likes/brand/apple", {"on": "1", "more": "x" * 1000})

    assert seen.location == "/account/sign-in?next=%2Fbrands%2Fapple"
    assert requests.name(cookies.COOKIE) not in anyone.cookies
    assert cookies.SESSION not in anyone.cookies
