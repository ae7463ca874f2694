"""A table and a queue that many threads can ask at once: on the fast server, in ``make test-all`` on MiniStack too."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from shared.data import account_checks
from shared.data.members import fanout, follows, users
from shared.data.members.cohorts import Unit
from shared.dynamodb.table import Table
from shared.services import Queue
from tests.support.engines import FAST_SERVER, MINISTACK, Engine, params, put_all
from tests.support.factories import APPLE, NOW, a_user, account_of
from tests.support.surroundings import queue_in_process, taken


@pytest.fixture(scope="session", params=params(dict.fromkeys((FAST_SERVER, MINISTACK)), always=(FAST_SERVER,)))
def engine(request: pytest.FixtureRequest) -> Engine:
    chosen: Engine = request.param
    return chosen


@pytest.fixture
def queue() -> Iterator[Queue]:
    with queue_in_process() as queue:
        yield queue


@pytest.fixture
def sign_up(table: Table) -> Callable[[int], list[str]]:
    """Makes users; returns their names."""

    def make(count: int) -> list[str]:
        names = [f"reader{number}" for number in range(count)]
        # In batches: twenty thousand registrations one by one would take longer than what is tested.
        put_all(
            table,
            (
                dict(write.leaves or {})
                for name in names
                for write in (users.registration(a_user(name)), account_checks.new(name, account_of(name)))
            ),
        )
        return names

    return make


@pytest.fixture
def watchers(table: Table, sign_up: Callable[[int], list[str]]) -> Callable[[int], list[str]]:
    """Makes users who watch Apple; returns their names."""

    def make(count: int) -> list[str]:
        names = sign_up(count)
        for name in names:
            follows.watch(table, APPLE, name, NOW)
        return names

    return make


@pytest.fixture
def work_off(table: Table, queue: Queue) -> Callable[..., int]:
    """Does units of work, and those they queue, until none is left; returns how many there were."""

    def work(units: list[Unit], page: int = 10) -> int:
        done = 0
        pending = [unit.to_json() for unit in units]
        while pending:
            for body in pending:
                fanout.deliver(table, queue, Unit.from_json(body), NOW, page)
                done += 1
            pending = taken(queue)
        return done

    return work
