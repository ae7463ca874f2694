"""The actions of saved deals, for ``tests/interleave``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from features.saved.data import saved
from tests.interleave.beginning import FIRST, LATER, SECOND
from tests.support.factories import NOW, account_of

if TYPE_CHECKING:
    from tests.interleave.processes import Process


def prepare(at: Process) -> None:
    """Two members have saved a deal."""
    for name in ("ana", "eve"):
        saved.save(at.table, SECOND, name, NOW)


WRITES = {
    "save deal": lambda at: saved.save(at.table, FIRST, "ana", LATER, account_of("ana")),
    "forget deal": lambda at: saved.unsave(at.table, SECOND.deal_id, "ana", account_of("ana")),
}
BEFORE_WRITES = (prepare,)
