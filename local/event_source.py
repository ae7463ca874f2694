"""Delivery of stream records to a function, by Lambda's rules: halving, retries, partial batches, dead letters.

The local cloud, the demo and the tests use it; it depends on neither MiniStack nor moto.
https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

Record = dict[str, Any]
Handler = Callable[[Record], dict[str, Any]]


@dataclass(slots=True)
class EventSource:
    """Delivers records to a function until they succeed or become dead letters. ``pause`` waits between attempts."""

    handler: Handler
    retries: int = 5
    pause: Callable[[], object] = lambda: None
    calls: int = 0
    dead_letters: list[list[Record]] = field(default_factory=list)

    def deliver(self, records: Sequence[Record]) -> None:
        """Deliver a batch, in the stream's order."""
        self._try(list(records), self.retries)

    def _try(self, records: list[Record], retries: int) -> None:
        if not records:
            return
        if retries < self.retries:
            self.pause()
        self.calls += 1
        try:
            failed = {failure["itemIdentifier"] for failure in self.handler(batch(records))["batchItemFailures"]}
        except Exception:  # noqa: BLE001  # whatever a function raises, Lambda halves or repeats its batch
            self._fail_whole(records, retries)
            return
        if not failed:
            return
        checkpoint = min(index for index, record in enumerate(records) if number_of(record) in failed)
        if retries == 0:
            self.dead_letters.append(records[checkpoint:])
        else:
            self._try(records[checkpoint:], retries - 1)

    def _fail_whole(self, records: list[Record], retries: int) -> None:
        """Halve a failed batch, which counts as no retry; retry a single record as often as allowed.

        https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html
        """
        if len(records) > 1:
            middle = len(records) // 2
            self._try(records[:middle], retries)
            self._try(records[middle:], retries)
        elif retries == 0:
            self.dead_letters.append(records)
        else:
            self._try(records, retries - 1)


def batch(records: Sequence[Record]) -> Record:
    """Lambda's event for some records."""
    return {"Records": list(records)}


def number_of(record: Record) -> str:
    """A record's sequence number, by which reports identify it."""
    return str(record["dynamodb"]["SequenceNumber"])
