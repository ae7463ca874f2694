"""A user's cart, with the deals as they are now."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from shared import settings
from shared.data import item_types, keys
from shared.data.catalog import deals
from shared.data.orders import stock
from shared.dynamodb.attributes import Item
from shared.dynamodb.entities import Entity
from shared.dynamodb.schema import TTL_ATTRIBUTE
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import Write, forget, put, require
from shared.errors import CartIsFull, DealIsOver, NoSuchUser, NotSoldHere
from shared.models.catalog import Status
from shared.models.orders import CartItem

MOST = 20
"""Deals in a cart, and in an order: one transaction then has room for all that an order writes."""

MOST_PIECES = 10
"""Pieces of one deal in a cart or an order."""

STAYS = "attribute_exists(PK) AND attribute_not_exists(Leaving)"
"""The condition that a User item exists and is not being removed."""

_CART_ITEM = Entity(CartItem, apart=frozenset({"deal"}))  # the deal is read as it is today

_KEYS = Projection.of("PK", "SK", "DealId", TTL_ATTRIBUTE)


def put_in(table: Table, username: str, deal_id: str, quantity: int, now: datetime) -> CartItem:
    """Set how many pieces of a deal are in the cart, at today's price.

    Raises NoSuchDeal, DealIsOver, NotSoldHere, CartIsFull, NoSuchUser.
    """
    deal = deals.get(table, deal_id, consistent=True)
    if deal.status(now) is not Status.ACTIVE:
        raise DealIsOver(deal_id)
    if stock.find(table, deal_id) is None:
        raise NotSoldHere(deal_id)
    others = set(deals_in(table, username, now)) - {deal_id}
    if len(others) >= MOST:
        raise CartIsFull(MOST)
    put_in_now = CartItem(deal, quantity, deal.price, now)
    item = {
        **keys.cart_item(username, deal_id),
        "Type": item_types.CART_ITEM,
        "Username": username,
        "DealId": deal_id,
        **_CART_ITEM.write(put_in_now),
        TTL_ATTRIBUTE: int((now + settings.CART_LIFETIME).timestamp()),
    }
    table.transact(
        # A request that runs beside the removal of the account must leave nothing for the name's next owner.
        require(keys.user(username), STAYS, refused=NoSuchUser(username)),
        put(item, because="the cart holds what its owner said last"),
    )
    return put_in_now


def take_out(table: Table, username: str, deal_id: str) -> None:
    """Take a deal out of the cart."""
    table.write(forget(keys.cart_item(username, deal_id), because="what is not in the cart is out of it"))


def view(table: Table, username: str, now: datetime) -> list[CartItem]:
    """The cart, last put in first, with the deals as they are now. A Query and a BatchGetItem."""
    found = {item["DealId"]: item for item in table.query(keys.cart(username), consistent=True) if _counts(item, now)}
    items = [_CART_ITEM.read(found[deal.deal_id], deal=deal) for deal in deals.get_many(table, list(found))]
    return sorted(items, key=lambda item: (item.put_at, item.deal.deal_id), reverse=True)


def deals_in(table: Table, username: str, now: datetime) -> list[str]:
    """The ids of the deals in the cart. One Query."""
    items = table.query(keys.cart(username), consistent=True, projection=_KEYS)
    return [item["DealId"] for item in items if _counts(item, now)]


def emptying(username: str, deal_ids: Iterable[str]) -> list[Write]:
    """The writes that take some deals out of the cart."""
    return [
        forget(keys.cart_item(username, deal_id), because="its owner may have taken it out meanwhile")
        for deal_id in deal_ids
    ]


def forget_all(table: Table, username: str) -> None:
    """Take everything out of the cart, what has expired too."""
    for item in list(table.query(keys.cart(username), consistent=True, projection=_KEYS)):
        table.write(forget(keys.primary(item), because="what is not in the cart is out of it"))


def _counts(item: Item, now: datetime) -> bool:
    """Whether an item is still in the cart: TTL deletes late."""
    return bool(item[TTL_ATTRIBUTE] > now.timestamp())
