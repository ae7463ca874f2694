"""Money: the currencies of ISO 4217, each with its decimals and its sign, and amounts in them.

An amount is a text with two decimals, or as many more as it needs: ``31.90``, ``1200.00`` yen, ``1.255`` dinars. It is
counted and filed in units of its currency: hundredths, or what it has that is smaller, such as thousandths of a dinar.
``tools/standards.py`` makes the data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

PATTERN = r"(0|[1-9][0-9]{0,8})(\.[0-9]{1,4})?"
"""A regular expression of amounts as they are sent and typed."""

CODE = "[A-Z]{3}"
"""A regular expression of the codes of currencies, those that are no longer known included."""

AMOUNT = re.compile(r"[0-9]{1,12}\.[0-9]{2,4}")
"""An amount as it is stored."""

_TYPED = re.compile(r"(?P<before>[^\d\s.,-]*)\s*(?P<amount>[\d.,]*)\s*(?P<after>[^\d\s.,-]*)")
_THOUSANDS = re.compile(r",(?=\d{3}(\D|$))")
_EUROPEAN = re.compile(r"[\d.]*\d,\d{1,2}")


@cache
def currencies() -> Mapping[str, tuple[int, str]]:
    """The decimals and the sign of each currency, by code, read at the first use; the sign of many is empty."""
    known: dict[str, tuple[int, str]] = json.loads(Path(__file__).with_name("currencies.json").read_text("utf-8"))
    return known


def decimals(currency: str) -> int:
    """The decimals of a currency: three for dinars, zero for yen; two for one that is no longer known."""
    return currencies().get(currency, (2, ""))[0]


def sign(currency: str) -> str:
    """The text before amounts of a currency: ``$``, ``CA$``, and of one without a sign ``CHF``."""
    return currencies().get(currency, (2, ""))[1] or currency


def amount(stored: str) -> str:
    """An amount as it was stored. Raises ValueError, TypeError where it is none."""
    if not AMOUNT.fullmatch(stored):
        raise ValueError(f"{stored} is no amount")
    return stored


def normal(amount: str) -> str:
    """An amount as it is stored: 9.5 is ``9.50``."""
    whole, _, rest = amount.partition(".")
    return f"{whole}.{rest.rstrip('0').ljust(2, '0')}"


def fault(amount: str, currency: str) -> str | None:
    """The error for an amount with more decimals than its currency has."""
    most = decimals(currency)
    if len(amount.partition(".")[2].rstrip("0")) <= most:
        return None
    return f"An amount in {currency} must have {f'at most {most}' if most else 'no'} decimals."


def units(amount: str, currency: str) -> int:
    """The units in an amount; what is smaller than one is left out."""
    whole, _, rest = amount.partition(".")
    places = _places(currency)
    return int(whole + rest[:places].ljust(places, "0"))


def of_units(units: int, currency: str) -> str:
    """Units as an amount."""
    places = _places(currency)
    return normal(f"{units // 10**places}.{units % 10**places:0{places}}")


def times(amount_of_one: str, pieces: int, currency: str) -> str:
    """The amount that several pieces cost."""
    return of_units(units(amount_of_one, currency) * pieces, currency)


def parts(amount: str, currency: str) -> tuple[str, str]:
    """An amount as it is read, before and behind its point: ``$1,299`` and ``99``, ``¥1,200`` and nothing."""
    whole, _, rest = amount.partition(".")
    before, most = sign(currency), decimals(currency)
    behind = rest.rstrip("0").ljust(most, "0")
    return f"{before}{' ' if before == currency else ''}{int(whole):,}", behind if len(behind) <= most else rest


def text(amount: str, currency: str) -> str:
    """An amount as it is read: ``$1,299.99``, ``CHF 20.00``, ``¥1,200``."""
    whole, cents = parts(amount, currency)
    return f"{whole}.{cents}" if cents else whole


def sums(by_currency: Mapping[str, str]) -> str:
    """Amounts as they are read: ``$20.00 and CHF 5.00``."""
    return " and ".join(text(amount, currency) for currency, amount in by_currency.items())


def read(typed: str) -> tuple[str, str]:
    """A typed amount without its thousands' separators, and without the sign or code before or after it.

    ``1.299,00`` is an amount as Europe writes it.
    """
    found = _TYPED.fullmatch(typed.strip())
    if found is None or not found["amount"] or (found["before"] and found["after"]):
        return typed.strip(), ""
    amount = found["amount"]
    if _EUROPEAN.fullmatch(amount):
        amount = amount.replace(".", "").replace(",", ".")
    return _THOUSANDS.sub("", amount), found["before"] or found["after"]


def named(written: str) -> str | None:
    """The currency that a code or a sign names; None where there is none such."""
    code = written.upper()
    return (
        code if code in currencies() else next((each for each, (_, sign) in currencies().items() if sign == code), None)
    )


def is_of(written: str, currency: str) -> bool:
    """Whether a sign or a code beside an amount may mean a currency: ``$``, ``CA$`` and ``CAD`` may mean CAD."""
    own = sign(currency)
    bare = own.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    return written.upper() == currency or written in (own, bare, currency[:2] + bare)


def _places(currency: str) -> int:
    return max(2, decimals(currency))
