"""A process, in which an action runs: its table and queue, also those of functions that it calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

from local.event_source import Record
from shared.dynamodb.table import Table
from shared.services import Queue
from tests.interleave.stepping import HERE, SteppedTable
from tests.support import surroundings

CONTEXT = surroundings.a_context()
"""Lambda's context of a call."""


@dataclass(frozen=True, slots=True)
class Process:
    """What an action has of its own: a table, a queue, and a seed of ids that no other action has.

    ``records`` and ``messages`` are what the stream and the queue hold when it begins.
    """

    table: Table
    queue: Queue
    seed: int
    records: Sequence[Record] = ()
    messages: Sequence[str] = ()

    def entropy(self, size: int = 16) -> bytes:
        """Random bytes, the same in each run."""
        return bytes([65 + self.seed]) * size


Action = Callable[[Process], object]

Around = Callable[[], AbstractContextManager[object]]
"""Surrounds each run, such as to empty what a process remembers."""


def failed(answer: Any) -> str:
    """How many records or messages a function gives back: Lambda delivers them again."""
    return f"{len(answer['batchItemFailures'])} failed"


@contextmanager
def serving(process: Process) -> Iterator[None]:
    """Have functions in this thread use a process's table and queue."""
    before = getattr(HERE, "actor", None)
    HERE.actor = process.table.actor if isinstance(process.table, SteppedTable) else before
    try:
        yield
    finally:
        HERE.actor = before
