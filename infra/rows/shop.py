"""The functions of the shop with their rights to the table, and what other functions may do for it."""

from __future__ import annotations

from infra.access import Access, Right
from infra.rows import FULL, Function
from shared.data import partitions as p
from shared.dynamodb.schema import GSI1, GSI2, GSI3

BUYING: Access = (
    Right("BatchGetItem", (p.DEAL, p.STOCK, p.ORDER_PARTS)),
    Right("PutItem", (p.USER, p.ORDER_PARTS, p.ORDER_NUMBER, p.CART, p.MESSAGES, p.IDEMPOTENCY, p.OPEN_ORDERS)),
    Right("UpdateItem", (p.USER, p.ACCOUNT, p.STOCK, p.CART, p.ORDER_SEQUENCE)),
    Right("DeleteItem", (p.CART,)),
    Right("ConditionCheckItem", (p.ACCOUNT,)),
    Right("Query", (p.USER, p.CART)),
    Right("Query", (p.ORDER_PARTS,), GSI1),
    Right("Query", (p.ORDER_HISTORY,), GSI2),
)

ORDERS: Access = (
    Right("GetItem", (p.DEAL, p.DEAL_NUMBER, p.ORDER_NUMBER, p.USER, p.CART, p.SALE, p.OPEN_ORDERS, p.IDEMPOTENCY)),
    *BUYING,
    Right("UpdateItem", (p.SALE,)),
    Right("DeleteItem", (p.OPEN_ORDERS,)),
    Right("Query", (p.OPEN_ORDERS,)),
    Right("Query", (p.OPEN_ORDERS_OF_DAYS,), GSI3),
)
"""It writes no deal, and reads no message, no session and no password's hash, which is kept elsewhere. Orders
are in their owners' collections, so one Query reads a user with the newest ones."""

SHOP: Access = (
    Right("GetItem", (p.SESSION, p.USER, p.DEAL, p.DEAL_NUMBER, p.ORDER_NUMBER, p.CART, p.OPEN_ORDERS, p.IDEMPOTENCY)),
    *BUYING,
    Right("Query", (p.MESSAGES,), GSI1),
)
"""Members in the shop's pages: the same as ORDERS for the API, without what only editors do. The pages
also count unread messages."""

SALES: Access = (
    Right("GetItem", (p.SESSION, p.USER, p.DEAL, p.DEAL_NUMBER, p.ORDER_NUMBER, p.SALE, p.OPEN_ORDERS, p.IDEMPOTENCY)),
    Right("BatchGetItem", (p.STOCK, p.ORDER_PARTS)),
    Right("PutItem", (p.MESSAGES, p.IDEMPOTENCY, p.OPEN_ORDERS)),
    Right("UpdateItem", (p.USER, p.ACCOUNT, p.SALE, p.STOCK)),
    Right("DeleteItem", (p.OPEN_ORDERS,)),
    Right("Query", (p.USER, p.OPEN_ORDERS)),
    Right("Query", (p.ORDER_PARTS,), GSI1),
    Right("Query", (p.OPEN_ORDERS_OF_DAYS, p.CLOSED_ORDERS), GSI3),
)
"""Editors in the shop: they give any order its next status, and put stock on sale. It writes no deal, which the
desk's own function does, and adds no item to anyone's collection: a new status is an update of an item there."""

REMOVING: Access = (
    Right("BatchGetItem", (p.ORDER_PARTS,)),
    Right("PutItem", (p.SALE,)),
    Right("DeleteItem", (p.ORDER_PARTS, p.ORDER_NUMBER, p.CART)),
    Right("Query", (p.CART,)),
)
"""Removing an account with its orders and its cart."""

LISTING: Access = (Right("Query", (p.SOLD_HERE,), GSI1),)

MORE = {
    "catalog": LISTING,
    "site": LISTING,
    **dict.fromkeys(("accounts", "account", "remover"), REMOVING),
    "mine": (Right("Query", (p.CART,)),),
    # How long the oldest open order waits; notes of days that have none are removed.
    "expiry": (
        Right("DeleteItem", (p.OPEN_ORDERS,)),
        Right("Query", (p.OPEN_ORDERS,)),
        Right("Query", (p.OPEN_ORDERS_OF_DAYS,), GSI3),
    ),
    "refresher": (
        Right("BatchGetItem", (p.STOCK,)),
        # Whether a deal's stock is in the list of what is sold here: it changes no number of pieces.
        Right("UpdateItem", (p.STOCK,), attributes=("GSI1PK", "GSI1SK")),
    ),
}
"""What other functions may do for the shop, by their names."""

FUNCTIONS = (
    Function(name="orders", access=ORDERS, artifact=FULL, bills=True, traced=True),
    Function(name="shop", access=SHOP, artifact=FULL, pages="/shop", bills=True, traced=True),
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
