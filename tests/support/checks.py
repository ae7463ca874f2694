"""The check of a table against its invariants, which a feature may have: without one, nothing is found."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import pytest

from shared.data.invariants import Fault
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from tests.support.cases import cases

checked = pytest.mark.skipif(not cases("CHECKS"), reason="no feature checks tables")
"""A test that expects faults."""


def faults(items: Iterable[Item], now: datetime) -> list[Fault]:
    """The faults of a table's items."""
    known = list(items)
    return [fault for check in cases("CHECKS") for fault in check(known, now)]


def repair(table: Table, fault: Fault) -> bool:
    """Repair a fault; returns whether it was repaired."""
    return any(mend(table, fault) for mend in cases("REPAIRS"))
