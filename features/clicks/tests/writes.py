"""The actions of clicks, for ``tests/interleave``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from features.clicks.data import clicks
from tests.interleave.beginning import ADDRESS, FIRST, LATER

if TYPE_CHECKING:
    from tests.interleave.processes import Process


def click(at: Process) -> bool:
    """A reader follows a deal; the second click from a network within the hour isn't counted."""
    is_first = clicks.is_first(at.table, FIRST.deal_id, ADDRESS, LATER)
    if is_first:
        clicks.count(at.table, FIRST.deal_id)
    return is_first


WRITES = {"click": click}
WRITES_DIFFER = {frozenset({"crash", "click"}): "a click is lost if its function ends before it is counted"}
DONT_WRITE_IN_ACTIONS = {"features.clicks.workbench.happens": "it fills the model for Workbench"}
