"""The checkout: its form carries the prices that were seen and an idempotency key.

So pressing twice or reloading orders once, and nobody pays more than the page said.
"""

from __future__ import annotations

import random
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any

from functions.pages.shop.addresses import FIELDS, shown
from functions.pages.shop.cart import CART, line_of, member_of, obstacle_of, totals_of
from functions.pages.shop.orders import ORDERS
from shared.api.order_bodies import NewOrder
from shared.data.members import order_news
from shared.data.orders import addresses, carts, placing
from shared.errors import BadRequest, CannotOrder, IdempotencyKeyReused, Obstacle, UnknownAddress
from shared.html import cookies, forms, pages, views
from shared.html.app import Routes
from shared.html.checking import check
from shared.html.forms import InvalidFields
from shared.html.pages import Answer
from shared.html.request import Request
from shared.models.orders import CartItem, Order
from shared.runtime import metrics
from shared.runtime.environment import table
from shared.runtime.reporting import report

CHECKOUT = "/shop/checkout"

_UNREADABLE = "The form cannot be read. Open the checkout again."

_LINE = re.compile(r"([0-9A-Za-z]{27})\*(\d{1,2})\*([0-9.]{1,20})")
"""A line of the checkout's form: a deal, how many pieces, and the price that the page showed."""

routes = Routes()


@routes.get(CHECKOUT)
def checkout(request: Request) -> Answer:
    return _checkout_page(request, member_of(request).username)


@routes.post(CHECKOUT)
def place_order(request: Request) -> Answer:
    """Order what the form says at no more than the prices it says, once however often it is sent."""
    member = member_of(request)
    typed = forms.read(request.event)
    try:
        order = _placed(request, member.username, typed)
    except InvalidFields:
        errors = {"address": "Choose the address that it goes to."}
        return _checkout_page(request, member.username, typed, errors=errors, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    except UnknownAddress:
        errors = {"address": "This address is no longer there. Choose another."}
        return _checkout_page(request, member.username, typed, errors=errors, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    except IdempotencyKeyReused:
        said = "This form has placed an order already, and was changed since. Your orders are below Orders."
        return _checkout_page(request, member.username, typed, problem=[said], status=HTTPStatus.CONFLICT)
    except CannotOrder as error:
        return _checkout_page(request, member.username, typed, obstacles=error.obstacles, status=HTTPStatus.CONFLICT)
    return pages.redirect(f"{ORDERS}/{order.order_id}", said="bought")


def _placed(request: Request, username: str, typed: Mapping[str, str]) -> Order:
    """The order that the checkout's form asks for, placed now or by an earlier sending of the form.

    Raises InvalidFields, BadRequest, and what placing an order raises.
    """
    lines = [_LINE.fullmatch(line) for line in typed.get("items", "").split(",")]
    items = [
        {"dealId": line[1], "quantity": int(line[2]), "price": line[3]} for line in lines if line is not None
    ]  # a line that is none is found by its absence
    if len(items) < len(lines):
        raise BadRequest(_UNREADABLE)
    try:
        new = check(NewOrder, {"address": typed.get("address", ""), "items": items})
    except InvalidFields as error:
        if "address" in error.errors:
            raise
        raise BadRequest(_UNREADABLE) from error
    once = forms.idempotency(typed, username, new.model_dump(mode="json"))
    if once is None:
        raise BadRequest(_UNREADABLE)
    now = request.now
    order = placing.place(
        table(),
        username,
        new.address,
        new.wanted(),
        now,
        secrets.token_bytes(16),
        chance=random.SystemRandom().random,
        idempotency=once,
        correlation_id=request.correlation_id,
        telling=order_news.telling,
    )
    if order.correlation_id == request.correlation_id:  # else an earlier sending of this form placed it
        report(metrics.ORDERS_PLACED)
    return order


def _checkout_page(
    request: Request,
    username: str,
    typed: Mapping[str, str] | None = None,
    *,
    errors: Mapping[str, str] | None = None,
    problem: Sequence[str] = (),
    obstacles: Sequence[Obstacle] = (),
    status: int = HTTPStatus.OK,
) -> Answer:
    """All in the cart that can be ordered, at today's prices, and where it may go. The form's key is a new one.

    What was wrong with the whole of an order is said above: a ``problem``, and the ``obstacles`` to its items.
    """
    asked: list[Callable[[], Any]] = [
        partial(carts.view, table(), username, request.now),
        partial(addresses.of, table(), username),
        partial(cookies.unread_of, table(), request),
    ]
    items, known, unread = table().gather(asked)
    able = [item for item in items if obstacle_of(item, request.now) is None]
    problems = [*problem, *(_said(obstacle, items) for obstacle in obstacles)]
    if not able and not problems:
        return pages.redirect(CART)
    chosen = (typed or {}).get("address", "")
    return pages.page(
        "shop/checkout.html",
        here=CHECKOUT,
        status=status,
        said=None if problems or errors else request.query.get("said"),
        lines=[line_of(item, request.now) for item in able],
        left_out=[line_of(item, request.now) for item in items if item not in able],
        items=",".join(f"{item.deal.deal_id}*{item.quantity}*{item.deal.price}" for item in able),
        totals=totals_of(able),
        addresses=shown(known),
        chosen=chosen if chosen in known else next(iter(known), ""),
        typed=dict.fromkeys(("name", *FIELDS), "") | ({} if known else {"name": "home"}),
        key=forms.new_key(),
        errors=dict(errors or {}),
        problem=problems,
        unread=unread,
    )


def _said(obstacle: Obstacle, items: Sequence[CartItem]) -> str:
    """Why one item of an order cannot be ordered, with a price as pages write it."""
    for item in items:
        if obstacle.price is not None and item.deal.deal_id == obstacle.deal_id:
            return f"{item.deal.title} costs {views.money(obstacle.price, item.deal.currency)} now, more than before."
    return obstacle.detail if obstacle.detail.endswith(".") else f"{obstacle.detail}."
