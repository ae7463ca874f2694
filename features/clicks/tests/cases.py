"""Cases of clicks in tests of the whole."""

from __future__ import annotations

RECIPES = (
    (
        "features/clicks/README.md",
        (
            "The first release reads both forms",
            "The second release writes the new form",
            "The third release drops the old form",
        ),
    ),
)
