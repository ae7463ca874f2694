"""The countries that orders can go to, by ISO 3166 code. ``tools/standards.py`` makes the data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path


@cache
def countries() -> Mapping[str, tuple[str, bool]]:
    """The name of each country, and whether its addresses need a postal code; read at the first use."""
    known: dict[str, tuple[str, bool]] = json.loads(Path(__file__).with_name("countries.json").read_text("utf-8"))
    return known


def needs_postal_code(country: str) -> bool:
    """Whether addresses of a country need a postal code; of a text that is no country, too."""
    return countries().get(country, ("", True))[1]
