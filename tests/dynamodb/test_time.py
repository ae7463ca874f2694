"""The time that an invocation has: for answers, for waits, for connections that died meanwhile."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from shared import services
from shared.data.members import follows
from shared.dynamodb.aws_errors import MAX_ATTEMPTS, Budget
from shared.dynamodb.client import connect
from shared.dynamodb.table import Table
from shared.errors import Busy, NoAnswer, Unavailable
from shared.services import Queue
from tests.support.engines import FAKE_CREDENTIALS, MOTO, on
from tests.support.factories import APPLE, NOW, join
from tests.support.serving import (
    BROKEN,
    KEY,
    PATIENCE,
    Answer,
    Request,
    saying,
    serving,
    stalled,
    too_late,
    well,
    writing,
)
from tests.support.wire import error, failing, lost_and_throttled

pytestmark = pytest.mark.faults

SENT = b'{"Successful": [{"Id": "0"}], "Failed": []}'


class Clock:
    """A time that passes only by sleeping."""

    def __init__(self) -> None:
        self.now = 100.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture(autouse=True)
def _undisturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.mark.parametrize("slow", [stalled, too_late])
def test_when_the_time_of_an_invocation_is_over_neither_table_nor_queue_is_asked_again(slow: Answer) -> None:
    budget = Budget(PATIENCE)
    with serving(slow) as server:
        table, queue = server.table(budget), queue_at(server.endpoint, budget)
        asks: list[Callable[[], object]] = [lambda: table.get(KEY), lambda: queue.send(["work"])]
        for ask in asks:
            server.requests.clear()
            budget.start(1.5 * PATIENCE)
            with pytest.raises(Unavailable):
                ask()
            assert len(server.requests) <= 2


def test_what_is_asked_when_there_is_no_time_left_is_not_sent() -> None:
    budget = Budget()
    budget.start(0)

    with serving(well) as server, pytest.raises(Busy):
        server.table(budget).get(KEY)

    assert server.requests == []


def test_connections_that_died_during_a_freeze_cost_one_timeout_together() -> None:
    together = threading.Barrier(5)
    thawed, dead = threading.Event(), []
    before = set()

    def answer(request: Request) -> None:
        if not thawed.is_set():
            before.add(request.client_address)
            together.wait(timeout=120)
        elif request.client_address in before:
            dead.append(request.client_address)
            too_late(request)
            return
        well(request)

    with serving(answer) as server:
        table = server.table(Budget(PATIENCE))
        table.gather([lambda: table.get(KEY)] * 5)
        thawed.set()
        found = [table.get(KEY) for _ in range(5)]

    assert len(before) == 5
    assert all(found)
    assert len(dead) == 1


def test_a_budget_starts_over_with_each_invocation() -> None:
    clock = Clock()
    budget = Budget(clock=lambda: clock.now)

    assert budget.left() == float("inf")
    budget.start(9)
    clock.sleep(10)
    assert budget.left() == -1
    budget.start(9)
    assert budget.left() == 9


def test_a_request_is_made_as_long_as_any_time_is_left(table: Table) -> None:
    clock = Clock()
    hurried = replace(table, budget=Budget(clock=lambda: clock.now))
    hurried.budget.start(1)

    assert hurried.get(KEY) is None
    clock.sleep(1)
    with pytest.raises(Busy):
        hurried.get(KEY)


@on(MOTO)
def test_throttling_that_outlasts_an_invocation_is_busy_within_its_time(table: Table) -> None:
    clock = Clock()
    hurried = replace(table, sleep=clock.sleep, jitter=lambda: 1.0, budget=Budget(clock=lambda: clock.now))
    hurried.budget.start(2)

    with failing(hurried, "TransactWriteItems", 1000, error("ThrottlingException")) as seen, pytest.raises(Busy):
        follows.like(hurried, APPLE, "ana", NOW)

    assert clock.now <= 102
    assert 5 < len(seen) < MAX_ATTEMPTS


@on(MOTO)
def test_after_a_lost_answer_nobody_says_that_nothing_was_written(table: Table) -> None:
    patient = replace(table, sleep=lambda _: None)

    join(table, "ana")
    with lost_and_throttled(patient, times=1000), pytest.raises(NoAnswer):
        follows.like(patient, APPLE, "ana", NOW)


def test_waits_differ_between_environments_that_start_from_one_snapshot() -> None:
    snapshot = random.getstate()
    first = [connect("deals", **FAKE_CREDENTIALS).jitter() for _ in range(10)]
    random.setstate(snapshot)

    assert [connect("deals", **FAKE_CREDENTIALS).jitter() for _ in range(10)] != first
    assert all(0 <= part < 1 for part in first)


def queue_at(endpoint: str, budget: Budget | None = None) -> Queue:
    return replace(
        services.connect_queue(f"{endpoint}/queue", budget, endpoint_url=endpoint, **FAKE_CREDENTIALS),
        sleep=lambda _: None,
    )


def refusing(code: str) -> Answer:
    """An answer of SQS's that it has not done what was asked."""
    body = json.dumps({"__type": f"com.amazonaws.sqs#{code}", "message": "No."}).encode()
    return writing(b"HTTP/1.1 400 Bad Request\r\nContent-Length: %d\r\n\r\n" % len(body) + body, closes=False)


@pytest.mark.parametrize("broken", [*BROKEN.values(), refusing("RequestThrottled")], ids=[*BROKEN, "throttled"])
def test_a_message_that_the_queue_does_not_say_it_has_is_sent_again(broken: Answer) -> None:
    with serving(broken, saying(SENT)) as server:
        queue_at(server.endpoint).send(["work"])

    assert len(server.requests) == 2


def test_a_queue_that_is_gone_is_named_and_not_asked_again() -> None:
    with serving(refusing("QueueDoesNotExist")) as server, pytest.raises(Unavailable, match=r"^The queue: "):
        queue_at(server.endpoint).send(["work"])

    assert len(server.requests) == 1
