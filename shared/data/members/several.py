"""News of several deals in one unit of work, as an import brings: merged when it is queued, then delivered.

A merged unit looks what there is to do. If nobody watches its topic, that was all. If somebody does, or if more alerts
match than one unit should notify, each deal gets a unit of its own, so that what is repeated after a failure is small.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from shared.data.catalog import deals
from shared.data.members import alerts, cohorts
from shared.data.members.cohorts import Unit
from shared.dynamodb.table import Table
from shared.errors import NoSuchDeal
from shared.models.catalog import Deal
from shared.services import Queue

TOGETHER = 50
"""Deals in one unit of work."""


def merged(units: Iterable[Unit]) -> list[Unit]:
    """Units with those of one request and the same news made one, ``TOGETHER`` deals each; a hot deal's stay as they
    are."""
    same: dict[object, list[Unit]] = {}
    for number, unit in enumerate(units):
        news = unit.kind, unit.topic, unit.topic_name, unit.correlation_id
        same.setdefault(number if unit.kind == "hot" else news, []).append(unit)
    found = []
    for first, *others in same.values():
        ids = list(dict.fromkeys([first.deal_id, *(unit.deal_id for unit in others)]))
        parts = [ids[start : start + TOGETHER] for start in range(0, len(ids), TOGETHER)]
        found += [replace(first, deal_id=part[0], others=tuple(part[1:])) for part in parts]
    return found


def deliver(table: Table, queue: Queue, unit: Unit, now: datetime, size: int) -> tuple[int, int]:
    """Do a unit of several deals, or one for alerts; returns how many alerts matched, and how many messages are new."""
    if unit.kind in ("words", "price"):
        return alerts.deliver(table, queue, unit, _deals_of(table, unit), now, size)
    if cohorts.has_readers(table, unit):
        queue.send([each.to_json() for each in unit.of_each()])
    return 0, 0


def _deals_of(table: Table, unit: Unit) -> list[Deal]:
    """A unit's deals. The stream may be ahead of eventually consistent reads, and a deal missed here is never announced
    again."""
    if unit.others:
        return deals.get_many(table, unit.deal_ids, consistent=True)
    with suppress(NoSuchDeal):
        return [deals.get(table, unit.deal_id, consistent=True)]
    return []
