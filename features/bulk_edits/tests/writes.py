"""The actions of bulk edits, for ``tests/interleave``."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from features.bulk_edits import data
from features.bulk_edits.tests.cases import begun
from shared.data.catalog import deals
from shared.values import identifiers
from tests.interleave.beginning import FIRST, IMPORTED, LATER, SECOND
from tests.support.factories import NOW

if TYPE_CHECKING:
    from tests.interleave.processes import Process

MOVE = {"does": "move", "changes": {"category": "bags"}}


def prepare(at: Process) -> None:
    """An editor has moved a deal a moment ago, and can undo it."""
    edit = begun(at.table, [deals.get(at.table, SECOND.deal_id)], "bo", NOW, **MOVE)
    data.walk(at.table, edit, NOW)


def leave_unfinished(at: Process) -> None:
    """An edit of two deals is left to the clock."""
    planned = deals.get_many(at.table, [FIRST.deal_id, IMPORTED.deal_id])
    begun(at.table, planned, "bo", LATER, **MOVE)


def begin(at: Process) -> None:
    """As a form does, which shows two deals as they are now, and changes them when it is sent.

    It leads to the edit's page, whether it has taken the first step or the clock.
    """
    edit = begun(at.table, [FIRST, replace(IMPORTED, version=2)], "bo", LATER)
    with suppress(data.WalkedMeanwhile):
        data.walk(at.table, edit, LATER)


def undo(at: Process) -> None:
    """As the form of the edit's page does, which names the edit."""
    edit = data.get(at.table, "bo", identifiers.derived(NOW, "bo", str(sorted(MOVE)), SECOND.deal_id))
    with suppress(data.WalkedMeanwhile):
        data.walk(at.table, data.undo(at.table, edit, LATER), LATER)


def sweep(at: Process) -> None:
    """It doesn't return what it finished: of two runs at once, one finishes what both walk."""
    data.sweep(at.table, LATER)


WRITES = {"begin bulk edit": begin, "undo bulk edit": undo}
PENDING_WRITES = {"go on with bulk edits": sweep}
BEFORE_WRITES = (prepare,)
LEFT_PENDING = (leave_unfinished,)
_BY_THE_CLOCK = "the clock finishes an edit that was begun, under a correlation id of its own"
WRITES_DIFFER = {frozenset({between, name}): _BY_THE_CLOCK for name in WRITES for between in ("crash", "tick")}
_ONE_BY_ONE = "an edit changes one deal after the other: what comes between finds some of them changed"
WRITES_DIFFER |= {
    frozenset({"go on with bulk edits", name}): _ONE_BY_ONE for name in ("begin bulk edit", "refresh picks", "tick")
}
WRITES_DIFFER[frozenset({"tick", "refresh picks"})] = _ONE_BY_ONE
WRITES_ONCE_FAILED = (("go on with bulk edits", "go on with bulk edits"),)
