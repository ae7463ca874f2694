"""The shop's pages: the cart, addresses, orders and the checkout.

The cart's form is also on deals' pages, which are public and cached. The checkout's form has the prices, total and
address shown, and an idempotency key: pressing twice or reloading orders once, and an order is placed only as shown;
otherwise the page says what has changed and asks again.
"""

from __future__ import annotations

import os
import random
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from http import HTTPStatus
from typing import Any

from features.shop import account, bodies
from features.shop import metrics as shop_metrics
from features.shop import views as orders_shown
from features.shop.bodies import AddressName, CartChange, NewAddress, NewOrder
from features.shop.data import addresses, carts, order_items, placing, steps, stock
from features.shop.data.addresses import TooManyAddresses, UnknownAddress
from features.shop.data.carts import CartChanged, CartIsFull
from features.shop.data.placing import AddressChanged, AmountChanged, CannotOrder, TooManyOrders
from features.shop.data.steps import WrongStep
from features.shop.data.stock import NotSoldHere
from features.shop.fields import StockLevel, level_of
from features.shop.models import NO_CHARGES, Address, Bill, CartItem, Charges, Order, OrderItem, OrderStatus, Wanted
from shared.api.fields import Body
from shared.data.catalog import deals
from shared.errors import BadRequest, DealIsOver, DealsError, IdempotencyKeyReused
from shared.html import cookies, forms, pages, views
from shared.html.forms import Fields, InvalidFields, check
from shared.html.pages import Answer, Request, Routes, serve
from shared.models.catalog import Page, Status
from shared.models.members import Session
from shared.runtime.environment import table
from shared.runtime.metrics import report
from shared.values import money
from shared.values.money import CODE, times, units

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
    """Set how many pieces of a deal are in the cart; without a number one, or as many as there are."""
    typed = forms.read(request.event)
    deal = deals.find(table(), typed.get("deal", ""), consistent=True)
    number = deal.page_id
    member = cookies.sender_with_replay(request, f"/deals/{number}")
    username = member.username
    try:
        if "quantity" in typed:
            quantity = quantity_of(typed["quantity"])
        else:
            held = {item.deal.deal_id: item.quantity for item in carts.view(table(), username, request.now)}
            quantity = held.get(deal.deal_id, 1)
        carts.put_in(table(), username, deal.deal_id, quantity, request.now, member.account_id)
    except InvalidFields:
        said = f"{deal.title}: choose 1 to {carts.MOST_PIECES} pieces."
        return _cart_page(request, username, errors={f"quantity-{number}": said})
    except CartIsFull as error:
        return _cart_page(request, username, problem=str(error))
    except (DealIsOver, NotSoldHere):
        return _cart_page(request, username, problem=f"{deal.title} cannot be bought here any more.")
    return pages.redirect(CART, notice="in-cart")


@routes.post(f"{CART}/remove", form_page=CART)
def take_out_of_cart(request: Request) -> Answer:
    member = cookies.sender_of(request, CART)
    deal = deals.find(table(), forms.read(request.event).get("deal", ""))
    carts.take_out(table(), member.username, deal.deal_id, member.account_id)
    return pages.redirect(CART, notice="taken-out")


cookies.replay_after_sign_in(routes, "/shop", put_into_cart)


def quantity_of(text: str) -> int:
    """The number of pieces in a field. Raises InvalidFields."""
    number = int(text) if re.fullmatch(r"[0-9]{1,4}", text.strip()) else 0
    return check(CartChange, {"quantity": number}).quantity


def _cart_page(
    request: Request, username: str, *, errors: Mapping[str, str] | None = None, problem: str | None = None
) -> Answer:
    (items,), head = cookies.beside_head(request, partial(carts.view, table(), username, request.now))
    able = [item for item in items if obstacle_of(item, request.now) is None]
    return pages.page(
        "shop/templates/cart.html",
        here=CART,
        status=HTTPStatus.CONFLICT if problem else None,
        notice=None if problem or errors else request.notice,
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
    """A cart's row: the deal, what prevents its order, and whether its price has changed."""
    deal = item.deal
    return {
        **views.card(deal, now, width=128),
        "quantity": str(item.quantity),
        "together": views.money(times(deal.price, item.quantity, deal.currency), deal.currency),
        "moved": _moved(item),
        "cheaper": item.currency == deal.currency and deal.units < units(item.price, item.currency),
        "few": level_of(deal) is StockLevel.LOW,
        "obstacle": obstacle_of(item, now),
    }


def _moved(item: CartItem) -> str | None:
    """A note on a price that has changed since the deal was added."""
    if not item.changed:
        return None
    before = views.money(item.price, item.currency)
    if item.currency != item.deal.currency:
        return f"It was {before} when you added it."
    dearer = item.deal.units > units(item.price, item.currency)
    return f"{'More expensive' if dearer else 'Cheaper'} than when you added it: it was {before}."


def obstacle_of(item: CartItem, now: datetime, left: int | None = None) -> str | None:
    """Why an item can't be ordered now, as far as its deal and ``left`` tell; or None."""
    if item.deal.status(now) is not Status.ACTIVE:
        return "This deal has ended."
    if level_of(item.deal) is StockLevel.SOLD_OUT or left == 0:
        return "Sold out."
    return None


def bill_of(items: Sequence[CartItem], charges: Charges = NO_CHARGES) -> Bill:
    """The bill of items at today's prices."""
    return charges.bill((item.deal.price, item.deal.currency, item.quantity) for item in items)


ADDRESSES = "/shop/addresses"

FIELDS = ("recipient", "street", "city", "postalCode", "country", "region")
"""The fields of an address, with the API's names."""

_NEEDED = {"country": "Choose a country."}


class _Name(Body):
    name: AddressName


class NamedAddress(NewAddress, _Name):
    """An address and its name in the address book."""


@routes.get(ADDRESSES)
def address_book(request: Request) -> Answer:
    """All addresses, and a form: empty, or for the address in ``?name=``."""
    typed = {"name": request.query.get("name", "")}
    return _address_page(request, cookies.member_of(request).username, typed, fill=True)


@routes.post(ADDRESSES)
def save_address(request: Request) -> Answer:
    """Save an address under its name, replacing an older one."""
    member = cookies.member_of(request)
    typed = forms.read(request.event)
    place = forms.own_path(typed.get("next"), ADDRESSES)
    try:
        name, address = _address(typed)
        addresses.save(table(), member.username, name, address, member.account_id)
    except InvalidFields as error:
        return _address_page(request, member.username, typed, error.errors)
    except TooManyAddresses as error:
        return _address_page(request, member.username, typed, {"name": str(error)})
    return pages.lead_to(place, notice="address")


@routes.post(f"{ADDRESSES}/remove", form_page=ADDRESSES)
def remove_address(request: Request) -> Answer:
    member = cookies.sender_of(request, ADDRESSES)
    addresses.remove(table(), member.username, forms.read(request.event).get("name", ""), member.account_id)
    return pages.redirect(ADDRESSES, notice="address-removed")


def _address(typed: Mapping[str, str]) -> tuple[str, Address]:
    """The name and address in a form. Raises InvalidFields, for all fields at once."""
    given = {name: typed.get(name, "").strip() for name in ("name", *FIELDS)}
    country, region = given["country"].upper(), given["region"] or None
    new = check(NamedAddress, {**given, "country": country, "region": region}, _NEEDED)
    return new.name, Address(**new.model_dump(exclude={"name"}))


def _address_page(
    request: Request, username: str, typed: Fields, errors: Mapping[str, str] | None = None, *, fill: bool = False
) -> Answer:
    (known,), head = cookies.beside_head(request, partial(addresses.of, table(), username))
    chosen = known.get(typed.get("name", ""))
    if fill:
        fields = {"name": typed["name"], **account.document(chosen)} if chosen else {}
        typed = {field: text or "" for field, text in fields.items()}
    return pages.page(
        "shop/templates/addresses.html",
        here=ADDRESSES,
        notice=None if errors else request.notice,
        addresses=listed(known),
        typed={name: typed.get(name, "") for name in ("name", *FIELDS)},
        countries=names_of_countries(typed.get("country", "")),
        editing=bool(chosen),
        errors=errors,
        next=forms.own_path(typed.get("next") or request.query.get("next"), ""),
        most=addresses.MOST,
        **head,
    )


def names_of_countries(chosen: str) -> dict[str, str]:
    """All countries' names by code, after the ``chosen`` one: empty, or one that no longer exists."""
    names = sorted((name, code) for code, (name, _) in bodies.countries().items())
    return {chosen: chosen or "Choose"} | {code: name for name, code in names}


def listed(known: Mapping[str, Address]) -> list[dict[str, Any]]:
    return [{"name": name, "lines": orders_shown.address_lines(address)} for name, address in known.items()]


PAGE = 25
TITLES = 3
"""Titles of an order that the list of orders shows."""

ORDERS = "/shop/orders"


@routes.get(ORDERS)
def my_orders(request: Request) -> Answer:
    asked, cursor = request.query.get("status") or None, request.query.get("cursor") or None
    try:
        status = OrderStatus(asked) if asked else None
    except ValueError as error:
        raise BadRequest("There is no such order status.", "status") from error
    username = cookies.member_of(request).username

    def read() -> tuple[Page[Order], Sequence[Order], Mapping[str, views.Card]]:
        page = order_items.latest(table(), username, limit=PAGE, cursor=cursor, status=status)
        orders = order_items.begun(table(), page.items, TITLES)
        return page, orders, _cards_of((item for order in orders for item in order.items[:1]), request.now)

    ((page, orders, cards),), head = cookies.beside_head(request, read)
    return pages.page(
        "shop/templates/orders.html",
        here=ORDERS,
        notice=request.notice,
        orders=[orders_shown.line(order, cards) for order in orders],
        statuses=[("", "All")] + [(each.value, name) for each, name in orders_shown.STATES.items()],
        chosen=asked or "",
        older=page.next,
        **head,
    )


@routes.get(f"{ORDERS}/<order_id>")
def one_order(request: Request, order_id: str) -> Answer:
    return _order_page(request, cookies.member_of(request).username, order_id)


@routes.get(f"{ORDERS}/<order_id>/cancel")
def cancelling(request: Request, order_id: str) -> Answer:
    """A page that explains cancelling, with the button for it."""
    username = cookies.member_of(request).username
    (order,), head = cookies.beside_head(request, partial(order_items.get, table(), username, order_id))
    if order.status is not OrderStatus.PLACED:
        return pages.redirect(f"{ORDERS}/{order_id}")
    return pages.page("shop/templates/cancel.html", here=request.path, order=orders_shown.head(order), **head)


@routes.post(f"{ORDERS}/<order_id>/cancel")
def cancel_order(request: Request, order_id: str) -> Answer:
    """Cancel an unshipped order. Repeating it is harmless."""
    member, sent_by = cookies.sender_of(request, f"{ORDERS}/{order_id}"), request.correlation_id
    order, notify = order_items.get(table(), member.username, order_id), steps.notify
    try:
        steps.advance(table(), order, OrderStatus.CANCELLED, request.now, correlation_id=sent_by, notify=notify)
    except WrongStep:
        return _order_page(request, member.username, order_id, too_late=True)
    return pages.redirect(f"{ORDERS}/{order_id}", notice="cancelled")


def _order_page(request: Request, username: str, order_id: str, *, too_late: bool = False) -> Answer:
    """An order as it is now; ``too_late``: a request to cancel it was just refused."""

    def read() -> tuple[Order, Mapping[str, views.Card]]:
        order = order_items.get(table(), username, order_id)
        return order, _cards_of(order.items, request.now)

    ((order, cards),), head = cookies.beside_head(request, read)
    state = orders_shown.STATES[order.status].lower()
    return pages.page(
        "shop/templates/order.html",
        here=f"{ORDERS}/{order.order_id}",
        status=HTTPStatus.CONFLICT if too_late else HTTPStatus.OK,
        notice=None if too_late else request.notice,
        order=orders_shown.whole(order, cards),
        problem=f"It is {state}, and cannot be cancelled any more." if too_late else None,
        **head,
    )


def _cards_of(items: Iterable[OrderItem], now: datetime) -> dict[str, views.Card]:
    """The cards of ordered items' deals as they are today, by id. BatchGetItem."""
    found = deals.get_many(table(), list({item.deal_id: None for item in items}))
    return {deal.deal_id: views.card(deal, now, width=128) for deal in found}


CHECKOUT = "/shop/checkout"

_UNREADABLE = "The form cannot be read. Open the checkout again."

_LINE = re.compile(rf"([0-9A-Za-z]{{27}})\*(\d{{1,2}})\*([0-9.]{{1,20}})\*({CODE})")
"""A line of the checkout's form: a deal, the pieces, and the price shown, with its currency."""

_SUM = re.compile(f"({CODE})=([0-9.]{{1,20}})")


@routes.get(CHECKOUT)
def checkout(request: Request) -> Answer:
    return _checkout_page(request, cookies.member_of(request).username, chosen=request.query.get("address", ""))


@routes.post(CHECKOUT)
def place_order(request: Request) -> Answer:
    """Place the order in the form, at its total, once however often it is sent; or change its quantities."""
    member = cookies.member_of(request)
    typed = forms.read(request.event)
    seen = _seen(typed)
    try:
        typed = _with_new_address(typed, member)
    except InvalidFields as error:
        return _checkout_page(request, member.username, typed=typed, errors=error.errors)
    _, _, name = typed.get("address", "").partition(" ")
    again = partial(_checkout_page, request, member.username, seen=seen, chosen=name)
    try:
        if changed := _changed_pieces(typed, seen):
            for deal_id, pieces in changed.items():
                with suppress(DealIsOver, NotSoldHere, CartIsFull):  # the page says what can't be ordered
                    carts.put_in(table(), member.username, deal_id, pieces, request.now, member.account_id)
            return pages.redirect(CHECKOUT, address=name, notice="pieces")
        order = _placed(request, member, typed, seen)
    except InvalidFields as error:
        return again(errors=error.errors)
    except UnknownAddress:
        return again(errors={"address": "This address was removed. Choose another."})
    except AddressChanged:
        errors = {"address": f"The address “{name}” has changed. Check the delivery address."}
        return again(errors=errors, status=HTTPStatus.CONFLICT)
    except TooManyOrders as error:
        answer = again(refused=error, status=HTTPStatus.TOO_MANY_REQUESTS)
        answer.headers["Retry-After"] = str(error.retry_after)
        return answer
    except (CartChanged, IdempotencyKeyReused, AmountChanged, CannotOrder) as error:
        earlier = _ordered_already(member.username, seen, request.now)
        if earlier:
            return pages.redirect(f"{ORDERS}/{earlier}", notice="ordered-already")
        return again(refused=error, status=HTTPStatus.CONFLICT)
    return pages.redirect(f"{ORDERS}/{order.order_id}", notice="bought")


def _with_new_address(typed: Fields, member: Session) -> Fields:
    """An order's form with its first address saved and chosen, if it has one. Raises InvalidFields."""
    if "street" not in typed or typed.get("do") != "order":
        return typed
    name, address = _address(typed)
    try:
        addresses.save(table(), member.username, name, address, member.account_id)
    except TooManyAddresses as error:
        raise InvalidFields({"name": str(error)}) from error
    return {**typed, "address": f"{addresses.fingerprint(address)} {name}"}


def _seen(typed: Fields) -> list[Wanted]:
    """The lines that the form showed. Raises BadRequest."""
    lines = [_LINE.fullmatch(line) for line in typed.get("items", "").split(",")]
    seen = [Wanted(line[1], int(line[2]), line[3], line[4]) for line in lines if line]
    if len(seen) < len(lines):
        raise BadRequest(_UNREADABLE)
    return seen


def _changed_pieces(typed: Fields, seen: Sequence[Wanted]) -> dict[str, int]:
    """The quantities that the form changes, by deal. Raises InvalidFields.

    ``do=take:<deal>:<pieces>`` is the button that takes the remaining pieces.
    """
    pressed, _, taken = typed.get("do", "").partition(":")
    deal_id, _, pieces = taken.partition(":")
    take = {deal_id: pieces} if pressed == "take" else {}
    shown = {each.deal_id: str(each.quantity) for each in seen}
    asked = {each: take.get(each, typed.get(f"pieces-{each}", quantity)) for each, quantity in shown.items()}
    try:
        return {each: quantity_of(text) for each, text in asked.items() if text != shown[each]}
    except InvalidFields as error:
        raise InvalidFields({"pieces": f"Choose 1 to {carts.MOST_PIECES} pieces of each deal."}) from error


def _placed(request: Request, member: Session, typed: Fields, seen: Sequence[Wanted]) -> Order:
    """The order of the checkout's form, placed now or by an earlier sending.

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
    chance, terms = random.SystemRandom().random, placing.Terms.of(os.environ, steps.notify)
    order = placing.place(table(), asked, request.now, secrets.token_bytes(16), chance=chance, terms=terms)
    if order.correlation_id == request.correlation_id:  # otherwise an earlier sending of this form placed it
        report(shop_metrics.ORDERS_PLACED)
    return order


def _ordered_already(username: str, seen: Sequence[Wanted], now: datetime) -> str | None:
    """The id of the user's newest order if it emptied the cart of a form's deals: another window was faster, and may
    have bought the last pieces."""
    shown = {each.deal_id for each in seen}
    if not shown.isdisjoint(carts.deals_in(table(), username, now)):
        return None
    for newest in order_items.latest(table(), username, limit=1).items:
        if {item.deal_id for item in order_items.get(table(), username, newest.order_id).items} == shown:
            return newest.order_id
    return None


def _checkout_page(
    request: Request,
    username: str,
    *,
    chosen: str = "",
    seen: Sequence[Wanted] | None = None,
    typed: Fields | None = None,
    errors: Mapping[str, str] | None = None,
    refused: DealsError | None = None,
    status: int | None = None,
) -> Answer:
    """The cart's available items at today's prices, and the addresses, or the ``typed`` fields of a refused one. The
    form gets a new key.

    Above it are the reasons why an order was ``refused``, and what has changed since it was ``seen``.
    """
    (items, (known, own_name)), head = cookies.beside_head(
        request, partial(carts.view, table(), username, request.now), partial(addresses.of_owner, table(), username)
    )
    few = [item.deal.deal_id for item in items if item.quantity > 1 or level_of(item.deal) is StockLevel.LOW]
    left = {deal_id: found.left for deal_id, found in stock.find_many(table(), few).items()} if few else {}
    in_the_way = {item.deal.deal_id: obstacle_of(item, request.now, left.get(item.deal.deal_id)) for item in items}
    able = [item for item in items if in_the_way[item.deal.deal_id] is None][: carts.MOST]
    problems = _problems(refused, seen or (), able) if refused else []
    if not able and not problems:
        return pages.redirect(CART)
    short = {item.deal.deal_id: n for item in able if (n := left.get(item.deal.deal_id, item.quantity)) < item.quantity}
    bill = bill_of(able, Charges.of(os.environ))
    return pages.page(
        "shop/templates/checkout.html",
        here=CHECKOUT,
        status=status,
        notice=None if problems or errors else request.notice,
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
            {**each, "value": f"{addresses.fingerprint(known[each['name']])} {each['name']}"} for each in listed(known)
        ],
        chosen=chosen if chosen in known else next(iter(known), ""),
        **_new_address(username, able, typed, own_name=None if known else own_name),
        key=forms.new_key(),
        errors=errors,
        problem=problems,
        **head,
    )


def _new_address(
    username: str, items: Sequence[CartItem], typed: Fields | None, *, own_name: str | None
) -> dict[str, Any]:
    """The values of a new address's form: as ``typed``, or proposed for a member without addresses (``own_name``).

    The country is that of the last order, or of the currency. One Query, without addresses only.
    """
    if typed is None and own_name is not None:
        orders = order_items.latest(table(), username, limit=1).items
        last = next((order.address.country for order in orders if order.address), "")
        country = last or next((item.deal.currency[:2] for item in items), "")
        country = country if country in bodies.countries() else ""
        typed = {"name": "home", "recipient": own_name, "country": country}
    fields = {name: (typed or {}).get(name, "") for name in ("name", *FIELDS)}
    return {"typed": fields, "countries": names_of_countries(fields["country"])}


def _problems(refused: DealsError, seen: Sequence[Wanted], able: Sequence[CartItem]) -> list[str]:
    """Why an order was refused, and what has changed since it was seen, such as risen prices."""
    changes = _changes(seen, able)
    match refused:
        case CannotOrder(obstacles=obstacles):
            return [*changes, *(f"{each.detail.rstrip('.')}." for each in obstacles if each.price is None)]
        case TooManyOrders():
            return [str(refused)]
        case AmountChanged():
            return ["The total has changed since you last saw it.", *changes]
        case _:
            return ["Nothing was ordered: the cart has changed.", *changes]


def _changes(seen: Sequence[Wanted], able: Sequence[CartItem]) -> list[str]:
    """Notes on prices and quantities that have changed since they were seen, and on added items."""
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
    return said + [f"{item.deal.title} was added to the cart." for item in able if item.deal.deal_id not in before]


handler = serve(routes, guards=[forms.ours_only])
