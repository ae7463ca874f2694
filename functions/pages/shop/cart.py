"""The cart. Its form stands on deals' pages, too, which are everybody's, kept at the edge: a plain form leads here."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from http import HTTPStatus
from typing import Any

from shared.api.order_bodies import CartChange
from shared.data.catalog import deals
from shared.data.orders import carts
from shared.errors import CartIsFull, DealIsOver, NotSoldHere
from shared.html import cookies, forms, pages, views, wishes
from shared.html.app import Routes
from shared.html.checking import check
from shared.html.forms import InvalidFields
from shared.html.pages import Answer
from shared.html.request import Request
from shared.models.catalog import Status, StockLevel
from shared.models.charges import NO_CHARGES, Bill, Charges
from shared.models.orders import CartItem
from shared.runtime.environment import table
from shared.values import money
from shared.values.money import times, units

CART = "/shop/cart"

QUANTITIES = {str(number): str(number) for number in range(1, carts.MOST_PIECES + 1)}

routes = Routes()


@routes.get("/shop")
def shop(_request: Request) -> Answer:
    return pages.redirect(CART)


@routes.get(CART)
def cart(request: Request) -> Answer:
    return _cart_page(request, cookies.member_of(request).username)


@routes.post(CART)
def put_into_cart(request: Request) -> Answer:
    """Have so many pieces of a deal in the cart; without a number one, or as many as there are."""
    typed = forms.read(request.event)
    deal = deals.find(table(), typed.get("deal", ""), consistent=True)
    number = views.number(deal)
    member = wishes.sender_of(request, f"/deals/{number}")
    username = member.username
    try:
        if "quantity" in typed:
            quantity = quantity_of(typed["quantity"])
        else:
            held = {item.deal.deal_id: item.quantity for item in carts.view(table(), username, request.now)}
            quantity = held.get(deal.deal_id, 1)
        carts.put_in(table(), username, deal.deal_id, quantity, request.now, member.account_id)
    except InvalidFields:
        said = f"{deal.title}: must be 1 to {carts.MOST_PIECES} pieces."
        return _cart_page(request, username, errors={f"quantity-{number}": said})
    except CartIsFull as error:
        return _cart_page(request, username, problem=str(error))
    except (DealIsOver, NotSoldHere):
        return _cart_page(request, username, problem=f"{deal.title} cannot be bought here any more.")
    return pages.redirect(CART, said="in-cart")


@routes.post(f"{CART}/remove", stands_on=CART)
def take_out_of_cart(request: Request) -> Answer:
    member = cookies.sender_of(request, CART)
    deal = deals.find(table(), forms.read(request.event).get("deal", ""))
    carts.take_out(table(), member.username, deal.deal_id, member.account_id)
    return pages.redirect(CART, said="taken-out")


wishes.granted_by(routes, "/shop", put_into_cart)


def quantity_of(text: str) -> int:
    """How many pieces a field says. Raises InvalidFields."""
    number = int(text) if re.fullmatch(r"[0-9]{1,4}", text.strip()) else 0
    return check(CartChange, {"quantity": number}).quantity


def _cart_page(
    request: Request, username: str, *, errors: Mapping[str, str] | None = None, problem: str | None = None
) -> Answer:
    (items,), head = cookies.beside_head(request, partial(carts.view, table(), username, request.now))
    able = [item for item in items if obstacle_of(item, request.now) is None]
    return pages.page(
        "shop/cart.html",
        here=CART,
        status=HTTPStatus.CONFLICT if problem else None,
        said=None if problem or errors else request.said,
        lines=[line_of(item, request.now) for item in items],
        totals=money.sums(bill_of(able).totals),
        adds=Charges.of(os.environ) != NO_CHARGES,
        can_order=bool(able),
        quantities=QUANTITIES,
        errors=errors,
        problem=problem,
        **head,
    )


def line_of(item: CartItem, now: datetime) -> dict[str, Any]:
    """A deal in the cart as a page shows it, with what is in its way and whether its price moved."""
    deal = item.deal
    return {
        **views.card(deal, now, width=128),
        "quantity": str(item.quantity),
        "together": views.money(times(deal.price, item.quantity, deal.currency), deal.currency),
        "moved": _moved(item),
        "cheaper": item.currency == deal.currency and deal.units < units(item.price, item.currency),
        "few": deal.stock is StockLevel.LOW,
        "obstacle": obstacle_of(item, now),
    }


def _moved(item: CartItem) -> str | None:
    """A note on a price that is another one than when the deal was put in."""
    if not item.changed:
        return None
    before = views.money(item.price, item.currency)
    if item.currency != item.deal.currency:
        return f"It was {before} when you put it in."
    dearer = item.deal.units > units(item.price, item.currency)
    return f"{'Dearer' if dearer else 'Cheaper'} than when you put it in: it was {before}."


def obstacle_of(item: CartItem, now: datetime, left: int | None = None) -> str | None:
    """Why what is in the cart cannot be ordered now, as far as the deal itself says, and what is ``left``; or None."""
    if item.deal.status(now) is not Status.ACTIVE:
        return "This deal is over."
    if item.deal.stock is StockLevel.SOLD_OUT or left == 0:
        return "Sold out."
    return None


def bill_of(items: Sequence[CartItem], charges: Charges = NO_CHARGES) -> Bill:
    """The bill of some items at today's prices."""
    return charges.bill((item.deal.price, item.deal.currency, item.quantity) for item in items)
