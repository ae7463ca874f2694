"""The shop: addresses, carts and orders of members; open orders and stock for editors."""

from __future__ import annotations

import os
import random
import re
import secrets
from collections.abc import Callable, Collection
from datetime import datetime
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import Response
from pydantic import TypeAdapter, ValidationError

from features.shop import account, documents
from features.shop import metrics as shop_metrics
from features.shop.bodies import AddressName, CartChange, NewAddress, NewOrder, OrderStep, StockChange
from features.shop.data import addresses, carts, order_items, placing, steps, stock
from features.shop.data.addresses import UnknownAddress
from features.shop.data.order_items import OPEN
from features.shop.models import Order, OrderStatus
from shared.api.app import PAGED, calling, create_app, editors_only, of_editors, of_members, serve
from shared.api.documents import page as page_of
from shared.api.fields import idempotency, with_body
from shared.data.catalog import deals
from shared.errors import BadRequest, InvalidName
from shared.http.answers import json_answer, nothing
from shared.http.requests import Event, correlation_id, paging
from shared.runtime.environment import table
from shared.runtime.metrics import report
from shared.values import times

OF_EDITORS: set[tuple[str, str]] = set()
"""The routes for editors only, by method and path, filled by ``route``; members may call the others."""

KEYED = ("Idempotency-Key",)

_ADDRESS_NAME: TypeAdapter[str] = TypeAdapter(AddressName)

_Handler = Callable[..., Response[Any]]

app = create_app(with_body)


def _shape(path: str) -> str:
    """A path without its parameters' names, which the gateway and the app spell differently."""
    return re.sub(r"<\w+>|{\w+}", "*", path)


def route(method: str, path: str, **described: Any) -> Callable[[_Handler], _Handler]:
    """Add a route of the shop. The guard checks the caller that the OpenAPI document names."""
    if described["tags"] == ["editor"]:
        OF_EDITORS.add((method, _shape(path)))
    return app.route(path, method, **described)


@route("PUT", "/me/addresses/<name>", **of_members("Save an address", "Address", errors=[404]))
def save_address(name: str, new: NewAddress) -> Response[Any]:
    own, address = calling(app), new.to_address()
    addresses.save(table(), own.username, _address_name(name), address, own.account_id)
    return json_answer(account.document(address))


@route("DELETE", "/me/addresses/<name>", **of_members("Remove an address", None, status=204, errors=[404]))
def remove_address(name: str) -> Response[Any]:
    try:
        known = _address_name(name)
    except InvalidName as error:
        raise UnknownAddress(name[:40]) from error
    addresses.remove(table(), calling(app).username, known, calling(app).account_id)
    return nothing()


@route("GET", "/me/cart", **of_members("Get your cart, with price changes", "Cart"))
def my_cart() -> Response[Any]:
    now = times.now()
    return json_answer(documents.cart(carts.view(table(), calling(app).username, now), now))


@route("PUT", "/me/cart/<deal_id>", **of_members("Set a deal's quantity in your cart", "CartItem", errors=[404, 409]))
def put_into_cart(deal_id: str, change: CartChange) -> Response[Any]:
    own, now = calling(app), times.now()
    deal = deals.find(table(), deal_id, consistent=True)
    item = carts.put_in(table(), own.username, deal.deal_id, change.quantity, now, own.account_id)
    return json_answer(documents.cart_item(item, now))


@route("DELETE", "/me/cart/<deal_id>", **of_members("Remove a deal from your cart", None, status=204, errors=[404]))
def take_out_of_cart(deal_id: str) -> Response[Any]:
    own, deal = calling(app), deals.find(table(), deal_id)
    carts.take_out(table(), own.username, deal.deal_id, own.account_id)
    return nothing()


@route("POST", "/orders", **of_members("Place an order", "Order", status=201, errors=[404, 409], query=KEYED))
def place_order(new: NewOrder) -> Response[Any]:
    request = correlation_id(app.current_event.raw_event)
    once = idempotency(app, new.model_dump(mode="json"))
    if once is None:
        raise BadRequest("Send an Idempotency-Key, so that a repeated request places no second order.",
                         "Idempotency-Key")  # fmt: skip
    buyer, from_cart, totals = calling(app).username, new.from_cart, new.seen()
    order = placing.place(
        table(),
        placing.Asked(buyer, new.address, new.wanted(), once, request, from_cart=from_cart, totals=totals),
        times.now(),
        secrets.token_bytes(16),
        chance=random.SystemRandom().random,
        terms=placing.Terms.of(os.environ, steps.notify),
    )
    if order.correlation_id == request:  # otherwise an earlier request placed it
        report(shop_metrics.ORDERS_PLACED)
    return json_answer(documents.order(order), HTTPStatus.CREATED, {"Location": documents.place_of(order.order_id)})


@route("GET", "/orders", **of_members("List your orders", "OrderList", query=[*PAGED, "status", "from", "to"]))
def my_orders() -> Response[Any]:
    own, since, until = calling(app), _time("from"), _time("to")
    page = order_items.latest(table(), own.username, status=_status(), since=since, until=until, **paging(app))
    return json_answer(page_of(page, documents.order_head))


@route("GET", "/orders/<order_id>", **of_members("Get an order: your own or, as an editor, any", "Order", errors=[404]))
def my_order(order_id: str) -> Response[Any]:
    asking = calling(app)
    if asking.role == "editor":  # editors who ship orders see their content
        return json_answer(documents.order(order_items.find(table(), order_id)))
    return json_answer(documents.order(order_items.get(table(), asking.username, order_id)))


@route("POST", "/orders/<order_id>/cancel", **of_members("Cancel an order", "Order", errors=[404, 409]))
def cancel_order(order_id: str) -> Response[Any]:
    return _advance(order_items.get(table(), calling(app).username, order_id), OrderStatus.CANCELLED)


@route(
    "PUT",
    "/orders/<order_id>/status",
    **of_editors("Mark an order as sent, delivered or cancelled", "Order", errors=[404, 409]),
)
def follow_order(order_id: str, step: OrderStep) -> Response[Any]:
    return _advance(order_items.find(table(), order_id), OrderStatus(step.status))


@route(
    "GET",
    "/open-orders",
    **of_editors("List open orders, oldest first", "OrderList", query=[*PAGED, "status"]),
)
def list_open() -> Response[Any]:
    page = order_items.open_orders(table(), times.now(), status=_status(OPEN) or OrderStatus.PLACED, **paging(app))
    return json_answer(page_of(page, documents.order_head))


@route("GET", "/customers/<username>", **of_editors("Get a user and their newest orders", "Customer", errors=[404]))
def one_customer(username: str) -> Response[Any]:
    return json_answer(documents.customer(order_items.customer(table(), username)))


@route("GET", "/deals/<deal_id>/stock", **of_editors("Get a deal's stock", "Stock", errors=[404, 409]))
def stock_of(deal_id: str) -> Response[Any]:
    deal = deals.find(table(), deal_id, consistent=True)
    return json_answer(documents.stock(stock.of(table(), deal.deal_id)))


@route("PUT", "/deals/<deal_id>/stock", **of_editors("Put stock on sale", "Stock", errors=[404, 409], query=KEYED))
def change_stock(deal_id: str, change: StockChange) -> Response[Any]:
    deal = deals.find(table(), deal_id, consistent=True)
    if change.left is not None:
        return json_answer(documents.stock(stock.leave(table(), deal.deal_id, change.left, shards=change.shards)))
    once = idempotency(app, {"deal": deal.deal_id, **change.model_dump(mode="json")})
    found = stock.add(table(), deal.deal_id, change.add or 0, times.now(), shards=change.shards, idempotency=once)
    return json_answer(documents.stock(found))


def _advance(order: Order, status: OrderStatus) -> Response[Any]:
    request, notify = correlation_id(app.current_event.raw_event), steps.notify
    order = steps.advance(table(), order, status, times.now(), correlation_id=request, notify=notify)
    return json_answer(documents.order(order))


def _address_name(parameter: str) -> str:
    """The address name in a path. Raises InvalidName."""
    try:
        return _ADDRESS_NAME.validate_python(parameter)
    except ValidationError as error:
        raise InvalidName("The name of an address must have 1 to 40 visible characters.") from error


def _status(among: Collection[OrderStatus] = tuple(OrderStatus)) -> OrderStatus | None:
    asked = app.current_event.get_query_string_value("status", None)
    if asked is not None and asked not in among:
        raise BadRequest(f"status must be one of {', '.join(among)}.", "status")
    return None if asked is None else OrderStatus(asked)


def _time(name: str) -> datetime | None:
    asked = app.current_event.get_query_string_value(name, None)
    try:
        return None if asked is None else times.from_iso(asked)
    except (ValueError, OverflowError) as error:
        raise BadRequest(f"{name} must be an ISO 8601 time with an offset: 2026-06-04T20:28:53Z.", name) from error


def _editors_where_they_are_needed(event: Event) -> None:
    """Guard: require an editor on editors' routes. Raises NotSignedIn, Forbidden."""
    if (event["httpMethod"], _shape(event["resource"])) in OF_EDITORS:
        editors_only(event)


handler = serve(app, _editors_where_they_are_needed)
