"""Users' carts, shown with current deals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from features.shop.data import keys as shop_keys
from features.shop.data import stock
from features.shop.data.stock import NotSoldHere
from features.shop.fields import StockLevel, level_of
from features.shop.models import CartItem
from shared.data import account_checks, keys
from shared.data.catalog import deals
from shared.dynamodb import damage
from shared.dynamodb.attributes import Codec, Entity, Item
from shared.dynamodb.schema import TTL_ATTRIBUTE
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import Write, delete, forget, put, update
from shared.errors import Busy, Conflict, DealIsOver, DealsError
from shared.models.catalog import Status
from shared.values.money import amount

MOST = 20
"""Deals in a cart or an order, so that an order's writes fit one transaction."""

MOST_PIECES = 10
"""Pieces of one deal in a cart or an order."""

LIFETIME = timedelta(days=30)
"""How long a deal stays in the cart after its last change."""

# The deal is read when the cart is shown.
_CART_ITEM = Entity(CartItem, forms={"price": Codec(str, amount)}, apart=frozenset({"deal"}))


class CartChanged(Conflict):
    text = "Nothing was ordered: the cart has changed, or was already ordered. Check it again."


class CartIsFull(Conflict):
    text = "A cart holds at most {} deals."


class _PutMeanwhile(DealsError):
    """Another deal was added to the cart since it was read."""


_KEYS = Projection.of("PK", "SK", TTL_ATTRIBUTE)
_PIECES = Projection.of("PK", "SK", "Quantity", TTL_ATTRIBUTE)


def put_in(
    table: Table, username: str, deal_id: str, quantity: int, now: datetime, account_id: str | None = None
) -> CartItem:
    """Add a deal to the cart. Raises NoSuchDeal, DealIsOver, NotSoldHere, CartIsFull, NotSignedIn, NoSuchUser."""
    deal = deals.get(table, deal_id, consistent=True)
    if deal.status(now) is not Status.ACTIVE:
        raise DealIsOver(deal_id)
    if stock.find(table, deal_id) is None:
        raise NotSoldHere(deal_id)
    put_in_now = CartItem(deal, quantity, deal.price, deal.currency, now)
    expires = int((now + LIFETIME).timestamp())
    place = {
        **shop_keys.cart_item(username, deal_id),
        "Type": shop_keys.CART_ITEM,
        "Username": username,
        "DealId": deal_id,
    }
    item = {**place, **_CART_ITEM.write(put_in_now), TTL_ATTRIBUTE: expires}

    def once() -> CartItem:
        mark = table.get(shop_keys.cart_mark(username), consistent=True) or {}
        others = set(deals_in(table, username, now)) - {deal_id}
        if len(others) >= MOST:
            raise CartIsFull(MOST)
        table.transact(
            account_checks.required(username, account_id),
            _mark(username, mark.get("Mark"), table.token(), expires),
            put(item, because="the cart holds what its owner said last"),
        )
        return put_in_now

    return table.retry(once, when=_PutMeanwhile, gave_up=Busy("The cart is being changed elsewhere; try again."))


def take_out(table: Table, username: str, deal_id: str, account_id: str | None = None) -> None:
    """Remove a deal from the cart. Raises NotSignedIn, NoSuchUser."""
    table.transact(
        account_checks.required(username, account_id),
        forget(shop_keys.cart_item(username, deal_id), because="what is not in the cart is out of it"),
    )


def view(table: Table, username: str, now: datetime) -> list[CartItem]:
    """The cart with current deals, last added first. A Query and a BatchGetItem."""
    found = {keys.id_in(item["SK"]): item for item in _items(table, username, now)}
    known = {deal.deal_id: deal for deal in deals.get_many(table, list(found))}
    # A deal's stock level may be a moment old, so low stock is read again.
    few = [deal_id for deal_id, deal in known.items() if level_of(deal) is StockLevel.LOW]
    for deal_id, left in stock.find_many(table, few).items():
        known[deal_id] = known[deal_id].with_own(stock.level(left))
    stored = [found[deal_id] for deal_id in known]
    items = damage.readable(stored, lambda item: _CART_ITEM.read(item, deal=known[keys.id_in(item["SK"])]))
    return sorted(items, key=lambda item: (item.put_at, item.deal.deal_id), reverse=True)


def deals_in(table: Table, username: str, now: datetime) -> list[str]:
    """The ids of the deals in the cart. One Query."""
    return [keys.id_in(item["SK"]) for item in _items(table, username, now, _KEYS)]


def pieces(table: Table, username: str, now: datetime) -> int:
    """The number of pieces in the cart. One Query."""
    items = _items(table, username, now, _PIECES)
    return sum(damage.readable(items, lambda item: damage.attribute(item, "Quantity", int)))


def emptying(username: str, deal_ids: Iterable[str]) -> list[Write]:
    """The writes that remove deals from the cart."""
    meanwhile = "its owner may have taken it out meanwhile"
    return [forget(shop_keys.cart_item(username, deal_id), because=meanwhile) for deal_id in deal_ids]


def ordering(username: str, ordered: Mapping[str, int]) -> list[Write]:
    """The writes that remove deals from a cart that has these quantities. Refused with CartChanged."""
    return [
        delete(
            shop_keys.cart_item(username, deal_id), condition="Quantity = :n", values={":n": n}, refused=CartChanged()
        )
        for deal_id, n in ordered.items()
    ]


def _items(table: Table, username: str, now: datetime, projection: Projection | None = None) -> list[Item]:
    """The items in the cart. One Query."""
    found = table.query(shop_keys.cart(username), prefix=keys.deal_sort_key(""), consistent=True, projection=projection)
    # TTL deletes late. An item without an end counts.
    return [item for item in found if damage.attribute_or(item, TTL_ATTRIBUTE, int, math.inf) > now.timestamp()]


def _mark(username: str, seen: object, mark: str, expires: int) -> Write:
    """Mark a cart as changed, if its mark is still the one seen, so that no parallel addition exceeds its limit."""
    held = {} if seen is None else {":seen": seen}
    return update(
        shop_keys.cart_mark(username),
        "SET #type = :type, Mark = :mark, #expires = :expires",
        condition="attribute_not_exists(Mark)" if seen is None else "Mark = :seen",
        names={"#type": "Type", "#expires": TTL_ATTRIBUTE},
        values={":type": shop_keys.CART_MARK, ":mark": mark, ":expires": expires} | held,
        refused=_PutMeanwhile(),
    )
