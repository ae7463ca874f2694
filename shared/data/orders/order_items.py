"""An order and its items as items of the table. They copy what must never change with the deal or the address book."""

from __future__ import annotations

from shared.data import item_types, keys
from shared.data.orders import addresses
from shared.dynamodb.attributes import Item
from shared.models import Order, OrderItem, OrderStatus, Period
from shared.values.times import from_iso, to_iso


def to_item(order: Order) -> Item:
    """The Order item: among its owner's orders of its status, and while it is placed among the open ones."""
    open_ones = keys.order_in_open(Period.DAY.start_of(order.placed_at), order.order_id)
    return {
        **keys.order(order.username, order.order_id),
        **keys.order_in_parts(order.order_id),
        **keys.order_in_history(order.username, order.status, order.placed_at, order.order_id),
        **(open_ones if order.status is OrderStatus.PLACED else {}),
        "Type": item_types.ORDER,
        "OrderId": order.order_id,
        "Username": order.username,
        "Status": order.status.value,
        "Address": addresses.to_map(order.address),
        "ItemCount": order.item_count,
        "Pieces": order.pieces,
        "Totals": dict(order.totals),
        **{time_attribute(status): to_iso(when) for status, when in order.times.items()},
        **({"CorrelationId": order.correlation_id} if order.correlation_id else {}),
    }


def from_item(item: Item) -> Order:
    """The order that an item holds, without its items."""
    return Order(
        order_id=item["OrderId"],
        username=item["Username"],
        status=OrderStatus(item["Status"]),
        times={
            status: from_iso(item[time_attribute(status)]) for status in OrderStatus if time_attribute(status) in item
        },
        address=addresses.from_map(item["Address"]),
        item_count=item["ItemCount"],
        pieces=item["Pieces"],
        totals=item["Totals"],
        correlation_id=item.get("CorrelationId"),
    )


def item_to_item(order: Order, item: OrderItem) -> Item:
    """The OrderItem item. It names its owner, for those who know an order's id and no more."""
    return {
        **keys.order_item(order.order_id, item.item_id),
        **keys.order_item_in_parts(order.order_id, item.item_id),
        "Type": item_types.ORDER_ITEM,
        "OrderId": order.order_id,
        "ItemId": item.item_id,
        "Username": order.username,
        "DealId": item.deal_id,
        "Title": item.title,
        "Brand": item.brand,
        "BrandName": item.brand_name,
        "Price": item.price,
        "Currency": item.currency,
        "Quantity": item.quantity,
        "Shards": {str(shard): pieces for shard, pieces in item.shards.items()},
        **({"DealNumber": item.number} if item.number is not None else {}),
    }


def item_from_item(item: Item) -> OrderItem:
    """The order's item that an item holds."""
    return OrderItem(
        item_id=item["ItemId"],
        deal_id=item["DealId"],
        number=item.get("DealNumber"),
        title=item["Title"],
        brand=item["Brand"],
        brand_name=item["BrandName"],
        price=item["Price"],
        currency=item["Currency"],
        quantity=item["Quantity"],
        shards={int(shard): pieces for shard, pieces in item["Shards"].items()},
    )


def time_attribute(status: OrderStatus) -> str:
    """The attribute that says when an order took a status."""
    return f"{status.capitalize()}At"
