"""The shop in a browser: the cart, the addresses, the checkout, and one's orders.

The buy button stands on deals' pages, which are everybody's, kept at the edge: it is a plain form that leads here. The
checkout's form carries the prices that were seen and an idempotency key, so that pressing twice or reloading orders
once, and nobody pays more than the page said.
"""

from __future__ import annotations

import random
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from http import HTTPStatus
from typing import Any

from shared.api.fields import Body
from shared.api.order_bodies import AddressName, CartChange, NewAddress, NewOrder
from shared.data.catalog import deals
from shared.data.members import order_news
from shared.data.orders import addresses, carts, placing, reading, steps
from shared.errors import (
    BadRequest,
    CannotOrder,
    CartIsFull,
    DealIsOver,
    IdempotencyKeyReused,
    NotSoldHere,
    Obstacle,
    TooManyAddresses,
    UnknownAddress,
    WrongStep,
)
from shared.html import cookies, forms, pages, views
from shared.html import orders as orders_shown
from shared.html.app import Routes, serve
from shared.html.checking import check
from shared.html.forms import Fields, InvalidFields
from shared.html.pages import Answer
from shared.html.request import Request
from shared.models.catalog import Status, StockLevel
from shared.models.members import Address, Session
from shared.models.orders import CartItem, Order, OrderStatus
from shared.runtime import metrics
from shared.runtime.environment import table
from shared.runtime.reporting import report
from shared.values.money import cents, money

PAGE = 25

CART = "/shop/cart"
ADDRESSES = "/shop/addresses"
CHECKOUT = "/shop/checkout"
ORDERS = "/shop/orders"

REQUIRED = ("recipient", "street", "city", "postalCode", "country")
FIELDS = (*REQUIRED, "region")
"""The fields of an address, named as in the API's bodies."""

_QUANTITY = f"must be 1 to {carts.MOST_PIECES} pieces."
_UNREADABLE = "The form cannot be read. Open the checkout again."
_WORDS = {"country": "This must be two capital letters, such as US."}
_LINE = re.compile(r"([0-9A-Za-z]{27})\*(\d{1,2})\*([0-9.]{1,20})")
"""A line of the checkout's form: a deal, how many pieces, and the price that the page showed."""

routes = Routes()


class NamedAddress(Body):
    """The name under which an address is kept."""

    name: AddressName


@routes.get("/shop")
def shop(_request: Request) -> Answer:
    return pages.redirect(CART)


@routes.get(CART)
def cart(request: Request) -> Answer:
    return _cart_page(request, _member(request).username)


@routes.post(CART)
def put_into_cart(request: Request) -> Answer:
    """Have so many pieces of a deal in the cart; without a number one, or as many as there are."""
    typed = forms.read(request.event)
    deal = deals.find(table(), typed.get("deal", ""), consistent=True)
    number = deal.number or deal.deal_id
    member = cookies.sender_of(table(), request, f"/deals/{number}")
    if isinstance(member, Answer):
        return member
    username = member.username
    try:
        if "quantity" in typed:
            quantity = _quantity(typed["quantity"])
        else:
            held = {item.deal.deal_id: item.quantity for item in carts.view(table(), username, request.now)}
            quantity = held.get(deal.deal_id, 1)
        carts.put_in(table(), username, deal.deal_id, quantity, request.now)
    except InvalidFields:
        errors = {f"quantity-{number}": f"{deal.title}: {_QUANTITY}"}
        return _cart_page(request, username, errors=errors, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    except (DealIsOver, NotSoldHere, CartIsFull) as error:
        said = str(error) if isinstance(error, CartIsFull) else f"{deal.title} cannot be bought here any more."
        return _cart_page(request, username, problem=said, status=HTTPStatus.CONFLICT)
    return pages.redirect(CART, said="in-cart")


@routes.post(f"{CART}/remove", stands_on=CART)
def take_out_of_cart(request: Request) -> Answer:
    member = cookies.sender_of(table(), request, CART)
    if isinstance(member, Answer):
        return member
    deal = deals.find(table(), forms.read(request.event).get("deal", ""))
    carts.take_out(table(), member.username, deal.deal_id)
    return pages.redirect(CART, said="taken-out")


@routes.get(ADDRESSES)
def address_book(request: Request) -> Answer:
    """All addresses, and a form: empty, or with the one that ``?name=`` names."""
    return _address_page(request, _member(request).username, {"name": request.query.get("name", "")}, fill=True)


@routes.post(ADDRESSES)
def save_address(request: Request) -> Answer:
    """Keep an address under its name, in place of the one that had it."""
    member = _member(request)
    typed = forms.read(request.event)
    place = forms.own_path(typed.get("next"), ADDRESSES)
    try:
        name, address = _address(typed)
        addresses.save(table(), member.username, name, address)
    except InvalidFields as error:
        return _address_page(request, member.username, typed, error.errors)
    except TooManyAddresses as error:
        return _address_page(request, member.username, typed, {"name": str(error)})
    return forms.lead_to(place, said="address")


@routes.post(f"{ADDRESSES}/remove", stands_on=ADDRESSES)
def remove_address(request: Request) -> Answer:
    member = cookies.sender_of(table(), request, ADDRESSES)
    if isinstance(member, Answer):
        return member
    addresses.remove(table(), member.username, forms.read(request.event).get("name", ""))
    return pages.redirect(ADDRESSES, said="address-removed")


@routes.get(CHECKOUT)
def checkout(request: Request) -> Answer:
    return _checkout_page(request, _member(request).username)


@routes.post(CHECKOUT)
def place_order(request: Request) -> Answer:
    """Order what the form says at no more than the prices it says, once however often it is sent."""
    member = _member(request)
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


@routes.get(ORDERS)
def my_orders(request: Request) -> Answer:
    asked = request.query.get("status") or None
    try:
        status = OrderStatus(asked) if asked else None
    except ValueError as error:
        raise BadRequest("There is no such status of orders.", "status") from error
    username = _member(request).username
    cursor = request.query.get("cursor") or None
    page, unread = cookies.beside_unread(
        table(), request, partial(reading.latest, table(), username, limit=PAGE, cursor=cursor, status=status)
    )
    return pages.page(
        "shop/orders.html",
        here=ORDERS,
        said=request.query.get("said"),
        orders=[orders_shown.head(order) for order in page.items],
        statuses=[("", "All")] + [(each.value, name) for each, name in orders_shown.STATES.items()],
        chosen=asked or "",
        older=page.next,
        unread=unread,
    )


@routes.get(f"{ORDERS}/<order_id>")
def one_order(request: Request, order_id: str) -> Answer:
    return _order_page(request, _member(request).username, order_id)


@routes.get(f"{ORDERS}/<order_id>/cancel")
def cancelling(request: Request, order_id: str) -> Answer:
    """A page that says what cancelling does, with the button that does it."""
    username = _member(request).username
    order, unread = cookies.beside_unread(table(), request, partial(reading.get, table(), username, order_id))
    if order.status is not OrderStatus.PLACED:
        return pages.redirect(f"{ORDERS}/{order_id}")
    return pages.page("shop/cancel.html", here=request.path, order=orders_shown.head(order), unread=unread)


@routes.post(f"{ORDERS}/<order_id>/cancel")
def cancel_order(request: Request, order_id: str) -> Answer:
    """Cancel an order that is not sent yet. Doing it twice cancels once."""
    member = cookies.sender_of(table(), request, f"{ORDERS}/{order_id}")
    if isinstance(member, Answer):
        return member
    order = reading.get(table(), member.username, order_id)
    try:
        steps.advance(
            table(),
            order,
            OrderStatus.CANCELLED,
            request.now,
            correlation_id=request.correlation_id,
            telling=order_news.telling,
        )
    except WrongStep:
        return _order_page(request, member.username, order_id, too_late=True)
    return pages.redirect(f"{ORDERS}/{order_id}", said="cancelled")


def _member(request: Request) -> Session:
    return cookies.member_of(table(), request)


def _quantity(text: str) -> int:
    """How many pieces a field says. Raises InvalidFields."""
    number = int(text) if re.fullmatch(r"[0-9]{1,4}", text.strip()) else 0
    return check(CartChange, {"quantity": number}).quantity


def _address(typed: Mapping[str, str]) -> tuple[str, Address]:
    """The name and the address that a form says. Raises InvalidFields, for all fields at once."""
    given = {name: typed.get(name, "").strip() for name in FIELDS}
    given["country"] = given["country"].upper()
    body = {name: value for name, value in given.items() if value or name in REQUIRED}
    errors: dict[str, str] = {}
    try:
        named = check(NamedAddress, {"name": typed.get("name", "").strip()})
    except InvalidFields as error:
        errors |= error.errors
    try:
        new = check(NewAddress, body, _WORDS)
    except InvalidFields as error:
        errors |= error.errors
    if errors:
        raise InvalidFields(errors)
    return named.name, new.to_address()


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


def _cart_page(
    request: Request,
    username: str,
    *,
    errors: Mapping[str, str] | None = None,
    problem: str | None = None,
    status: int = HTTPStatus.OK,
) -> Answer:
    items, unread = cookies.beside_unread(table(), request, partial(carts.view, table(), username, request.now))
    return pages.page(
        "shop/cart.html",
        here=CART,
        status=status,
        said=None if problem or errors else request.query.get("said"),
        lines=[_line(item, request.now) for item in items],
        totals=_totals([item for item in items if _obstacle(item, request.now) is None]),
        can_order=any(_obstacle(item, request.now) is None for item in items),
        quantities={str(number): str(number) for number in range(1, carts.MOST_PIECES + 1)},
        errors=dict(errors or {}),
        problem=problem,
        unread=unread,
    )


def _address_page(
    request: Request,
    username: str,
    typed: Fields,
    errors: Mapping[str, str] | None = None,
    *,
    fill: bool = False,
) -> Answer:
    known, unread = cookies.beside_unread(table(), request, partial(addresses.of, table(), username))
    chosen = known.get(typed.get("name", ""))
    if fill:
        typed = _typed(typed["name"], chosen) if chosen else {}
    return pages.page(
        "shop/addresses.html",
        here=ADDRESSES,
        status=HTTPStatus.UNPROCESSABLE_ENTITY if errors else HTTPStatus.OK,
        said=None if errors else request.query.get("said"),
        addresses=_shown(known),
        typed={name: typed.get(name, "") for name in ("name", *FIELDS)},
        editing=bool(chosen),
        errors=dict(errors or {}),
        next=forms.own_path(typed.get("next") or request.query.get("next"), ""),
        most=addresses.MOST,
        unread=unread,
    )


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
    """What is in the cart and can be ordered, at today's prices, and where it may go. The form's key is a new one.

    What was wrong with the whole of an order is said above: a ``problem``, and the ``obstacles`` to its items.
    """
    asked: list[Callable[[], Any]] = [
        partial(carts.view, table(), username, request.now),
        partial(addresses.of, table(), username),
        partial(cookies.unread_of, table(), request),
    ]
    items, known, unread = table().gather(asked)
    able = [item for item in items if _obstacle(item, request.now) is None]
    problems = [*problem, *(_said(obstacle, items) for obstacle in obstacles)]
    if not able and not problems:
        return pages.redirect(CART)
    chosen = (typed or {}).get("address", "")
    return pages.page(
        "shop/checkout.html",
        here=CHECKOUT,
        status=status,
        said=None if problems or errors else request.query.get("said"),
        lines=[_line(item, request.now) for item in able],
        left_out=[_line(item, request.now) for item in items if item not in able],
        items=",".join(f"{item.deal.deal_id}*{item.quantity}*{item.deal.price}" for item in able),
        totals=_totals(able),
        addresses=_shown(known),
        chosen=chosen if chosen in known else next(iter(known), ""),
        typed=dict.fromkeys(("name", *FIELDS), "") | ({} if known else {"name": "home"}),
        key=forms.new_key(),
        errors=dict(errors or {}),
        problem=problems,
        unread=unread,
    )


def _order_page(request: Request, username: str, order_id: str, *, too_late: bool = False) -> Answer:
    """An order as it is now; ``too_late`` to be cancelled, as somebody has just tried."""
    order, unread = cookies.beside_unread(table(), request, partial(reading.get, table(), username, order_id))
    state = orders_shown.STATES[order.status].lower()
    return pages.page(
        "shop/order.html",
        here=f"{ORDERS}/{order.order_id}",
        status=HTTPStatus.CONFLICT if too_late else HTTPStatus.OK,
        said=None if too_late else request.query.get("said"),
        order=orders_shown.whole(order),
        problem=f"It is {state}, and cannot be cancelled any more." if too_late else None,
        unread=unread,
    )


def _line(item: CartItem, now: datetime) -> dict[str, Any]:
    """A deal in the cart as a page shows it, with what is in its way and whether its price moved."""
    deal = item.deal
    return {
        **views.card(deal, now, width=128),
        "quantity": str(item.quantity),
        "together": views.money(money(cents(deal.price) * item.quantity), deal.currency),
        "before": views.money(item.price, deal.currency) if item.changed else None,
        "dearer": cents(deal.price) > cents(item.price),
        "few": deal.stock is StockLevel.LOW,
        "obstacle": _obstacle(item, now),
    }


def _obstacle(item: CartItem, now: datetime) -> str | None:
    """Why what is in the cart cannot be ordered now, as far as the deal itself says, or None."""
    if item.deal.status(now) is not Status.ACTIVE:
        return "This deal is over."
    if item.deal.stock is StockLevel.SOLD_OUT:
        return "Sold out."
    return None


def _totals(items: Sequence[CartItem]) -> str:
    """What some items cost together today; currencies are not added up."""
    sums: dict[str, int] = {}
    for item in items:
        sums[item.deal.currency] = sums.get(item.deal.currency, 0) + cents(item.deal.price) * item.quantity
    return " and ".join(views.money(money(amount), currency) for currency, amount in sorted(sums.items()))


def _shown(known: Mapping[str, Address]) -> list[dict[str, Any]]:
    return [{"name": name, "lines": orders_shown.address_lines(address)} for name, address in known.items()]


def _typed(name: str, address: Address) -> Fields:
    """An address as its form shows it."""
    return {
        "name": name,
        "recipient": address.recipient,
        "street": address.street,
        "city": address.city,
        "region": address.region or "",
        "postalCode": address.postal_code,
        "country": address.country,
    }


def _said(obstacle: Obstacle, items: Sequence[CartItem]) -> str:
    """Why one item of an order cannot be ordered, with a price as pages write it."""
    for item in items:
        if obstacle.price is not None and item.deal.deal_id == obstacle.deal_id:
            return f"{item.deal.title} costs {views.money(obstacle.price, item.deal.currency)} now, more than before."
    return obstacle.detail if obstacle.detail.endswith(".") else f"{obstacle.detail}."


handler = serve(routes, guards=[forms.ours_only])
