"""Text that is written from right to left, within text from left to right."""

from __future__ import annotations

import unicodedata


def isolated(text: str) -> str:
    """A text for use within a sentence: right-to-left text is isolated, so that it doesn't reorder the rest.

    Pages do the same with ``dir="auto"`` and ``bdi``. FSI and PDI: https://www.unicode.org/reports/tr9/
    """
    if text.isascii() or not any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in text):
        return text
    return f"\u2068{text}\u2069"
