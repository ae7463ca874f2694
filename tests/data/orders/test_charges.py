"""A bill: goods, what sending them costs, tax on both, by currency."""

from __future__ import annotations

from decimal import Decimal

import pytest

from shared.models.orders import Bill, Charges

TWO = [("10.00", "USD", 2)]


@pytest.mark.parametrize(
    ("charges", "items", "bill"),
    [
        (Charges(), TWO, Bill({"USD": "20.00"}, {}, {}, {"USD": "20.00"})),
        (Charges({"USD": "4.90"}), TWO, Bill({"USD": "20.00"}, {"USD": "4.90"}, {}, {"USD": "24.90"})),
        (Charges(tax=Decimal("7.7")), TWO, Bill({"USD": "20.00"}, {}, {"USD": "1.54"}, {"USD": "21.54"})),
        (  # sending is taxed, too
            Charges({"USD": "5.00"}, Decimal(10)), TWO,
            Bill({"USD": "20.00"}, {"USD": "5.00"}, {"USD": "2.50"}, {"USD": "27.50"}),
        ),
        (  # a currency that no shipping is set for costs none
            Charges({"USD": "5.00"}), [("1.00", "USD", 1), ("2.00", "EUR", 1)],
            Bill({"EUR": "2.00", "USD": "1.00"}, {"USD": "5.00"}, {}, {"EUR": "2.00", "USD": "6.00"}),
        ),
        (
            Charges(tax=Decimal("2.5")), [("1.00", "USD", 1)],
            Bill({"USD": "1.00"}, {}, {"USD": "0.03"}, {"USD": "1.03"}),
        ),
        (
            Charges(tax=Decimal(8)), [("106.00", "JPY", 1)],
            Bill({"JPY": "106.00"}, {}, {"JPY": "8.00"}, {"JPY": "114.00"}),
        ),
        (Charges(), [("0.00", "USD", 1)], Bill({}, {}, {}, {"USD": "0.00"})),
    ],
    ids=["nothing", "shipping", "tax", "both", "two currencies", "half up", "no cents", "free"],
)  # fmt: skip
def test_a_bill_is_made_by_the_stages_charges(charges: Charges, items: list[tuple[str, str, int]], bill: Bill) -> None:
    assert charges.bill(items) == bill
