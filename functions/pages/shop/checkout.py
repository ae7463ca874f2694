"""The checkout: its form carries the prices, total and address shown, and an idempotency key.

So pressing twice or reloading orders once, and an order is what the page said or none: what has changed is said, and
asked again.
"""

from __future__ import annotations

import os
import random
import re
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from http import HTTPStatus

from functions.pages.shop.addresses import FIELDS, names_of_countries, shown
from functions.pages.shop.cart import CART, QUANTITIES, bill_of, line_of, obstacle_of, quantity_of
from functions.pages.shop.orders import ORDERS
from shared.api.order_bodies import NewOrder
from shared.data.members import announcements
from shared.data.orders import addresses, carts, placing, reading, stock
from shared.errors import (
    AddressChanged,
    AmountChanged,
    BadRequest,
    CannotOrder,
    CartChanged,
    CartIsFull,
    DealIsOver,
    DealsError,
    IdempotencyKeyReused,
    NotSoldHere,
    UnknownAddress,
)
from shared.html import cookies, forms, pages, views
from shared.html import orders as orders_shown
from shared.html.app import Routes
from shared.html.checking import check
from shared.html.forms import Fields, InvalidFields
from shared.html.pages import Answer
from shared.html.request import Request
from shared.models.catalog import StockLevel
from shared.models.charges import Charges
from shared.models.members import Session
from shared.models.orders import CartItem, Order, Wanted
from shared.runtime import metrics
from shared.runtime.environment import table
from shared.runtime.metrics import report
from shared.values import money
from shared.values.money import CODE

CHECKOUT = "/shop/checkout"

_UNREADABLE = "The form cannot be read. Open the checkout again."

_LINE = re.compile(rf"([0-9A-Za-z]{{27}})\*(\d{{1,2}})\*([0-9.]{{1,20}})\*({CODE})")
"""A line of the checkout's form: a deal, how many pieces, and the price that the page showed, with its currency."""

_SUM = re.compile(f"({CODE})=([0-9.]{{1,20}})")

routes = Routes()


@routes.get(CHECKOUT)
def checkout(request: Request) -> Answer:
    return _checkout_page(request, cookies.member_of(request).username, chosen=request.query.get("address", ""))


@routes.post(CHECKOUT)
def place_order(request: Request) -> Answer:
    """Order what the form says, for the sum that it says, once however often it is sent; or change its pieces."""
    member = cookies.member_of(request)
    typed = forms.read(request.event)
    seen = _seen(typed)
    _, _, name = typed.get("address", "").partition(" ")
    again = partial(_checkout_page, request, member.username, seen=seen, chosen=name)
    try:
        if changed := _changed_pieces(typed, seen):
            for deal_id, pieces in changed.items():
                with suppress(DealIsOver, NotSoldHere, CartIsFull):  # the page says what cannot be ordered
                    carts.put_in(table(), member.username, deal_id, pieces, request.now, member.account_id)
            return pages.redirect(CHECKOUT, address=name, said="pieces")
        order = _placed(request, member, typed, seen)
    except InvalidFields as error:
        return again(errors=error.errors)
    except UnknownAddress:
        return again(errors={"address": "This address is no longer there. Choose another."})
    except AddressChanged:
        errors = {"address": f"The address “{name}” has changed. Check the delivery address."}
        return again(errors=errors, status=HTTPStatus.CONFLICT)
    except (CartChanged, IdempotencyKeyReused, AmountChanged, CannotOrder) as error:
        earlier = _ordered_already(member.username, seen, request.now)
        if earlier:
            return pages.redirect(f"{ORDERS}/{earlier}", said="ordered-already")
        return again(refused=error, status=HTTPStatus.CONFLICT)
    return pages.redirect(f"{ORDERS}/{order.order_id}", said="bought")


def _seen(typed: Fields) -> list[Wanted]:
    """The lines that the form showed. Raises BadRequest."""
    lines = [_LINE.fullmatch(line) for line in typed.get("items", "").split(",")]
    seen = [Wanted(line[1], int(line[2]), line[3], line[4]) for line in lines if line]
    if len(seen) < len(lines):
        raise BadRequest(_UNREADABLE)
    return seen


def _changed_pieces(typed: Fields, seen: Sequence[Wanted]) -> dict[str, int]:
    """The pieces that the form asks for where it showed others, by deal. Raises InvalidFields.

    ``do=take:<deal>:<pieces>`` is the button that takes what is left.
    """
    pressed, _, taken = typed.get("do", "").partition(":")
    deal_id, _, pieces = taken.partition(":")
    take = {deal_id: pieces} if pressed == "take" else {}
    shown = {each.deal_id: str(each.quantity) for each in seen}
    asked = {each: take.get(each, typed.get(f"pieces-{each}", quantity)) for each, quantity in shown.items()}
    try:
        return {each: quantity_of(text) for each, text in asked.items() if text != shown[each]}
    except InvalidFields as error:
        raise InvalidFields({"pieces": f"Each must be 1 to {carts.MOST_PIECES} pieces."}) from error


def _placed(request: Request, member: Session, typed: Fields, seen: Sequence[Wanted]) -> Order:
    """The order that the checkout's form asks for, placed now or by an earlier sending of the form.

    Raises InvalidFields, BadRequest, and what placing an order raises.
    """
    goes_to, _, name = typed.get("address", "").partition(" ")
    items = [
        {"dealId": each.deal_id, **{of: getattr(each, of) for of in ("quantity", "price", "currency")}} for each in seen
    ]
    totals = [_SUM.fullmatch(line) for line in typed.get("totals", "").split(",")]
    try:
        new = check(NewOrder, {"address": name, "items": items})
    except InvalidFields as error:
        if "address" in error.errors:
            raise InvalidFields({"address": "Choose a delivery address."}) from error
        raise BadRequest(_UNREADABLE) from error
    once = forms.idempotency(typed, member.account_id, {**new.model_dump(mode="json"), "totals": typed.get("totals")})
    if once is None or None in totals:
        raise BadRequest(_UNREADABLE)
    asked = placing.Asked(
        member.username,
        new.address,
        new.wanted(),
        once,
        request.correlation_id,
        from_cart=True,
        totals={line[1]: line[2] for line in totals if line},
        goes_to=goes_to,
    )
    chance, terms = random.SystemRandom().random, placing.Terms.of(os.environ, announcements.telling)
    order = placing.place(table(), asked, request.now, secrets.token_bytes(16), chance=chance, terms=terms)
    if order.correlation_id == request.correlation_id:  # else an earlier sending of this form placed it
        report(metrics.ORDERS_PLACED)
    return order


def _ordered_already(username: str, seen: Sequence[Wanted], now: datetime) -> str | None:
    """The id of the user's newest order, if that took all that a form shows out of the cart: another window was
    quicker, and may have bought the last pieces."""
    shown = {each.deal_id for each in seen}
    if not shown.isdisjoint(carts.deals_in(table(), username, now)):
        return None
    for newest in reading.latest(table(), username, limit=1).items:
        if {item.deal_id for item in reading.get(table(), username, newest.order_id).items} == shown:
            return newest.order_id
    return None


def _checkout_page(
    request: Request,
    username: str,
    *,
    chosen: str = "",
    seen: Sequence[Wanted] | None = None,
    errors: Mapping[str, str] | None = None,
    refused: DealsError | None = None,
    status: int | None = None,
) -> Answer:
    """All in the cart that can be ordered, at today's prices, and where it may go. The form's key is a new one.

    Above stands why an order was ``refused`` as a whole, and what is no longer as it was ``seen``.
    """
    (items, known), head = cookies.beside_head(
        request, partial(carts.view, table(), username, request.now), partial(addresses.of, table(), username)
    )
    left = _left_of(items)
    in_the_way = {item.deal.deal_id: obstacle_of(item, request.now, left.get(item.deal.deal_id)) for item in items}
    able = [item for item in items if in_the_way[item.deal.deal_id] is None][: carts.MOST]
    problems = _problems(refused, seen or (), able) if refused else []
    if not able and not problems:
        return pages.redirect(CART)
    short = {item.deal.deal_id: n for item in able if (n := left.get(item.deal.deal_id, item.quantity)) < item.quantity}
    bill = bill_of(able, Charges.of(os.environ))
    return pages.page(
        "shop/checkout.html",
        here=CHECKOUT,
        status=status,
        said=None if problems or errors else request.said,
        lines=[
            {**line_of(item, request.now), "id": item.deal.deal_id, "left": short.get(item.deal.deal_id)}
            for item in able
        ],
        left_out=[
            (item.deal.title, in_the_way[item.deal.deal_id] or f"An order has at most {carts.MOST} deals.")
            for item in items
            if item not in able
        ],
        short=bool(short),
        items=",".join(f"{item.deal.deal_id}*{item.quantity}*{item.deal.price}*{item.deal.currency}" for item in able),
        totals=money.sums(bill.totals),
        sums=",".join(f"{currency}={amount}" for currency, amount in bill.totals.items()),
        bill=orders_shown.bill(bill),
        quantities=QUANTITIES,
        addresses=[
            {**each, "value": f"{addresses.fingerprint(known[each['name']])} {each['name']}"} for each in shown(known)
        ],
        chosen=chosen if chosen in known else next(iter(known), ""),
        countries=names_of_countries(""),
        typed=dict.fromkeys(("name", *FIELDS), "") | ({} if known else {"name": "home"}),
        key=forms.new_key(),
        errors=errors,
        problem=problems,
        **head,
    )


def _left_of(items: Sequence[CartItem]) -> dict[str, int]:
    """How many pieces are left of those deals of which there may be too few."""
    asked = [item.deal.deal_id for item in items if item.quantity > 1 or item.deal.stock is StockLevel.LOW]
    return {deal_id: found.left for deal_id, found in stock.find_many(table(), asked).items()} if asked else {}


def _problems(refused: DealsError, seen: Sequence[Wanted], able: Sequence[CartItem]) -> list[str]:
    """Why an order was refused as a whole, and what is no longer as it was seen: that tells of prices that rose."""
    changes = _changes(seen, able)
    match refused:
        case CannotOrder(obstacles=obstacles):
            return [*changes, *(f"{each.detail.rstrip('.')}." for each in obstacles if each.price is None)]
        case AmountChanged():
            return ["The total has changed since you last saw it.", *changes]
        case _:
            return ["Nothing was ordered: the cart has changed.", *changes]


def _changes(seen: Sequence[Wanted], able: Sequence[CartItem]) -> list[str]:
    """Notes on prices and pieces that are others now than were seen, and on items that came in."""
    before = {each.deal_id: each for each in seen}
    said = []
    for item in able:
        title, deal, was = item.deal.title, item.deal, before.get(item.deal.deal_id)
        if was is None:
            continue
        if (deal.price, deal.currency) != (was.price, was.currency):
            today, then = views.money(deal.price, deal.currency), views.money(was.price, was.currency)
            said.append(f"{title} costs {today} now, not {then}.")
        if item.quantity != was.quantity:
            said.append(f"{title}: {item.quantity} in the cart now, not {was.quantity}.")
    return said + [f"{item.deal.title} is in the cart now, too." for item in able if item.deal.deal_id not in before]
