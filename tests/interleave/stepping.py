"""A table whose requests go out one at a time, in the order that a schedule says, and what each reads and writes.

Two actors run in two threads, of which one runs at a time: it gives way only before a request. Parallel requests of one
actor (``Table.gather``) go out one after the other, so another actor can come between them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from botocore.exceptions import ClientError

from shared.dynamodb.capacity import Capacity, taken
from shared.dynamodb.table import Table
from shared.errors import DealsError
from shared.services import Queue
from tests.interleave.remembering import Memory
from tests.interleave.touching import QUEUE, Place, Token, Wire, changed_by, read_by, touches

R = TypeVar("R")

STUCK = 60.0
"""Seconds after which a run counts as stuck."""

MOST_REQUESTS = 600
"""Requests of one actor after which it counts as endless."""


@dataclass(slots=True, eq=False)
class Change:
    """An item before and after a write, and the stream's record of that, once it was read."""

    old: Wire | None
    new: Wire | None
    record: dict[str, Any] | None = None

    @property
    def item(self) -> Wire:
        return self.new or self.old or {}


class Dead(BaseException):
    """The actor's process has ended. It makes no other request, whatever its code still does."""


class Endless(Exception):
    """An actor makes requests for ever, or waits for ever."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request that was made: what it read, what it changed, and the units that it consumed."""

    name: str
    reads: frozenset[Token]
    writes: frozenset[Token]
    units: Capacity = field(default_factory=Capacity)

    def meets(self, other: Request) -> bool:
        """Whether the order of the two makes a difference."""
        return not (self.writes.isdisjoint(other.reads) and self.reads.isdisjoint(other.writes))


@dataclass(frozen=True, slots=True)
class Schedule:
    """Who begins, and after how many requests each of the two gives way; then each goes on to its end."""

    first: int = 0
    turns: tuple[int, ...] = ()

    def __str__(self) -> str:
        return ":".join(map(str, (self.first, *self.turns)))

    @classmethod
    def read(cls, text: str) -> Schedule:
        """Read a schedule as it is printed. Raises ValueError."""
        first, *turns = map(int, text.split(":"))
        return cls(first, tuple(turns))


@dataclass(frozen=True, slots=True)
class Crash:
    """The request, counted from 0, before or after which a process ends."""

    at: int
    after: bool


class Actor:
    """One process: its requests so far, its turn-taking with another, and when it ends."""

    def __init__(self, number: int = 0, turns: Turns | None = None, crash: Crash | None = None) -> None:
        self.number = number
        self.made: list[Request] = []
        self._turns = turns
        self._crash = crash
        self._dead = False

    def before(self) -> None:
        """Give way where the schedule says so. Raises Dead, Endless."""
        if self._turns is not None:
            self._turns.before(self.number)
        self._end_at(after=False)
        if len(self.made) >= MOST_REQUESTS:
            raise Endless("too many requests")

    def after(self, request: Request) -> None:
        """Record a request whose answer has come. Raises Dead."""
        self.made.append(request)
        self._end_at(after=True)

    def _end_at(self, *, after: bool) -> None:
        at = len(self.made) - after
        self._dead = self._dead or self._crash == Crash(at, after)
        if self._dead:
            raise Dead


HERE = threading.local()
"""``actor`` is the one whose thread this is."""


class Turns:
    """Lets one of two actors run at a time."""

    def __init__(self, schedule: Schedule) -> None:
        self._gates = [threading.Semaphore(0) for _ in range(2)]
        self._alive = {0, 1}
        self._turns = list(schedule.turns)
        self._left: int | None = None
        self._first = schedule.first

    def run(self, works: Sequence[Callable[[], object]]) -> None:
        """Run two works to their ends. Raises Endless."""
        threads = [threading.Thread(target=self._body, args=each, daemon=True) for each in enumerate(works)]
        for thread in threads:
            thread.start()
        self._begin(self._first)
        for thread in threads:
            thread.join(STUCK)
            if thread.is_alive():
                raise Endless("one waits for the other")

    def _body(self, number: int, work: Callable[[], object]) -> None:
        self._gates[number].acquire()
        try:
            work()
        finally:
            self._alive.discard(number)
            if self._alive:
                self._begin(1 - number)

    def before(self, number: int) -> None:
        """Called before each request; gives way when the turn is over."""
        if self._left == 0 and len(self._alive) == 2:
            self._begin(1 - number)
            self._gates[number].acquire()
        if self._left is not None:
            self._left -= 1

    def _begin(self, number: int) -> None:
        self._left = self._turns.pop(0) if self._turns and len(self._alive) == 2 else None
        self._gates[number].release()


class Ledger(Memory):
    """All items of a table, and the changes as the stream would have them."""

    def __init__(self, raw: Table) -> None:
        super().__init__(raw)
        self.changes: list[Change] = []
        self.sent: list[str] = []
        self.touched: set[Place] = set()
        self.made: list[tuple[int, Request]] = []
        """All requests in their order, each with its actor's number."""
        self.gathered = False
        """Whether parallel requests were made."""
        self.writers: Callable[[], None] = lambda: None
        """Called after each request that changed something, for whoever asks which functions write."""

    def request(self, actor: Actor, called: str, asked: Wire, send: Callable[[], R]) -> R:
        """Make an actor's request when it is its turn, and record it. Raises what the request raises, and Dead."""
        actor.before()
        reads, written = touches(called, asked)
        asked |= {"ReturnConsumedCapacity": "TOTAL"}
        try:
            known = self.ask(called, asked, reads, written, send)
        except DealsError as error:
            units = self._units(called, asked, getattr(error.__cause__, "response", {}))
            self._record(actor, Request(called, reads, frozenset(), units))
            raise
        if known.refused is not None:
            units = self._units(called, asked, known.refused.response)
            self._record(actor, Request(called, reads, frozenset(), units))
            raise ClientError(known.refused.response, known.refused.operation_name)
        writes = self._follow(known.left)
        if writes:
            self.writers()
        answer: R = known.answer
        reads = read_by(asked, answer, reads) if called in ("query", "scan") else reads
        self._record(actor, Request(called, reads, writes, self._units(called, asked, answer)))
        return answer

    def _record(self, actor: Actor, request: Request) -> None:
        self.made.append((actor.number, request))
        actor.after(request)

    def _units(self, called: str, asked: Wire, answer: Any) -> Capacity:
        operation = "".join(map(str.title, called.split("_")))
        units = taken(operation, asked, answer, self.raw.client.meta.endpoint_url) if answer else None
        return sum((units or {}).values(), Capacity())

    def send(self, actor: Actor, entries: Sequence[Mapping[str, str]]) -> Wire:
        """Take messages for the queue, as SQS does, in an actor's turn."""
        actor.before()
        self.sent += [entry["MessageBody"] for entry in entries]
        self._record(actor, Request("send_message_batch", frozenset(), frozenset({QUEUE})))
        return {"Successful": [{"Id": entry["Id"]} for entry in entries]}

    def _follow(self, left: Mapping[Place, Wire | None]) -> frozenset[Token]:
        """Take over what a request left; returns what it changed."""
        changed: set[Token] = set()
        for place, new in left.items():
            old = self.items.get(place)
            if old != new:
                self.changes.append(Change(old, new))
                self.touched.add(place)
                self.place(place, new)
                changed |= changed_by(place, old, new)
        return frozenset(changed)


@dataclass(frozen=True, slots=True)
class SteppedTable(Table):
    """The table of an actor or, without one, of the actor in whose thread it is asked."""

    ledger: Ledger = field(kw_only=True, repr=False)
    actor: Actor | None = field(default=None, kw_only=True, repr=False)
    backwards: bool = field(default=False, kw_only=True)
    """Whether parallel requests go out in the opposite order."""

    def ask(self, request: Callable[..., Any], **arguments: Any) -> Any:
        actor = self.actor or HERE.actor
        send = lambda: Table.ask(self, request, **arguments)  # noqa: E731  # a name would say no more
        return self.ledger.request(actor, request.__name__, arguments, send)

    def gather(self, requests: Sequence[Callable[[], R]]) -> list[R]:
        self.ledger.gathered = self.ledger.gathered or len(requests) > 1
        order = range(len(requests))
        done = {number: requests[number]() for number in (reversed(order) if self.backwards else order)}
        return [done[number] for number in order]


@dataclass(frozen=True, slots=True)
class SteppedQueue(Queue):
    """The queue in which an actor puts work."""

    ledger: Ledger = field(kw_only=True, repr=False)
    actor: Actor | None = field(default=None, kw_only=True, repr=False)

    def ask(self, request: Callable[..., Any], **arguments: Any) -> Any:  # noqa: ARG002  # it only sends
        return self.ledger.send(self.actor or HERE.actor, arguments["Entries"])
