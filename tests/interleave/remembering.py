"""A table's items in memory, beside an engine that is asked only what it wasn't asked before in the same state.

A request's answer, and what it leaves, follow from the items that it names or, if it reads a partition, from that
partition's. Most requests of a schedule were made in another schedule, in the same state. Their answers are known, so
the engine's own table falls behind; it is brought up to date before its next request.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from botocore.exceptions import ClientError

from shared.dynamodb.attributes import marshal_item, unmarshal_item
from shared.dynamodb.table import MAX_BATCH_WRITES, Table
from tests.interleave.touching import Place, Token, Wire, left_by, place_of, tokens_of

MOST = 100_000
"""Answers to remember; then it forgets them all."""


@dataclass(frozen=True, slots=True)
class Known:
    """What a request came to: its answer or its refusal, and what it left in the places that it may write."""

    answer: Any
    refused: ClientError | None = None
    left: Mapping[Place, Wire | None] = field(default_factory=dict)


class Memory:
    """The items of a table, kept up to date from each write, and the answers to requests."""

    def __init__(self, raw: Table) -> None:
        self.raw = raw
        self.items: dict[Place, Wire] = {}
        self.remembers = True
        self._known: dict[bytes, Known] = {}
        self._states: defaultdict[Token, int] = defaultdict(int)
        """Of each item, partition and of all items a number, which is the same if the items are."""
        self._engines: dict[Place, Wire | None] = {}
        """The items that the engine has."""
        self._stale: set[Place] = set()
        """Where it may have another one."""

    def place(self, place: Place, item: Wire | None) -> None:
        """Have an item in a place, or none."""
        for each in (self.items.pop(place, None), item):
            if each is not None:
                number = int.from_bytes(_digest(each))
                for token in tokens_of(place, each):
                    self._states[token] ^= number
        if item is not None:
            self.items[place] = item
        self._stale.add(place)

    def ask(
        self,
        called: str,
        asked: Wire,
        reads: Iterable[Token],
        written: Sequence[Place],
        send: Callable[[], Any],
    ) -> Known:
        """Send a request, unless what it comes to is known. What it leaves has to be placed. Raises what it raises,
        except for a refusal."""
        states = [(*token, self._states[token]) for token in sorted(reads)]
        same = {name: value for name, value in asked.items() if name != "ClientRequestToken"}  # each has a new one
        key = _digest([called, same, states])
        known = self._known.get(key) if states and self.remembers else None
        if known is None:
            self.bring_up_to_date()
            try:
                answer, left = send(), left_by(called, asked)
                known = Known(answer, left=left | self._read([each for each in written if each not in left]))
            except ClientError as error:
                known = Known(None, error)
            self._engines |= known.left
            if len(self._known) == MOST:
                self._known.clear()
            self._known[key] = known
        return known

    def bring_up_to_date(self) -> None:
        """Have the engine's table hold these items."""
        puts: list[Any] = []
        for place in self._stale:
            due = self.items.get(place)
            if due == self._engines.get(place):
                continue
            key = {"PK": {"S": place[0]}, "SK": {"S": place[1]}}
            puts.append(
                {"PutRequest": {"Item": marshal_item(unmarshal_item(due))}} if due else {"DeleteRequest": {"Key": key}}
            )
            self._engines[place] = due
        self._stale.clear()
        for start in range(0, len(puts), MAX_BATCH_WRITES):
            self.raw.client.batch_write_item(RequestItems={self.raw.name: puts[start : start + MAX_BATCH_WRITES]})

    def _read(self, places: Sequence[Place]) -> dict[Place, Wire | None]:
        """Items as the engine has them, by their keys, in batches."""
        found: dict[Place, Wire | None] = dict.fromkeys(places)
        distinct = [*found]
        for start in range(0, len(distinct), 100):
            wanted = [{"PK": {"S": pk}, "SK": {"S": sk}} for pk, sk in distinct[start : start + 100]]
            asked: Any = {self.raw.name: {"Keys": wanted, "ConsistentRead": True}}
            answer: Any = self.raw.client.batch_get_item(RequestItems=asked)
            found |= {place_of(item): item for item in answer["Responses"].get(self.raw.name, [])}
        return found


def _digest(value: object) -> bytes:
    """A short name of a value of JSON: two that are the same are the same value."""
    return blake2b(json.dumps(value, sort_keys=True, default=repr).encode(), digest_size=16).digest()
