"""The desk's part of the shop: orders that are still to be sent, and how much of a deal is on sale.

A function of its own, so that the function that posts deals can change no order, and this one can write no deal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus

from shared.api.order_bodies import StockChange
from shared.data.catalog import deals
from shared.data.members import order_news
from shared.data.orders import open_orders, reading, steps, stock
from shared.errors import Busy, IdempotencyKeyReused, NotThatMany, WrongStep
from shared.html import cookies, forms, pages, views
from shared.html import orders as orders_shown
from shared.html.app import Routes, serve
from shared.html.checking import check
from shared.html.forms import InvalidFields
from shared.html.pages import Answer
from shared.html.request import Request
from shared.models.catalog import Deal
from shared.models.members import Session
from shared.models.orders import Order, OrderStatus
from shared.runtime.environment import table

PAGE = 25

ORDERS = "/desk/shop/orders"
STOCK = "/desk/shop/stock"

STEPS = {
    "send": (OrderStatus.SHIPPED, "sent"),
    "deliver": (OrderStatus.DELIVERED, "delivered"),
    "cancel": (OrderStatus.CANCELLED, "cancelled"),
}
"""Buttons of an order: the status that each gives it, and the code of what is said afterwards."""

_PIECES = f"A whole number up to {stock.MOST:,}; below zero takes pieces off sale."
_LEFT = f"A whole number from 0 to {stock.MOST:,}."
_SHARDS = f"1 to {stock.MAX_SHARDS}, or nothing to leave them as they are."
_WHOLE = re.compile(r"-?[0-9]{1,7}")

routes = Routes()


@routes.get("/desk/shop")
def shop(request: Request) -> Answer:
    _editor(request)
    return pages.redirect(ORDERS)


@routes.get(ORDERS)
def list_open(request: Request) -> Answer:
    """The orders still to be sent, oldest first."""
    _editor(request)
    page = open_orders.read(table(), request.now, limit=PAGE, cursor=request.query.get("cursor") or None)
    return pages.page(
        "desk/orders.html",
        here=ORDERS,
        said=request.query.get("said"),
        orders=[orders_shown.head(order) for order in page.items],
        newer=page.next,
        first=not request.query.get("cursor"),
    )


@routes.get(f"{ORDERS}/<order_id>")
def one_order(request: Request, order_id: str) -> Answer:
    _editor(request)
    return _order_page(request, reading.find(table(), order_id))


@routes.post(f"{ORDERS}/<order_id>/<step>")
def take_step(request: Request, order_id: str, step: str) -> Answer:
    """Send, deliver or cancel an order. Doing it twice does it once; of two that exclude each other, one is told."""
    _editor(request)
    if step not in STEPS:
        return pages.problem_page(HTTPStatus.NOT_FOUND, "There is nothing at this address.")
    status, said = STEPS[step]
    order = reading.find(table(), order_id)
    try:
        steps.advance(
            table(),
            order,
            status,
            request.now,
            correlation_id=request.correlation_id,
            telling=order_news.telling,
        )
    except WrongStep:
        stands = reading.get(table(), order.username, order_id)
        problem = f"The order is {orders_shown.STATES[stands.status].lower()}, and cannot be {said} now."
        return _order_page(request, stands, problem=problem, status=HTTPStatus.CONFLICT)
    return pages.redirect(f"{ORDERS}/{order_id}", said=said)


@routes.get(f"{STOCK}/<number>")
def stock_of(request: Request, number: str) -> Answer:
    _editor(request)
    return _stock_page(request, deals.find(table(), number, consistent=True))


@routes.post(f"{STOCK}/<number>")
def change_stock(request: Request, number: str) -> Answer:
    """Put more pieces on sale or take some off (``do=add``), or have exactly so many left (``do=left``)."""
    session = _editor(request)
    typed = forms.read(request.event)
    deal = deals.find(table(), number, consistent=True)
    try:
        _change(request, session, deal, typed)
    except InvalidFields as error:
        return _stock_page(request, deal, typed, error.errors)
    except (NotThatMany, IdempotencyKeyReused) as error:
        errors = {"pieces": str(error) if isinstance(error, NotThatMany) else "This form was used already. Send again."}
        fresh = {**typed, "key": forms.new_key()}
        return _stock_page(request, deal, fresh, errors, HTTPStatus.CONFLICT)
    except Busy:
        errors = {"pieces": "Many are buying at this moment. Add to the stock, or take some off: that goes through."}
        return _stock_page(request, deal, typed, errors, HTTPStatus.CONFLICT)
    return pages.redirect(f"{STOCK}/{number}", said="stock")


def _editor(request: Request) -> Session:
    return cookies.editor_of(table(), request, "The desk is for editors.")


def _change(request: Request, session: Session, deal: Deal, typed: Mapping[str, str]) -> None:
    """Read the form of a stock. Raises InvalidFields, NotThatMany, IdempotencyKeyReused, Busy."""
    name = "left" if typed.get("do") == "left" else "add"
    given = {name: typed.get("pieces", "").strip(), "shards": typed.get("shards", "").strip()}
    numbers = {each: int(text) if _WHOLE.fullmatch(text) else text for each, text in given.items() if text}
    try:
        change = check(StockChange, {name: "", **numbers}, {"add": _PIECES, "left": _LEFT, "shards": _SHARDS})
    except InvalidFields as error:
        raise InvalidFields(
            {"shards" if each == "shards" else "pieces": sentence for each, sentence in error.errors.items()}
        ) from error
    if change.left is not None:
        stock.leave(table(), deal.deal_id, change.left, shards=change.shards)
        return
    once = forms.idempotency(typed, session.account_id, {"deal": deal.deal_id, **change.model_dump(mode="json")})
    stock.add(table(), deal.deal_id, change.add or 0, request.now, shards=change.shards, idempotency=once)


def _order_page(request: Request, order: Order, *, problem: str | None = None, status: int = HTTPStatus.OK) -> Answer:
    return pages.page(
        "desk/one-order.html",
        here=f"{ORDERS}/{order.order_id}",
        status=status,
        said=None if problem else request.query.get("said"),
        order=orders_shown.whole(order),
        problem=problem,
    )


def _stock_page(
    request: Request,
    deal: Deal,
    typed: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
    status: int = HTTPStatus.UNPROCESSABLE_ENTITY,
) -> Answer:
    on_sale = stock.find(table(), deal.deal_id)
    typed = typed or {}
    return pages.page(
        "desk/stock.html",
        here=f"{STOCK}/{deal.number or deal.deal_id}",
        status=status if errors else HTTPStatus.OK,
        said=None if errors else request.query.get("said"),
        d=views.card(deal, request.now, width=128),
        stock=on_sale
        and {
            "left": f"{on_sale.left:,}",
            "ordered": f"{on_sale.ordered:,}",
            "on_sale": f"{on_sale.on_sale:,}",
            "shards": [
                {"number": each.number, "left": f"{each.left:,}", "ordered": f"{each.ordered:,}"}
                for each in on_sale.shards
            ],
        },
        most_shards=stock.MAX_SHARDS,
        typed={name: typed.get(name, "") for name in ("pieces", "shards")},
        key=typed.get("key") or forms.new_key(),
        errors=dict(errors or {}),
    )


handler = serve(routes, guards=[forms.ours_only])
