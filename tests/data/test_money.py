"""Money: currencies, their decimals and signs, and amounts as they are stored, counted, read and typed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.api import orders
from shared.values import money
from tools import standards

CODES = st.sampled_from(sorted(money.currencies()))


def test_the_data_are_what_the_libraries_say() -> None:
    assert {path: path.read_text(encoding="utf-8") for path in standards.written()} == standards.written()


@pytest.mark.parametrize(
    ("currency", "decimals", "sign"),
    [
        ("USD", 2, "$"), ("EUR", 2, "€"), ("GBP", 2, "£"), ("JPY", 0, "¥"), ("KRW", 0, "₩"), ("CHF", 2, "CHF"),
        ("CAD", 2, "CA$"), ("KWD", 3, "KWD"), ("CLF", 4, "CLF"), ("HRK", 2, "HRK"),
    ],
)  # fmt: skip
def test_a_currency_has_its_decimals_and_its_sign(currency: str, decimals: int, sign: str) -> None:
    assert (money.decimals(currency), money.sign(currency)) == (decimals, sign)


def test_metals_funds_and_codes_for_tests_are_no_currencies() -> None:
    assert not {"XAU", "XDR", "XTS", "XXX", "usd", "ZZZ"} & money.currencies().keys()


@given(CODES, st.integers(0, 10**12))
def test_units_are_written_and_counted_again(currency: str, units: int) -> None:
    amount = money.of_units(units, currency)

    assert money.units(amount, currency) == units
    assert money.amount(amount) == money.normal(amount) == amount


@pytest.mark.parametrize(
    ("amount", "currency", "units"),
    [
        ("31.90", "USD", 3190),
        ("1200.00", "JPY", 120_000),
        ("1.25", "KWD", 1250),
        ("1.255", "KWD", 1255),
        ("5", "USD", 500),
    ],
)
def test_what_the_first_release_stored_is_counted_as_it_counted_it_or_in_what_is_smaller(
    amount: str, currency: str, units: int
) -> None:
    assert money.units(amount, currency) == units


@pytest.mark.parametrize(
    ("amount", "currency", "said"),
    [
        ("12.50", "JPY", "An amount in JPY must have no decimals."),
        ("1.255", "USD", "An amount in USD must have at most 2 decimals."),
        ("1.2345", "KWD", "An amount in KWD must have at most 3 decimals."),
        ("1200.00", "JPY", None), ("1200", "JPY", None), ("1.255", "KWD", None), ("1.250", "USD", None),
    ],
)  # fmt: skip
def test_an_amount_has_no_more_decimals_than_its_currency(amount: str, currency: str, said: str | None) -> None:
    assert money.fault(amount, currency) == said


@pytest.mark.parametrize(
    ("typed", "amount", "sign"),
    [
        ("¥1,200", "1200", "¥"), ("€19.00", "19.00", "€"), ("19.00 €", "19.00", "€"), ("CHF 20", "20", "CHF"),
        ("CA$1,299.99", "1299.99", "CA$"), ("31.9", "31.9", ""), (" $ 5 ", "5", "$"), ("kr 100", "100", "kr"),
        ("19,5", "19,5", ""), ("five", "five", ""), ("$5 USD", "$5 USD", ""), ("-5", "-5", ""), ("", "", ""),
    ],
)  # fmt: skip
def test_a_typed_amount_is_read_with_its_sign(typed: str, amount: str, sign: str) -> None:
    assert money.read(typed) == (amount, sign)


@pytest.mark.parametrize(
    ("sign", "of", "not_of"),
    [
        ("$", ("USD", "CAD", "AUD"), ("EUR", "JPY", "CHF")), ("¥", ("JPY", "CNY"), ("USD",)), ("€", ("EUR",), ("USD",)),
        ("CA$", ("CAD",), ("USD", "AUD")), ("US$", ("USD",), ("CAD",)), ("chf", ("CHF",), ("USD",)),
        ("kr", (), ("SEK", "USD")),
    ],
)  # fmt: skip
def test_a_sign_may_be_of_several_currencies(sign: str, of: tuple[str, ...], not_of: tuple[str, ...]) -> None:
    assert [code for code in (*of, *not_of) if money.is_of(sign, code)] == list(of)


def test_postal_codes_are_needed_where_a_country_has_them() -> None:
    needed = {code: orders.needs_postal_code(code) for code in ("US", "CH", "JP", "HK", "AE", "IE")}

    assert needed == {"US": True, "CH": True, "JP": True, "HK": False, "AE": False, "IE": False}
    assert not {"XX", "ZZ", "us"} & orders.countries().keys()


def test_amounts_are_read_in_one_way_with_a_sign_where_the_currency_has_one() -> None:
    assert money.text("71.99", "USD") == "$71.99"
    assert money.sums({"USD": "1299.00", "CHF": "5.00", "JPY": "1200.00"}) == "$1,299.00 and CHF 5.00 and ¥1,200"


CODE_BESIDE_AMOUNT = re.compile(
    r"currency['\"\]]*\}\}? \{\{?[^}]*(price|amount|ceiling)|(price|amount|ceiling)['\"\]]*\}\}? \{\{?[^}]*currency"
    r"|currency ~ \" \" ~|~ \" \" ~ [\w.]*currency"
)
"""A text that sets an amount beside its currency itself, in an f-string or a template."""


def test_no_text_sets_an_amount_beside_its_currency_by_itself() -> None:
    root = Path(__file__).resolve().parents[2]
    sources = [path for name in ("functions", "shared", "cli", "local") for path in (root / name).rglob("*.py")]
    sources += (root / "web" / "templates").rglob("*.html")

    found = {
        f"{path.relative_to(root)}: {text[0]}"
        for path in sources
        for text in CODE_BESIDE_AMOUNT.finditer(path.read_text(encoding="utf-8"))
    }

    assert CODE_BESIDE_AMOUNT.search('f"{deal.currency} {deal.price}"')
    assert CODE_BESIDE_AMOUNT.search("""f"{deal['price']} {deal['currency']}" """)
    # What tells cards apart, and is not shown.
    assert found == {
        "shared/html/views.py: price} {deal.currency",
        "shared/data/catalog/search.py: price} {match.currency",
    }
