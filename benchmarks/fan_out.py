"""Telling readers: how the time and the cost of a hot deal grow with its readers."""

from __future__ import annotations

import math
import time

from benchmarks.harness import markdown, record
from benchmarks.pages import new_queue
from shared import settings
from shared.data.catalog import deals
from shared.data.members import cohorts, fanout, users
from shared.data.members.cohorts import Unit
from shared.dynamodb.capacity import WRITE_DOLLARS
from shared.dynamodb.table import MAX_BATCH_WRITES, Table
from shared.values import times
from tests.support.engines import MINISTACK
from tests.support.factories import a_deal, a_user, open_brands
from tests.support.surroundings import taken

MEASURED = (1_000, 10_000, 20_000)
COMPUTED = (1_000_000, 10_000_000)

WRITE_UNITS_PER_MESSAGE = 2
"""One for the item, below 1 KB, and one for its entry in GSI1."""

TABLE_WRITE_UNITS = (4_000, 40_000)
"""Write units a second of a new on-demand table, and of one at its default quota."""


def main() -> None:
    """Measure, print and record."""
    rows, page_seconds = [], 0.0
    for count in MEASURED:
        with MINISTACK.table() as store:
            seconds, pages = _tell_everyone(store, count)
        page_seconds = seconds / pages
        rows.append([f"{seconds:.1f} measured", f"{count / seconds:,.0f}", *_cost(count, pages, 3)])
    for count in COMPUTED:
        pages = math.ceil(count / settings.READERS_PER_COHORT)
        work = pages * page_seconds / 10
        slow, fast = (max(work, count * WRITE_UNITS_PER_MESSAGE / rate) for rate in TABLE_WRITE_UNITS)
        rows.append([f"{slow:,.0f} at 4,000 WRU/s, {fast:,.0f} at 40,000, computed", "", *_cost(count, pages, 2)])
    head = ["Users", "Seconds", "Messages a second", "Requests", "Write units", "Dollars"]
    counts = (f"{count:,}" for count in MEASURED + COMPUTED)
    record("fan-out growth", markdown(head, [[count, *row] for count, row in zip(counts, rows, strict=True)]))


def _cost(readers: int, pages: int, digits: int) -> list[str]:
    """Requests, write units and dollars."""
    units = readers * WRITE_UNITS_PER_MESSAGE
    requests = pages * 4 + math.ceil(readers / MAX_BATCH_WRITES)
    return [f"{requests:,}", f"{units:,}", f"{units * WRITE_DOLLARS / 1_000_000:,.{digits}f}"]


def _tell_everyone(store: Table, count: int) -> tuple[float, int]:
    """Make users and a hot deal, and do all its work in this process, one cohort after another."""
    now = times.now()
    queue = new_queue(store)
    for number in range(count):
        store.write(users.registration(a_user(f"reader{number}")))
    open_brands(store)
    deal = deals.make_hot(store, deals.create(store, a_deal(now), now).deal_id, now)
    began = time.perf_counter()
    pages, pending = 0, [unit.to_json() for unit in fanout.alarm_of(deal)]
    while pending:
        for body in pending:
            fanout.deliver(store, queue, Unit.from_json(body), now)
        pages, pending = pages + len(pending), taken(queue)
    seconds = time.perf_counter() - began
    told = cohorts.progress_of(store, deal.deal_id)
    assert told == cohorts.Progress(count, finished=True), told
    return seconds, pages
