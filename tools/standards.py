"""The world's currencies as data, and what features take so: ``python -m tools.standards`` writes them.

ISO 4217 and its decimals come from ``iso4217``, signs from the CLDR in ``babel``. Such libraries are upgraded by ``make
lock``.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from pathlib import Path

from babel import Locale
from iso4217 import Currency

from shared import features, hooks

SHARED = Path(__file__).resolve().parent.parent / "shared"


def currencies() -> dict[str, list[int | str]]:
    """The decimals and the sign of each currency that has decimals at all, by code; without a sign it is empty."""
    known = {each.code.upper(): each.exponent for each in Currency if each.exponent is not None}
    signs = {code: Locale("en").currency_symbols.get(code, "") for code in known}
    is_sign = {code: "Sc" in map(unicodedata.category, sign) for code, sign in signs.items()}
    return {code: [known[code], signs[code] if is_sign[code] else ""] for code in sorted(known)}


def written() -> dict[Path, str]:
    """The files and what they hold, with a line for each entry."""
    own = {SHARED / "values" / "currencies.json": in_lines(currencies())}
    return own | features.merged(hooks.Generated, lambda each: each.files())


def in_lines(data: Mapping[str, object]) -> str:
    """Data as JSON, with a line for each entry."""
    return json.dumps(data).replace("], ", "],\n") + "\n"


if __name__ == "__main__":
    for path, text in written().items():
        path.write_text(text, encoding="utf-8")
