"""Money: ISO 4217's currencies with their decimals and signs, and amounts in them.

An amount is a text with two decimals, or more if it needs them: ``31.90``, ``1200.00`` yen, ``1.255`` dinars. Sums and
keys use a currency's units: hundredths, or smaller ones such as thousandths of a dinar. ``tools/standards.py`` makes
the data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

PATTERN = r"(0|[1-9][0-9]{0,8})(\.[0-9]{1,4})?"
"""A regular expression for amounts in requests and forms."""

CODE = "[A-Z]{3}"
"""A regular expression for currency codes, including withdrawn ones."""

AMOUNT = re.compile(r"[0-9]{1,12}\.[0-9]{2,4}")
"""A stored amount."""

_TYPED = r"(?P<before>[^\d\s.,-]*)\s*(?P<amount>[\d.,]*)\s*(?P<after>[^\d\s.,-]*)"
_THOUSANDS = r",(?=\d{3}(\D|$))"
_EUROPEAN = r"[\d.]*\d,\d{1,2}"


@cache
def currencies() -> Mapping[str, tuple[int, str]]:
    """Each currency's decimals and sign by code, read at first use; many have no sign."""
    known: dict[str, tuple[int, str]] = json.loads(Path(__file__).with_name("currencies.json").read_text("utf-8"))
    return known


def decimals(currency: str) -> int:
    """A currency's decimals: three for dinars, zero for yen; two for a withdrawn one."""
    return currencies().get(currency, (2, ""))[0]


def sign(currency: str) -> str:
    """The text before a currency's amounts: ``$``, ``CA$``, or ``CHF`` for one without a sign."""
    return currencies().get(currency, (2, ""))[1] or currency


def amount(stored: str) -> str:
    """Check a stored amount and return it. Raises ValueError, TypeError."""
    if not AMOUNT.fullmatch(stored):
        raise ValueError(f"{stored} is no amount")
    return stored


def normal(amount: str) -> str:
    """An amount in its stored form: 9.5 is ``9.50``."""
    whole, _, rest = amount.partition(".")
    return f"{whole}.{rest.rstrip('0').ljust(2, '0')}"


def fault(amount: str, currency: str) -> str | None:
    """The error text for an amount with more decimals than its currency has."""
    most = decimals(currency)
    if len(amount.partition(".")[2].rstrip("0")) <= most:
        return None
    return f"An amount in {currency} must have {f'at most {most}' if most else 'no'} decimals."


def units(amount: str, currency: str) -> int:
    """An amount in units; smaller fractions are dropped."""
    whole, _, rest = amount.partition(".")
    places = _places(currency)
    return int(whole + rest[:places].ljust(places, "0"))


def of_units(units: int, currency: str) -> str:
    """The amount of a number of units."""
    places = _places(currency)
    return normal(f"{units // 10**places}.{units % 10**places:0{places}}")


def times(amount_of_one: str, pieces: int, currency: str) -> str:
    """The amount of several pieces."""
    return of_units(units(amount_of_one, currency) * pieces, currency)


def parts(amount: str, currency: str) -> tuple[str, str]:
    """A displayed amount, split at its point: ``$1,299`` and ``99``, ``¥1,200`` and nothing."""
    whole, _, rest = amount.partition(".")
    before, most = sign(currency), decimals(currency)
    behind = rest.rstrip("0").ljust(most, "0")
    return f"{before}{' ' if before == currency else ''}{int(whole):,}", behind if len(behind) <= most else rest


def text(amount: str, currency: str) -> str:
    """A displayed amount: ``$1,299.99``, ``CHF 20.00``, ``¥1,200``."""
    whole, cents = parts(amount, currency)
    return f"{whole}.{cents}" if cents else whole


def sums(by_currency: Mapping[str, str]) -> str:
    """Displayed amounts of several currencies: ``$20.00 and CHF 5.00``."""
    return " and ".join(text(amount, currency) for currency, amount in by_currency.items())


def read(typed: str) -> tuple[str, str]:
    """A typed amount without thousands' separators, and the sign or code before or after it.

    ``1.299,00`` is an amount, too, as Europe writes it.
    """
    found = re.fullmatch(_TYPED, typed.strip())
    if found is None or not found["amount"] or (found["before"] and found["after"]):
        return typed.strip(), ""
    amount = found["amount"]
    if re.fullmatch(_EUROPEAN, amount):
        amount = amount.replace(".", "").replace(",", ".")
    return re.sub(_THOUSANDS, "", amount), found["before"] or found["after"]


def named(written: str) -> str | None:
    """The currency of a code or a sign; None for any other text."""
    code = written.upper()
    return (
        code if code in currencies() else next((each for each, (_, sign) in currencies().items() if sign == code), None)
    )


def is_of(written: str, currency: str) -> bool:
    """Whether a sign or code next to an amount may mean a currency: ``$``, ``CA$`` and ``CAD`` may mean CAD."""
    own = sign(currency)
    bare = own.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    return written.upper() == currency or written in (own, bare, currency[:2] + bare)


def _places(currency: str) -> int:
    return max(2, decimals(currency))
