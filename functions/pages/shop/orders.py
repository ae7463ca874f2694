"""One's own orders, and cancelling one."""

from __future__ import annotations

from functools import partial
from http import HTTPStatus

from shared.data.members import announcements
from shared.data.orders import reading, steps
from shared.errors import BadRequest, WrongStep
from shared.html import cookies, pages
from shared.html import orders as orders_shown
from shared.html.app import Routes
from shared.html.pages import Answer
from shared.html.request import Request
from shared.models.orders import OrderStatus
from shared.runtime.environment import table

PAGE = 25
ORDERS = "/shop/orders"

routes = Routes()


@routes.get(ORDERS)
def my_orders(request: Request) -> Answer:
    asked, cursor = request.query.get("status") or None, request.query.get("cursor") or None
    try:
        status = OrderStatus(asked) if asked else None
    except ValueError as error:
        raise BadRequest("There is no such status of orders.", "status") from error
    username = cookies.member_of(request).username
    read = partial(reading.latest, table(), username, limit=PAGE, cursor=cursor, status=status)
    (page,), head = cookies.beside_head(request, read)
    return pages.page(
        "shop/orders.html",
        here=ORDERS,
        said=request.said,
        orders=[orders_shown.head(order) for order in page.items],
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
    """A page that says what cancelling does, with the button that does it."""
    username = cookies.member_of(request).username
    (order,), head = cookies.beside_head(request, partial(reading.get, table(), username, order_id))
    if order.status is not OrderStatus.PLACED:
        return pages.redirect(f"{ORDERS}/{order_id}")
    return pages.page("shop/cancel.html", here=request.path, order=orders_shown.head(order), **head)


@routes.post(f"{ORDERS}/<order_id>/cancel")
def cancel_order(request: Request, order_id: str) -> Answer:
    """Cancel an order that is not sent yet. Doing it twice cancels once."""
    member, sent_by = cookies.sender_of(request, f"{ORDERS}/{order_id}"), request.correlation_id
    order, telling = reading.get(table(), member.username, order_id), announcements.telling
    try:
        steps.advance(table(), order, OrderStatus.CANCELLED, request.now, correlation_id=sent_by, telling=telling)
    except WrongStep:
        return _order_page(request, member.username, order_id, too_late=True)
    return pages.redirect(f"{ORDERS}/{order_id}", said="cancelled")


def _order_page(request: Request, username: str, order_id: str, *, too_late: bool = False) -> Answer:
    """An order as it is now; ``too_late``: a request to cancel it was just refused."""
    (order,), head = cookies.beside_head(request, partial(reading.get, table(), username, order_id))
    state = orders_shown.STATES[order.status].lower()
    return pages.page(
        "shop/order.html",
        here=f"{ORDERS}/{order.order_id}",
        status=HTTPStatus.CONFLICT if too_late else HTTPStatus.OK,
        said=None if too_late else request.said,
        order=orders_shown.whole(order),
        problem=f"It is {state}, and cannot be cancelled any more." if too_late else None,
        **head,
    )
