"""Orders' short numbers, as people read and write them: ``BTD-10234``."""

from __future__ import annotations

import re

PREFIX = "BTD-"

_WRITTEN = re.compile(rf"\s*(?:{PREFIX})?([0-9]{{5,12}})\s*", re.ASCII | re.IGNORECASE)


def written(number: int) -> str:
    """A number as it is written."""
    return f"{PREFIX}{number}"


def read(text: str) -> int | None:
    """The number that a text says, with or without its letters; None for any other text."""
    found = _WRITTEN.fullmatch(text)
    return int(found[1]) if found else None
