"""Telling readers: batches of 25 inserts against a loop of ``put_item``, and how a hot deal grows with its readers."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

from benchmarks.harness import interleave, markdown, record, table
from benchmarks.servers import client, slow_dynamodb
from shared import settings
from shared.data import inserts
from shared.data.catalog import deals
from shared.data.members import announcements, fanout, fanout_progress, message_batches, message_items, users
from shared.data.members.cohorts import Unit
from shared.dynamodb.attributes import marshal_item
from shared.dynamodb.client import connect
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from shared.models.messages import Message
from shared.sqs import Queue
from shared.values import times
from tests.support.engines import FAKE_CREDENTIALS, MINISTACK
from tests.support.factories import a_deal, a_user, open_brands

MESSAGES = 250
SERVICE_MS = 6.0
MEASURED = (1_000, 10_000, 20_000)
COMPUTED = (1_000_000, 10_000_000)

WRITE_UNITS_PER_MESSAGE = 2
"""One for the item, below 1 KB, and one for its entry in GSI1."""

WRITE_UNIT_DOLLARS = 0.625 / 1_000_000
"""On-demand write request unit, us-east-1, https://aws.amazon.com/dynamodb/pricing/on-demand/ (2026)."""

TABLE_WRITE_UNITS = (4_000, 40_000)
"""Write units a second of a new on-demand table, and of one at its default quota."""


def main() -> None:
    """Measure, print and record."""
    _against_put_item()
    _growth()


def _against_put_item() -> None:
    now = times.now()
    announcement = announcements.of_deal(a_deal(now), "hot")
    composed = [announcements.compose(announcement, f"reader{number}") for number in range(MESSAGES)]
    with MINISTACK.table() as store:
        stock = client("dynamodb", store.client.meta.endpoint_url)
        rows = interleave(_cases(store, stock, composed), rounds=12, calls=1)
    per_message = [type(row)(row.name, row.milliseconds / MESSAGES, row.ratio) for row in rows]
    record("fan-out CPU", table(per_message, {"insert_batch, 25 at a time": "0.15"}))

    with slow_dynamodb(SERVICE_MS) as endpoint:
        store = connect("none", endpoint_url=endpoint, **FAKE_CREDENTIALS)
        stock = client("dynamodb", endpoint)
        rates: dict[str, list[float]] = {}
        for _ in range(7):
            for name, case in _cases(store, stock, composed).items():
                rates.setdefault(name, []).append(MESSAGES / _seconds(case))
    medians = {name: statistics.median(values) for name, values in rates.items()}
    yardstick = next(iter(medians.values()))
    cells = [
        [name, f"{rate:,.0f}", f"{rate / yardstick:.1f}", "30" if rate != yardstick else ""]
        for name, rate in medians.items()
    ]
    record("fan-out rate", markdown(["Case", "Messages a second", "Ratio", "Goal"], cells))


def _cases(store: Table, stock: Any, composed: list[Message]) -> dict[str, Callable[[], object]]:
    def loop() -> None:
        for message in composed:
            stock.put_item(TableName=store.name, Item=marshal_item(message_items.to_item(message)))

    return {
        "a loop of put_item (the yardstick)": loop,
        "insert_batch, 25 at a time": lambda: message_batches.insert(store, composed),
    }


def _growth() -> None:
    lines = ["| Users | Seconds | Messages a second | Requests | Write units | Dollars |", "|---|---|---|---|---|---|"]
    page_seconds = 0.0
    for count in MEASURED:
        with MINISTACK.table() as store:
            seconds, pages = _tell_everyone(store, count)
        page_seconds = seconds / pages
        units = count * WRITE_UNITS_PER_MESSAGE
        requests = pages * 4 + math.ceil(count / inserts.BATCH)
        lines.append(
            f"| {count:,} | {seconds:.1f} measured | {count / seconds:,.0f} | {requests:,} | {units:,} "
            f"| {units * WRITE_UNIT_DOLLARS:.3f} |"
        )
    for count in COMPUTED:
        units = count * WRITE_UNITS_PER_MESSAGE
        slow, fast = (units / rate for rate in TABLE_WRITE_UNITS)
        pages = math.ceil(count / settings.READERS_PER_COHORT)
        work = pages * page_seconds / 10
        requests = pages * 4 + math.ceil(count / inserts.BATCH)
        lines.append(
            f"| {count:,} | {max(slow, work):,.0f} at 4,000 WRU/s, {max(fast, work):,.0f} at 40,000, computed | "
            f"| {requests:,} | {units:,} | {units * WRITE_UNIT_DOLLARS:,.2f} |"
        )
    record("fan-out growth", "\n".join(lines))


def _tell_everyone(store: Table, count: int) -> tuple[float, int]:
    """Make users and a hot deal, and do all its work in this process, one cohort after another."""
    now = times.now()
    sqs = client("sqs", store.client.meta.endpoint_url)
    queue = Queue(sqs.create_queue(QueueName=store.name)["QueueUrl"], sqs)
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


def _seconds(case: Callable[[], object]) -> float:
    began = time.perf_counter()
    case()
    return time.perf_counter() - began
