"""Orders as templates show them, to their owners and to editors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from features.shop.models import Address, Bill, Order, OrderStatus, order_number
from shared.html import views
from shared.values import money, times
from shared.values.money import times as times_of
from shared.values.naming import counted

STATES = {
    OrderStatus.PLACED: "Placed",
    OrderStatus.SHIPPED: "Sent",
    OrderStatus.DELIVERED: "Delivered",
    OrderStatus.CANCELLED: "Cancelled",
}
"""Order statuses in words."""


def head(order: Order) -> dict[str, Any]:
    """An order as a line of a list."""
    return {
        "id": order.order_id,
        "number": order_number(order.number),
        "status": order.status.value,
        "state": STATES[order.status],
        "at": times.to_iso(order.placed_at),
        "moment": views.moment(order.placed_at),
        "day": f"{views.day(order.placed_at)} {order.placed_at.year}",
        "pieces": counted(order.pieces, "piece"),
        "totals": money.sums(order.totals),
        "to": f"{order.address.recipient}, {order.address.city}" if order.address else "a former member",
    }


def line(order: Order, cards: Mapping[str, views.Card]) -> dict[str, Any]:
    """An order as a line of its owner's list: with the titles of its first items, and the first one's picture, which
    is that of its deal's card."""
    titles = [item.title for item in order.items]
    more = order.item_count - len(titles)
    return {
        **head(order),
        "titles": titles,
        "more": counted(more, "other deal") if titles and more > 0 else None,
        "deal": cards.get(order.items[0].deal_id) if order.items else None,
    }


def whole(order: Order, cards: Mapping[str, views.Card] = {}) -> dict[str, Any]:
    """An order with its items, its address, and the time of each status; ``cards`` of the items' deals have their
    pictures."""
    way = [OrderStatus.PLACED, OrderStatus.SHIPPED, OrderStatus.DELIVERED]
    if order.status is OrderStatus.CANCELLED:
        way = [OrderStatus.PLACED, OrderStatus.CANCELLED]
    return {
        **head(order),
        "username": order.username or "An account that was removed",
        "owner": order.username,
        "bill": bill(order),
        "steps": [
            (STATES[each], views.moment(when), times.to_iso(when)) if when else (STATES[each], None, None)
            for each, when in ((each, order.times.get(each)) for each in way)
        ],
        "address": address_lines(order.address) if order.address else ["Removed with the account"],
        "items": [
            {
                "deal": cards.get(item.deal_id),
                "title": item.title,
                "variant": item.variant,
                "brand_name": item.brand_name,
                "number": item.number or item.deal_id,
                "quantity": item.quantity,
                "price": views.money(item.price, item.currency),
                "together": views.money(times_of(item.price, item.quantity, item.currency), item.currency),
            }
            for item in order.items
        ],
    }


def bill(order: Order | Bill) -> list[tuple[str, str]]:
    """The lines between an order's items and its total, each a name and an amount; empty without charges."""
    added = [("Shipping", order.shipping), ("Tax", order.tax)]
    return [(name, money.sums(sums)) for name, sums in added if sums]


def address_lines(address: Address) -> list[str]:
    """The lines of an address."""
    if address.region:
        place = f"{address.city}, {address.region} {address.postal_code}"
    else:
        place = f"{address.postal_code} {address.city}"
    return [address.recipient, address.street, place.strip(), address.country]
