"""The shop's JSON: carts, orders, customers and stock as the API answers them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from features.shop import account
from features.shop.models import CartItem, Customer, Order, OrderItem, OrderStatus, Stock, order_number
from shared.api import documents
from shared.api.app import ROOT
from shared.api.documents import Json
from shared.values.times import to_iso


def place_of(order_id: str) -> str:
    """An order's address in the API."""
    return f"{ROOT}/orders/{order_id}"


def cart(items: Iterable[CartItem], now: datetime) -> Json:
    """A cart: each deal as it is today, and its price when it was added."""
    return documents.all_of(cart_item(item, now) for item in items)


def cart_item(item: CartItem, now: datetime) -> Json:
    return {
        "deal": documents.deal(item.deal, now),
        "quantity": item.quantity,
        "priceThen": item.price,
        "currencyThen": item.currency,
        "changed": item.changed,
        "putAt": to_iso(item.put_at),
    }


def order(order: Order) -> Json:
    """An order with its items."""
    return {**order_head(order), "items": [_order_item(item) for item in order.items]}


def order_head(order: Order) -> Json:
    """An order without its items, for lists."""
    return {
        "orderId": order.order_id,
        "orderNumber": order_number(order.number),
        "username": order.username or None,
        "status": order.status.value,
        **{f"{status.value}At": documents.time(order.times.get(status)) for status in OrderStatus},
        "address": None if order.address is None else account.document(order.address),
        "itemCount": order.item_count,
        "pieces": order.pieces,
        "shipping": _amounts(order.shipping),
        "tax": _amounts(order.tax),
        "totals": _amounts(order.totals),
    }


def customer(customer: Customer) -> Json:
    """A user and the newest orders, for the shop's editors."""
    return {
        "username": customer.username,
        "name": customer.name,
        "addresses": account.by_name(customer.addresses),
        "orders": [order_head(order) for order in customer.orders],
    }


def _amounts(by_currency: Mapping[str, str]) -> list[Json]:
    return [{"currency": currency, "amount": amount} for currency, amount in by_currency.items()]


def stock(stock: Stock) -> Json:
    """A deal's pieces left, by shard, and those in orders that aren't cancelled."""
    return {
        "dealId": stock.deal_id,
        "left": stock.left,
        "ordered": stock.ordered,
        "onSale": stock.on_sale,
        "shards": [{"shard": each.number, "left": each.left, "ordered": each.ordered} for each in stock.shards],
    }


def _order_item(item: OrderItem) -> Json:
    return {
        "itemId": item.item_id,
        "dealId": item.deal_id,
        "dealNumber": item.number,
        "title": item.title,
        "variant": item.variant,
        "brand": documents.brand(item.brand, item.brand_name),
        "price": item.price,
        "currency": item.currency,
        "quantity": item.quantity,
    }
