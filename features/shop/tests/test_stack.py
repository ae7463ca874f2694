"""The shop's settings in the stack."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from features.shop.data import placing
from features.shop.data.order_items import no_message
from features.shop.models import Charges
from features.shop.rights import Shop
from infra.functions import BY_NAME, FUNCTIONS, variables
from infra.settings import STAGES


def test_only_what_makes_orders_knows_the_terms_of_the_stage() -> None:
    stage = replace(
        STAGES["prod"],
        options=(Shop(shipping={"USD": "4.90", "EUR": "5.00"}, tax="8.1", open_order_shards=4, orders_an_hour=9),),
    )

    known = {row.name: variables(row, stage, "deals") for row in FUNCTIONS}

    for term in ("SHIPPING", "TAX", "OPEN_ORDER_SHARDS", "ORDERS_AN_HOUR"):
        assert {name for name, each in known.items() if term in each} == {"orders", "shop"}
    assert placing.Terms.of(known["shop"], no_message) == placing.Terms(
        Charges({"USD": "4.90", "EUR": "5.00"}, Decimal("8.1")), open_shards=4, an_hour=9
    )
    assert "TAX" not in variables(BY_NAME["shop"], STAGES["prod"], "deals")


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"shipping": {"usd": "4.90"}}, "shipping must"),
        ({"shipping": {"USD": "5"}}, "shipping must"),
        ({"tax": "8%"}, "tax must"),
        ({"tax": "-1"}, "tax must"),
        ({"open_order_shards": 0}, "open_order_shards must"),
        ({"orders_an_hour": 0}, "orders_an_hour must"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_refused(setting: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Shop(**setting)
