"""The clicks on deals, on the desk's pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from features.clicks.data import clicks
from shared.html.pages import Request, Routes
from shared.models.catalog import Deal
from shared.runtime.environment import table

routes = Routes()

COUNTED = ("Clicks", "click", "clicks")
"""What is counted: a heading, and the words for one and for several."""


def count(deal_ids: Sequence[str]) -> Mapping[str, int]:
    """The clicks on deals, by id."""
    return clicks.of(table(), deal_ids)


def before_posting(_typed: Mapping[str, str]) -> None:
    """A deal has no clicks before it is posted."""


def in_form(_deal: Deal | None, _request: Request, _typed: Mapping[str, str], _target: Any) -> dict[str, Any]:
    """A deal's form has nothing of its clicks."""
    return {}
