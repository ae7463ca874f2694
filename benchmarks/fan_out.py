"""Telling readers: how the time and the cost of a hot deal grow with its readers."""

from __future__ import annotations

import math
import time
from datetime import datetime

from benchmarks.harness import record
from benchmarks.pages import new_queue
from shared import settings
from shared.data.catalog import deals
from shared.data.members import fanout, fanout_progress, users
from shared.data.members.cohorts import Unit
from shared.dynamodb.capacity import WRITE_DOLLARS
from shared.dynamodb.table import MAX_BATCH_WRITES, Table
from shared.models.catalog import Deal
from shared.sqs import Queue
from shared.values import times
from tests.support.engines import MINISTACK
from tests.support.factories import a_deal, a_user, open_brands

MEASURED = (1_000, 10_000, 20_000)
COMPUTED = (1_000_000, 10_000_000)

WRITE_UNITS_PER_MESSAGE = 2
"""One for the item, below 1 KB, and one for its entry in GSI1."""

TABLE_WRITE_UNITS = (4_000, 40_000)
"""Write units a second of a new on-demand table, and of one at its default quota."""


def main() -> None:
    """Measure, print and record."""
    lines = ["| Users | Seconds | Messages a second | Requests | Write units | Dollars |", "|---|---|---|---|---|---|"]
    page_seconds = 0.0
    for count in MEASURED:
        with MINISTACK.table() as store:
            seconds, pages = _tell_everyone(store, count)
        page_seconds = seconds / pages
        units = count * WRITE_UNITS_PER_MESSAGE
        requests = pages * 4 + math.ceil(count / MAX_BATCH_WRITES)
        lines.append(
            f"| {count:,} | {seconds:.1f} measured | {count / seconds:,.0f} | {requests:,} | {units:,} "
            f"| {units * WRITE_DOLLARS / 1_000_000:.3f} |"
        )
    for count in COMPUTED:
        units = count * WRITE_UNITS_PER_MESSAGE
        slow, fast = (units / rate for rate in TABLE_WRITE_UNITS)
        pages = math.ceil(count / settings.READERS_PER_COHORT)
        work = pages * page_seconds / 10
        requests = pages * 4 + math.ceil(count / MAX_BATCH_WRITES)
        lines.append(
            f"| {count:,} | {max(slow, work):,.0f} at 4,000 WRU/s, {max(fast, work):,.0f} at 40,000, computed | "
            f"| {requests:,} | {units:,} | {units * WRITE_DOLLARS / 1_000_000:,.2f} |"
        )
    record("fan-out growth", "\n".join(lines))


def _tell_everyone(store: Table, count: int) -> tuple[float, int]:
    """Make users and a hot deal, and do all its work in this process, one cohort after another."""
    now = times.now()
    queue = new_queue(store)
    for number in range(count):
        store.write(users.registration(a_user(f"reader{number}")))
    open_brands(store)
    deal = deals.make_hot(store, deals.create(store, a_deal(now), now).deal_id, now)
    began = time.perf_counter()
    pages = _work_off(store, queue, deal, now)
    seconds = time.perf_counter() - began
    told = fanout_progress.read(store, deal.deal_id)
    assert told == fanout_progress.Progress(count, finished=True), told
    return seconds, pages


def _work_off(store: Table, queue: Queue, deal: Deal, now: datetime) -> int:
    pages = 0
    pending = [unit.to_json() for unit in fanout.alarm_of(deal)]
    while pending:
        for body in pending:
            fanout.deliver(store, queue, Unit.from_json(body), now)
            pages += 1
        pending = []
        for message in queue.receive():
            pending.append(message.body)
            queue.remove(message)
    return pages
