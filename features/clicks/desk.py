"""The clicks on deals, on the desk's pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from features.clicks.data import clicks
from shared.runtime.environment import table

COUNTED = ("Clicks", "click", "clicks")
"""What is counted: a heading, and the words for one and for several."""


def count(deal_ids: Sequence[str]) -> Mapping[str, int]:
    """The clicks on deals, by id."""
    return clicks.of(table(), deal_ids)
