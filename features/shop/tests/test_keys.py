"""The golden test of the shop's keys, spelled once more."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from features.shop.data import keys
from shared.data import keys as others

DEAL_ID = "0ujtsYcg"
WHEN = datetime(2026, 6, 4, 20, 28, 53, tzinfo=UTC)


def same(key: str) -> dict[str, str]:
    return {"PK": key, "SK": key}


GOLDEN: list[tuple[Callable[..., Any], tuple[Any, ...], Any]] = [
    (keys.sale, (DEAL_ID,), same("SALE#0ujtsYcg")),
    (keys.order, ("ana", DEAL_ID), {"PK": "USER#ana", "SK": "#ORDER#0ujtsYcg"}),
    (keys.order_sort_key, (DEAL_ID,), "#ORDER#0ujtsYcg"),
    (keys.order_number, (10234,), same("ORDERNUMBER#10234")),
    (keys.order_numbers, (), same("SEQUENCE#ORDER")),
    (keys.order_item, (DEAL_ID, "007"), same("ORDER#0ujtsYcg#ITEM#007")),
    (keys.order_parts, (DEAL_ID,), "ORDER#0ujtsYcg"),
    (keys.order_in_parts, (DEAL_ID,), {"GSI1PK": f"ORDER#{DEAL_ID}", "GSI1SK": f"ORDER#{DEAL_ID}"}),
    (keys.order_item_in_parts, (DEAL_ID, "007"), {"GSI1PK": f"ORDER#{DEAL_ID}", "GSI1SK": "ITEM#007"}),
    (keys.order_history, ("ana",), "ORDERS#ana"),
    (
        keys.order_in_history,
        ("ana", "placed", WHEN, DEAL_ID),
        {"GSI2PK": "ORDERS#ana", "GSI2SK": "placed#2026-06-04T20:28:53Z#0ujtsYcg"},
    ),
    (keys.history_before, ("placed",), "placed#~"),
    (keys.history_before, ("placed", WHEN, DEAL_ID), f"placed#2026-06-04T20:28:53Z#{DEAL_ID}"),
    (keys.open_orders, (), "OPENORDERS"),
    (
        keys.open_orders_note,
        ("placed", "2026-06-04", 2),
        {"PK": "OPENORDERS", "SK": "placed#2026-06-04T00:00:00#2"},
    ),
    (keys.open_orders_prefix, ("placed",), "placed#"),
    (
        keys.open_orders_noted,
        ({"PK": "OPENORDERS", "SK": "placed#2026-06-04T00:00:00#2"},),
        ("2026-06-04", "OPENORDERS#placed#2026-06-04T00:00:00#2"),
    ),
    (
        keys.order_in_open,
        ("placed", "2026-06-04", 2, DEAL_ID),
        {"GSI3PK": "OPENORDERS#placed#2026-06-04T00:00:00#2", "GSI3SK": "ORDER#0ujtsYcg"},
    ),
    (keys.closed_orders_of, ("delivered",), "CLOSEDORDERS#delivered"),
    (
        keys.order_in_closed,
        ("cancelled", DEAL_ID),
        {"GSI3PK": "CLOSEDORDERS#cancelled", "GSI3SK": f"ORDER#{DEAL_ID}"},
    ),
    (keys.open_order_sort_key, (DEAL_ID,), "ORDER#0ujtsYcg"),
    (keys.cart, ("ana",), "CART#ana"),
    (keys.cart_mark, ("ana",), same("CART#ana")),
    (keys.cart_item, ("ana", DEAL_ID), {"PK": "CART#ana", "SK": "DEAL#0ujtsYcg"}),
    (keys.stock, (DEAL_ID,), same("STOCK#0ujtsYcg")),
    (keys.stock_shard, (DEAL_ID, 3), same("STOCK#0ujtsYcg#3")),
    (keys.stock_in_sold_here, (DEAL_ID,), {"GSI1PK": "SOLDHERE", "GSI1SK": "DEAL#0ujtsYcg"}),
    (keys.sold_here, (), "SOLDHERE"),
    (keys.deal_of_stock, ("STOCK#0ujtsYcg#3",), DEAL_ID),
]


@pytest.mark.parametrize(("key", "arguments", "spelled"), GOLDEN, ids=lambda value: getattr(value, "__name__", None))
def test_a_key_of_the_shop_is_spelled_as_the_data_model_says(
    key: Callable[..., Any], arguments: tuple[Any, ...], spelled: Any
) -> None:
    made = key(*arguments)

    assert made == spelled


def test_no_key_of_the_shop_goes_unspelled() -> None:
    spelled = [key for key, _, _ in GOLDEN]
    functions = {name: key for name, key in vars(keys).items() if getattr(key, "__module__", "") == keys.__name__}
    written = {name: key for name, key in vars(keys).items() if isinstance(key, others.Item | others.Text)} | functions

    assert len(written) > 20
    assert [name for name, key in written.items() if key not in spelled and not name.startswith("_")] == []
