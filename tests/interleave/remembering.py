"""A table's items in memory, beside an engine that is asked only what it wasn't asked before in the same state.

A request's answer, and what it leaves, follow from the items that it names or, if it reads a partition, from that
partition's. Most requests of a schedule were made in another schedule, in the same state. Their answers are known, so
the engine's own table falls behind; it is brought up to date before its next request.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Any, Generic, TypeVar

from botocore.exceptions import ClientError

from shared.dynamodb.attributes import marshal_item, unmarshal_item
from shared.dynamodb.table import MAX_BATCH_WRITES, Table
from tests.interleave.touching import Place, Request, Token, Wire, left_by, place_of, tokens_of, touches

R = TypeVar("R")

MOST = 100_000
"""Answers to remember, or what follows from items; then it forgets them all."""


class PerItem(Generic[R]):
    """What a function makes of an item, which nobody changes: asked again for the same object, it is known."""

    def __init__(self, make: Callable[[Wire], R]) -> None:
        self._make = make
        self._known: dict[int, tuple[Wire, R]] = {}

    def __call__(self, item: Wire) -> R:
        known = self._known.get(id(item))
        if known is None:
            if len(self._known) == MOST:
                self._known.clear()
            known = self._known[id(item)] = item, self._make(item)
        return known[1]


@dataclass(frozen=True)
class Asked:
    """A request as an actor makes it."""

    called: str
    arguments: Wire

    @cached_property
    def reads(self) -> list[Token]:
        return sorted(self._touches[0])

    @cached_property
    def written(self) -> list[Place]:
        """Where it may write."""
        return self._touches[1]

    @cached_property
    def digest(self) -> bytes:
        """Two requests with the same digest are the same. The token of a transaction is new each time."""
        return _digest([self.called, {**self.arguments, "ClientRequestToken": None}])

    @cached_property
    def _touches(self) -> tuple[frozenset[Token], list[Place]]:
        return touches(self.called, self.arguments)


@dataclass
class Known:
    """What a request came to: its answer or its refusal, what it left in the places that it may write, and, once it
    was made, what it read and changed."""

    answer: Any
    refused: ClientError | None = None
    left: Mapping[Place, Wire | None] = field(default_factory=dict)
    request: Request | None = None

    @property
    def response(self) -> Any:
        """What DynamoDB sent."""
        return self.answer if self.refused is None else self.refused.response

    @cached_property
    def digest(self) -> bytes:
        """A short name of what the caller learns."""
        told = {name: value for name, value in self.response.items() if name != "ResponseMetadata"}
        return _digest([self.refused is None, told])


class Memory:
    """The items of a table, kept up to date from each write, and the answers to requests."""

    def __init__(self, raw: Table) -> None:
        self.raw = raw
        self.items: dict[Place, Wire] = {}
        self.remembers = True
        self._known: dict[tuple[bytes | int, ...], Known] = {}
        self._number = PerItem(lambda item: int.from_bytes(_digest(item)))
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
                number = self._number(each)
                for token in tokens_of(place, each):
                    self._states[token] ^= number
        if item is not None:
            self.items[place] = item
        self._stale.add(place)

    def ask(self, asked: Asked) -> Known:
        """Send a request, unless what it comes to is known. What it leaves has to be placed. Raises what it raises,
        except for a refusal."""
        key: tuple[bytes | int, ...] = (asked.digest, *(self._states[token] for token in asked.reads))
        known = self._known.get(key) if asked.reads and self.remembers else None
        if known is None:
            self.bring_up_to_date()
            try:
                answer, left = _in_order(self._send(asked)), left_by(asked.called, asked.arguments)
                known = Known(answer, left=left | self._read([each for each in asked.written if each not in left]))
            except ClientError as error:
                known = Known(None, error)
            self._engines |= known.left
            if len(self._known) == MOST:
                self._known.clear()
            self._known[key] = known
        return known

    def _send(self, asked: Asked) -> Any:
        """Ask the engine. A transaction with a token that was sent before would be taken for done."""
        token = {"ClientRequestToken": self.raw.token()} if "ClientRequestToken" in asked.arguments else {}
        return self.raw.ask(getattr(self.raw.client, asked.called), **asked.arguments | token)

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


def _in_order(answer: Any) -> Any:
    """An answer with the names of its maps in order. An engine's are in any; a page's last key is stored as text."""
    if isinstance(answer, dict):
        return {name: _in_order(answer[name]) for name in sorted(answer)}
    return [_in_order(each) for each in answer] if isinstance(answer, list) else answer


def _digest(value: object) -> bytes:
    """A short name of a value of JSON: two that are the same are the same value."""
    return blake2b(json.dumps(value, sort_keys=True, default=repr).encode(), digest_size=16).digest()
