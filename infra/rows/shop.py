"""The functions of the shop with their rights to the table, and what other functions may do for it."""

from __future__ import annotations

from infra.options.shop import NO_TERMS, Shop
from infra.rights import Access, Right
from infra.rows import FULL, Function
from infra.settings import Stage
from shared.data import partitions as p
from shared.data.orders import keys
from shared.dynamodb.schema import GSI1, GSI2, GSI3


def _terms(stage: Stage) -> dict[str, str]:
    return (stage.option(Shop) or NO_TERMS).variables


ORDER_PARTS = p.of(keys.ORDER_ITEM)
"""In the table an order's items; in GSI1 those and the order."""

SALE = p.of(keys.SALE)
ORDER_NUMBER = p.of(keys.ORDER_NUMBER)
ORDER_HISTORY = p.of(keys.ORDER, GSI2)
OPEN_ORDERS = p.of(keys.OPEN_ORDERS)
OPEN_ORDERS_OF_DAYS = p.of(keys.ORDER, GSI3)
CLOSED_ORDERS = p.FORMS[keys.ORDER, GSI3][-1]
CART = p.of(keys.CART_ITEM)
STOCK = p.of(keys.STOCK)
SOLD_HERE = p.of(keys.STOCK_NOTE, GSI1)

BUYING: Access = (
    Right("BatchGetItem", (p.DEAL, STOCK, ORDER_PARTS)),
    Right("PutItem", (p.USER, ORDER_PARTS, ORDER_NUMBER, CART, p.MESSAGES, p.IDEMPOTENCY, OPEN_ORDERS)),
    Right("UpdateItem", (p.USER, p.ACCOUNT, STOCK, CART, p.SEQUENCES)),
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
"""It writes no deal, and reads no message, no session and no password's hash, which is kept elsewhere. Orders
are in their owners' collections, so one Query reads a user with the newest ones."""

SHOP: Access = (
    Right("GetItem", (p.SESSION, p.USER, p.DEAL, p.DEAL_NUMBER, ORDER_NUMBER, CART, OPEN_ORDERS, p.IDEMPOTENCY)),
    *BUYING,
    Right("Query", (p.MESSAGES,), GSI1),
)
"""Members in the shop's pages: the same as ORDERS for the API, without what only editors do. The pages
also count unread messages."""

SALES: Access = (
    Right("GetItem", (p.SESSION, p.USER, p.DEAL, p.DEAL_NUMBER, ORDER_NUMBER, SALE, OPEN_ORDERS, p.IDEMPOTENCY)),
    Right("BatchGetItem", (STOCK, ORDER_PARTS)),
    Right("PutItem", (p.MESSAGES, p.IDEMPOTENCY, OPEN_ORDERS)),
    Right("UpdateItem", (p.USER, p.ACCOUNT, SALE, STOCK)),
    Right("DeleteItem", (OPEN_ORDERS,)),
    Right("Query", (p.USER, OPEN_ORDERS)),
    Right("Query", (ORDER_PARTS,), GSI1),
    Right("Query", (OPEN_ORDERS_OF_DAYS, CLOSED_ORDERS), GSI3),
)
"""Editors in the shop: they give any order its next status, and put stock on sale. It writes no deal, which the
desk's own function does, and adds no item to anyone's collection: a new status is an update of an item there."""

REMOVING: Access = (
    Right("BatchGetItem", (ORDER_PARTS,)),
    Right("PutItem", (SALE,)),
    Right("DeleteItem", (ORDER_PARTS, ORDER_NUMBER, CART)),
    Right("Query", (CART,)),
)
"""Removing an account with its orders and its cart."""

LISTING: Access = (Right("Query", (SOLD_HERE,), GSI1),)

MORE = {
    "catalog": LISTING,
    "site": LISTING,
    **dict.fromkeys(("accounts", "account", "remover"), REMOVING),
    "mine": (Right("Query", (CART,)),),
    # How long the oldest open order waits; notes of days that have none are removed.
    "expiry": (
        Right("DeleteItem", (OPEN_ORDERS,)),
        Right("Query", (OPEN_ORDERS,)),
        Right("Query", (OPEN_ORDERS_OF_DAYS,), GSI3),
    ),
    "refresher": (
        Right("BatchGetItem", (STOCK,)),
        # Whether a deal's stock is in the list of what is sold here: it changes no number of pieces.
        Right("UpdateItem", (STOCK,), attributes=("GSI1PK", "GSI1SK")),
    ),
}
"""What other functions may do for the shop, by their names."""

FUNCTIONS = (
    Function(name="orders", access=ORDERS, artifact=FULL, variables=_terms, traced=True),
    Function(name="shop", access=SHOP, artifact=FULL, pages="/shop", variables=_terms, traced=True),
    Function(name="sales", access=SALES, artifact=FULL, pages="/desk/shop", traced=True),
)

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
"""The API's routes: of each function, who may call, then methods and paths (``infra/routes.py``)."""
