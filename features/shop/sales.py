"""The desk's part of the shop: open orders, and deals' stock.

It is a separate function, so that the one that posts deals can't change orders, and this one can't write deals.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from typing import Any

from features.desk.frame import editor_of
from features.shop import views as orders_shown
from features.shop.bodies import StockChange
from features.shop.data import order_items, steps, stock
from features.shop.data.order_items import OPEN, NoSuchOrder
from features.shop.data.steps import WrongStep
from features.shop.data.stock import NotThatMany
from features.shop.models import OrderStatus
from shared.data.catalog import deals
from shared.errors import BadRequest, Busy, IdempotencyKeyReused, NoSuchPath, TooLateToUndo
from shared.html import forms, pages, views
from shared.html.forms import InvalidFields, check
from shared.html.pages import Answer, Request, Routes, serve
from shared.models.catalog import Deal
from shared.models.members import Session
from shared.runtime.environment import table

PAGE = 25

ORDERS = "/desk/shop/orders"
STOCK = "/desk/shop/stock"

STEPS = {
    "send": (OrderStatus.SHIPPED, "sent"),
    "deliver": (OrderStatus.DELIVERED, "delivered"),
    "cancel": (OrderStatus.CANCELLED, "cancelled"),
}
"""An order's buttons: the new status, and the code of the notice afterwards."""

LISTS = {
    OrderStatus.PLACED: ("To send", "oldest first", "All orders have been sent."),
    OrderStatus.SHIPPED: ("Sent", "oldest first", "No orders are on their way."),
    OrderStatus.DELIVERED: ("Delivered", "newest first", "No orders have been delivered yet."),
    OrderStatus.CANCELLED: ("Cancelled", "newest first", "No orders have been cancelled."),
}
"""The lists of orders, by status: the name, the sorting, and the text if empty."""

_PIECES = f"Enter a whole number up to {stock.MOST:,}. A negative number takes pieces off sale."
_LEFT = f"Enter a whole number from 0 to {stock.MOST:,}."
_SHARDS = f"Enter 1 to {stock.MAX_SHARDS}, or leave this empty to keep the number of shards."
_WHOLE = re.compile(r"-?[0-9]{1,7}")

routes = Routes()


@routes.get("/desk/shop")
def shop(request: Request) -> Answer:
    editor_of(request)
    return pages.redirect(ORDERS)


@routes.get(ORDERS)
def list_orders(request: Request) -> Answer:
    """The orders of a status with their items: open ones oldest first, others newest first.

    ``?find=`` redirects to the order of a number. ``?done=`` is the order whose button was just pressed.
    """
    editor_of(request)
    wanted = request.query.get("find", "").strip()
    errors = {}
    if wanted:
        try:
            return pages.redirect(f"{ORDERS}/{order_items.find(table(), wanted).order_id}")
        except NoSuchOrder:
            errors = {"find": "There is no order with this number."}
    status = _status(request.query.get("status"))
    read = partial(order_items.open_orders, now=request.now) if status in OPEN else order_items.closed
    page = read(table(), status=status, limit=PAGE, cursor=request.query.get("cursor") or None)
    name, sorting, empty = LISTS[status]
    return pages.page(
        "shop/templates/desk/orders.html",
        here=ORDERS,
        status=HTTPStatus.NOT_FOUND if errors else HTTPStatus.OK,
        orders=[orders_shown.whole(order) for order in order_items.filled(table(), page.items)],
        lists=[(each.value, names[0]) for each, names in LISTS.items()],
        chosen=status.value,
        name=name,
        sorting=sorting,
        empty=empty if not request.query.get("cursor") else "There are no more orders.",
        more=page.next,
        typed=wanted,
        errors=errors,
        done=_done(request),
    )


@routes.get(f"{ORDERS}/<order_id>")
def one_order(request: Request, order_id: str) -> Answer:
    editor_of(request)
    return _order_page(request, order_id)


@routes.post(f"{ORDERS}/<order_id>/<step>")
def take_step(request: Request, order_id: str, step: str) -> Answer:
    """Ship, deliver or cancel an order, or undo that. Repeating it is harmless; of two conflicting steps, one is
    refused. A list's form (``back``) redirects to the list."""
    editor_of(request)
    typed = forms.read(request.event)
    if step != "undo" and step not in STEPS:
        raise NoSuchPath
    order = order_items.find(table(), order_id)
    if step == "undo":
        status, take, notify = _status(typed.get("status")), steps.undo, steps.notify_correction
    else:
        status, take, notify = STEPS[step][0], steps.advance, steps.notify
    try:
        take(table(), order, status, request.now, correlation_id=request.correlation_id, notify=notify)
    except WrongStep as error:
        stands = orders_shown.STATES[OrderStatus(error.status)].lower()
        return _order_page(request, order_id, f"The order is {stands}, and cannot be {STEPS[step][1]} now.")
    except TooLateToUndo as error:
        return _order_page(request, order_id, f"It is too late to undo that. {error}")
    if step == "undo":
        return pages.redirect(f"{ORDERS}/{order.order_id}", notice="undone")
    place = f"?status={_status(typed['back'])}" if "back" in typed else f"/{order.order_id}"
    return pages.lead_to(ORDERS + place, done=order.order_id)


@routes.get("/desk/shop/customers/<username>")
def customer(request: Request, username: str) -> Answer:
    """A customer with addresses and newest orders. One Query after the session's."""
    editor_of(request)
    found = order_items.customer(table(), username, newest=PAGE)
    return pages.page(
        "shop/templates/desk/customer.html",
        here=request.path,
        customer={"username": found.username, "name": found.name},
        addresses=[(name, orders_shown.address_lines(each)) for name, each in found.addresses.items()],
        orders=[orders_shown.head(order) for order in found.orders],
    )


@routes.get(f"{STOCK}/<number>")
def stock_of(request: Request, number: str) -> Answer:
    editor_of(request)
    return _stock_page(request, deals.find(table(), number, consistent=True))


@routes.post(f"{STOCK}/<number>")
def change_stock(request: Request, number: str) -> Answer:
    """Add or remove pieces (``do=add``), or set how many are left (``do=left``)."""
    session = editor_of(request)
    typed = forms.read(request.event)
    deal = deals.find(table(), number, consistent=True)
    try:
        _change(request, session, deal, typed)
    except InvalidFields as error:
        return _stock_page(request, deal, typed, error.errors)
    except (NotThatMany, IdempotencyKeyReused) as error:
        said = (
            str(error)
            if isinstance(error, NotThatMany)
            else "This form was already sent. Send it again to repeat the change."
        )
        return _stock_page(request, deal, {**typed, "key": forms.new_key()}, {"pieces": said}, HTTPStatus.CONFLICT)
    except Busy:
        said = "Many orders are being placed right now. You can still add pieces or take some off."
        return _stock_page(request, deal, typed, {"pieces": said}, HTTPStatus.CONFLICT)
    return pages.redirect(f"{STOCK}/{number}", notice="stock")


def _status(text: str | None) -> OrderStatus:
    """The status in a query or a form. Raises BadRequest."""
    try:
        return OrderStatus(text or OrderStatus.PLACED)
    except ValueError as error:
        raise BadRequest("There is no such order status.", "status") from error


def _done(request: Request) -> dict[str, Any] | None:
    """The step just taken by a button, which can be undone for a minute; None without one."""
    order_id = request.query.get("done")
    if not order_id:
        return None
    try:
        order = order_items.find(table(), order_id)
    except NoSuchOrder:
        return None
    undoes = steps.can_undo(order, request.now)
    return {**orders_shown.head(order), "undoes": undoes} if order.status is not OrderStatus.PLACED else None


def _change(request: Request, session: Session, deal: Deal, typed: Mapping[str, str]) -> None:
    """Read a stock's form and apply it. Raises InvalidFields, NotThatMany, IdempotencyKeyReused, Busy."""
    name = "left" if typed.get("do") == "left" else "add"
    given = {name: typed.get("pieces", "").strip(), "shards": typed.get("shards", "").strip()}
    numbers = {each: int(text) if _WHOLE.fullmatch(text) else text for each, text in given.items() if text}
    try:
        change = check(StockChange, {name: "", **numbers}, {"add": _PIECES, "left": _LEFT, "shards": _SHARDS})
    except InvalidFields as error:
        said = {"pieces" if each == name else each: words for each, words in error.errors.items()}
        raise InvalidFields(said) from error
    if change.left is not None:
        stock.leave(table(), deal.deal_id, change.left, shards=change.shards)
        return
    once = forms.idempotency(typed, session.account_id, {"deal": deal.deal_id, **change.model_dump(mode="json")})
    stock.add(table(), deal.deal_id, change.add or 0, request.now, shards=change.shards, idempotency=once)


def _order_page(request: Request, order_id: str, problem: str | None = None) -> Answer:
    """An order's page, with the reason why a step was refused."""
    order = order_items.find(table(), order_id)
    return pages.page(
        "shop/templates/desk/one-order.html",
        here=f"{ORDERS}/{order.order_id}",
        status=HTTPStatus.CONFLICT if problem else HTTPStatus.OK,
        notice=None if problem else request.notice,
        order=orders_shown.whole(order),
        done=None if problem else _done(request),
        undoes=steps.can_undo(order, request.now),
        problem=problem,
    )


def _stock_page(
    request: Request,
    deal: Deal,
    typed: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
    status: int | None = None,
) -> Answer:
    on_sale = stock.find(table(), deal.deal_id)
    typed = typed or {}
    return pages.page(
        "shop/templates/desk/stock.html",
        here=f"{STOCK}/{deal.page_id}",
        status=status,
        notice=None if errors else request.notice,
        d=views.card(deal, request.now, width=128),
        stock=on_sale
        and {
            **{name: f"{getattr(on_sale, name):,}" for name in ("left", "ordered", "on_sale")},
            "shards": [
                {"number": each.number, "left": f"{each.left:,}", "ordered": f"{each.ordered:,}"}
                for each in on_sale.shards
            ],
        },
        most_shards=stock.MAX_SHARDS,
        typed={name: typed.get(name, "") for name in ("pieces", "shards")},
        key=typed.get("key") or forms.new_key(),
        errors=errors,
    )


handler = serve(routes, guards=[forms.ours_only])
