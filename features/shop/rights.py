"""The shop in a stage: its settings, its functions, and their rights to the table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from features.shop.data import keys
from features.shop.models import OrderStatus
from infra.rights import NOTES_USE, Access, Right
from infra.rows import FULL, Function
from infra.stage import Bound, Option
from shared.data import partitions as p
from shared.dynamodb.schema import GSI1, GSI2, GSI3
from shared.values import money

if TYPE_CHECKING:
    from infra.stage import Stage

_PERCENTS = re.compile(r"[0-9]{1,2}(\.[0-9]{1,3})?")

STUCK = Bound(3 * 24 * 3600, minutes=60)
"""Seconds since the oldest open order was placed. Three days are a weekend and a day for shipping: an order that waits
longer was overlooked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shop(Option):
    """The charges that a stage adds to orders, and how it spreads open ones; ``features/shop/README.md`` explains each
    setting.

    ``stuck`` is the bound of the alarm on waiting orders. A stage without this setting adds nothing.
    """

    shipping: Mapping[str, str] = field(default_factory=dict)
    tax: str = "0"
    open_order_shards: int = 1
    orders_an_hour: int | None = None
    stuck: Bound = STUCK

    def __post_init__(self) -> None:
        if not all(
            name in money.currencies() and money.AMOUNT.fullmatch(text) and not money.fault(text, name)
            for name, text in self.shipping.items()
        ):
            raise ValueError('shipping must have an amount with two decimals for each currency: {"USD": "4.90"}.')
        if not _PERCENTS.fullmatch(self.tax):
            raise ValueError("tax must be a number of percents, such as 8.1.")
        if self.open_order_shards < 1:
            raise ValueError("open_order_shards must be 1 or more.")
        if self.orders_an_hour is not None and self.orders_an_hour < 1:
            raise ValueError("orders_an_hour must be 1 or more.")

    @property
    def variables(self) -> dict[str, str]:
        """The environment of functions that create orders."""
        return {
            **({"SHIPPING": " ".join(map("=".join, self.shipping.items()))} if self.shipping else {}),
            **({"TAX": self.tax} if float(self.tax) else {}),
            **({"OPEN_ORDER_SHARDS": str(self.open_order_shards)} if self.open_order_shards > 1 else {}),
            **({"ORDERS_AN_HOUR": str(self.orders_an_hour)} if self.orders_an_hour else {}),
        }


NO_TERMS = Shop()


def _terms(stage: Stage) -> dict[str, str]:
    return (stage.option(Shop) or NO_TERMS).variables


ORDER_PARTS = p.of(keys.ORDER_ITEM)
"""In the table an order's items; in GSI1 these and the order."""

SALE = p.of(keys.SALE)
ORDER_NUMBER = p.of(keys.ORDER_NUMBER)
ORDER_HISTORY = p.of(keys.ORDER, GSI2)
OPEN_ORDERS = p.of(keys.OPEN_ORDERS)
OPEN_ORDERS_OF_DAYS = p.of(keys.ORDER, GSI3)
CLOSED_ORDERS = p.FORMS[keys.ORDER, GSI3][-1]
CART = p.of(keys.CART_ITEM)
_TIMES = tuple(status.time_attribute for status in OrderStatus)
STOCK = p.of(keys.STOCK)
SOLD_HERE = p.of(keys.STOCK_NOTE, GSI1)

_STEPS: Access = (
    Right(
        "UpdateItem",
        (p.USER,),
        attributes=("Status", *_TIMES, "CorrelationId", "GSI2SK", "GSI3PK", "GSI3SK"),
    ),
    Right("UpdateItem", (p.ACCOUNT,), attributes=("AccountId", "OpenOrders")),
)
"""An order's next step, and the number of open orders, which holds the account."""

BUYING: Access = (
    Right("BatchGetItem", (p.DEAL, STOCK, ORDER_PARTS)),
    Right("PutItem", (ORDER_PARTS, ORDER_NUMBER, CART, p.MESSAGES, p.IDEMPOTENCY, OPEN_ORDERS)),
    Right("UpdateItem", (STOCK, CART, p.SEQUENCES, keys.PLACED)),
    # An order is in its owner's collection, next to the account: none of these attributes lets anyone in.
    Right("PutItem", (p.USER,), attributes=p.attributes(keys.ORDER)),
    Right("UpdateItem", (p.USER,), attributes=("AccountId", "Addresses")),
    *_STEPS,
    Right("DeleteItem", (CART,)),
    Right("ConditionCheckItem", (p.ACCOUNT,)),
    Right("Query", (p.USER, CART)),
    Right("Query", (ORDER_PARTS,), GSI1),
    Right("Query", (ORDER_HISTORY,), GSI2),
)

ORDERS: Access = (
    Right("GetItem", (p.DEAL, p.DEAL_NUMBER, ORDER_NUMBER, p.USER, CART, SALE, OPEN_ORDERS, p.IDEMPOTENCY)),
    *BUYING,
    Right("UpdateItem", (SALE,)),
    Right("DeleteItem", (OPEN_ORDERS,)),
    Right("Query", (OPEN_ORDERS,)),
    Right("Query", (OPEN_ORDERS_OF_DAYS,), GSI3),
)
"""It writes no deal, and reads no messages, sessions or password hashes. Orders are in their owners' collections, so
one Query reads a user with the newest ones."""

SHOP: Access = (
    NOTES_USE,
    Right("GetItem", (p.SESSION, p.USER, p.DEAL, p.DEAL_NUMBER, ORDER_NUMBER, CART, OPEN_ORDERS, p.IDEMPOTENCY)),
    *BUYING,
    Right("Query", (p.MESSAGES,), GSI1),
)
"""The shop's pages for members: as ORDERS for the API, without editors' rights, and with the count of unread
messages."""

SALES: Access = (
    NOTES_USE,
    Right("GetItem", (p.SESSION, p.USER, p.DEAL, p.DEAL_NUMBER, ORDER_NUMBER, SALE, OPEN_ORDERS, p.IDEMPOTENCY)),
    Right("BatchGetItem", (STOCK, ORDER_PARTS)),
    Right("PutItem", (p.MESSAGES, p.IDEMPOTENCY, OPEN_ORDERS)),
    Right("UpdateItem", (SALE, STOCK)),
    *_STEPS,
    Right("DeleteItem", (OPEN_ORDERS,)),
    Right("Query", (p.USER, OPEN_ORDERS)),
    Right("Query", (ORDER_PARTS,), GSI1),
    Right("Query", (OPEN_ORDERS_OF_DAYS, CLOSED_ORDERS), GSI3),
)
"""The shop's pages for editors, who change the status of any order and put stock on sale. It writes no deal, which is
the desk's function's work, and adds no item to a user's collection: a new status updates an existing item."""

REMOVING: Access = (
    Right("BatchGetItem", (ORDER_PARTS,)),
    Right("PutItem", (SALE,)),
    Right("DeleteItem", (ORDER_PARTS, ORDER_NUMBER, CART)),
    Right("Query", (p.USER, CART)),
)
"""Removing an account's orders and cart."""

LISTING: Access = (Right("Query", (SOLD_HERE,), GSI1),)

MORE = {
    "catalog": LISTING,
    "site": LISTING,
    **dict.fromkeys(("accounts", "account", "remover"), REMOVING),
    "mine": (Right("Query", (CART,)),),
    # How long the oldest open order waits; notes of empty days are removed.
    "expiry": (
        Right("DeleteItem", (OPEN_ORDERS,)),
        Right("Query", (OPEN_ORDERS,)),
        Right("Query", (OPEN_ORDERS_OF_DAYS,), GSI3),
    ),
    "refresher": (
        Right("BatchGetItem", (STOCK,)),
        # A deal's stock level, and whether it is in the list of deals sold here: no price, link or quantity.
        Right("UpdateItem", (p.DEAL,), attributes=("Stock", "StockSeen")),
        Right("UpdateItem", (STOCK,), attributes=("GSI1PK", "GSI1SK")),
    ),
}
"""The rights of other functions for the shop, by name."""

FUNCTIONS = (
    Function(name="orders", access=ORDERS, artifact=FULL, variables=_terms, traced=True),
    Function(name="shop", access=SHOP, artifact=FULL, pages="/shop", variables=_terms, traced=True),
    Function(name="sales", access=SALES, artifact=FULL, pages="/desk/shop", traced=True),
)

WORST = {f"{keys.ORDER}.Status": "change any order", f"{keys.STOCK}.Left": "change the stock"}
"""What someone who may write these could do at worst."""

ROUTES = (
    ("catalog", "anyone", "GET /sold-here"),
    (
        "orders",
        "signed in",
        "PUT,DELETE /me/addresses/{name}",
        "GET /me/cart",
        "PUT,DELETE /me/cart/{dealId}",
        "GET,POST /orders",
        "GET /orders/{orderId}",
        "POST /orders/{orderId}/cancel",
        "PUT /orders/{orderId}/status",
        "GET /open-orders",
        "GET /customers/{username}",
        "GET,PUT /deals/{dealId}/stock",
    ),
)
"""The API's routes: the function, who may call, then methods and paths (``infra/functions.py``)."""
