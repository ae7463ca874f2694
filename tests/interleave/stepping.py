"""A table whose requests go out one at a time, in the order that a schedule says, and what each reads and writes.

Two actors run in two threads, of which one runs at a time: it gives way only before a request. Parallel requests of one
actor (``Table.gather``) go out one after the other, so another actor can come between them.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import UUID

from botocore.exceptions import ClientError

from shared.dynamodb.capacity import Capacity, taken
from shared.dynamodb.table import Table
from shared.errors import DealsError
from shared.services import Queue
from tests.interleave.programs import Point
from tests.interleave.remembering import Asked, Known, Memory
from tests.interleave.touching import QUEUE, Place, Request, Token, Wire, changed_by, read_by

R = TypeVar("R")

STUCK = 60.0
"""Seconds after which a run counts as stuck."""

SEND = "send_message_batch"

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
    """One process: its requests so far, its turn-taking with another, and when it ends.

    ``point`` is where its action is, if that is noted. ``attempt`` tells it from others with its number: each draws
    tokens of its own, the same in each run.
    """

    def __init__(
        self,
        number: int = 0,
        turns: Turns | None = None,
        crash: Crash | None = None,
        point: Point | None = None,
        attempt: int = 0,
    ) -> None:
        self.number = number
        self.tokens = (str(UUID(int=each)) for each in itertools.count((number * 100 + attempt) << 64))
        self.made: list[Request] = []
        self.point = point
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


class Order:
    """Whose turn it is of two, by a schedule."""

    def __init__(self, schedule: Schedule) -> None:
        self.alive = {0, 1}
        self._turns = list(schedule.turns)
        self._begin(schedule.first)

    def _begin(self, number: int) -> None:
        self.number = number
        self._left = self._turns.pop(0) if self._turns and len(self.alive) == 2 else None

    def gives_way(self) -> bool:
        """Whether the turn is over before the next request: then it is the other's."""
        over = self._left == 0 and len(self.alive) == 2
        if over:
            self._begin(1 - self.number)
        return over

    def count(self) -> None:
        """Count a request."""
        if self._left is not None:
            self._left -= 1

    def end(self, number: int) -> None:
        """Count one as ended: the other goes on."""
        self.alive.discard(number)
        self._begin(1 - number)


class Turns:
    """Lets one of two actors run at a time, each in its thread."""

    def __init__(self, schedule: Schedule) -> None:
        self._gates = [threading.Semaphore(0) for _ in range(2)]
        self._order = Order(schedule)

    def run(self, works: Sequence[Callable[[], object]]) -> None:
        """Run two works to their ends. Raises Endless."""
        threads = [threading.Thread(target=self._body, args=each, daemon=True) for each in enumerate(works)]
        for thread in threads:
            thread.start()
        self._gates[self._order.number].release()
        for thread in threads:
            thread.join(STUCK)
            if thread.is_alive():
                raise Endless("one waits for the other")

    def _body(self, number: int, work: Callable[[], object]) -> None:
        self._gates[number].acquire()
        try:
            work()
        finally:
            self._order.end(number)
            if self._order.alive:
                self._gates[1 - number].release()

    def before(self, number: int) -> None:
        """Called before each request; gives way when the turn is over."""
        if self._order.gives_way():
            self._gates[1 - number].release()
            self._gates[number].acquire()
        self._order.count()


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

    def request(self, actor: Actor, asked: Asked) -> Any:
        """Make an actor's request when it is its turn. Raises what the request raises, and Dead."""
        actor.before()
        known = self.make(actor, asked)
        if known.refused is not None:
            raise ClientError(known.refused.response, known.refused.operation_name)
        return known.answer

    def make(self, actor: Actor, asked: Asked) -> Known:
        """Make an actor's request, and record it. Raises what the request raises, except for a refusal, and Dead."""
        if asked.called == SEND:
            known = self._sent(asked.arguments["Entries"])
        else:
            try:
                known = self.ask(asked)
            except DealsError as error:
                units = self._units(asked, getattr(error.__cause__, "response", {}))
                self._record(actor, Request(asked.called, frozenset(asked.reads), frozenset(), units))
                actor.point = None
                raise
            writes = self._follow(known.left)
            if writes:
                self.writers()
            known.request = known.request or self._made(asked, known, writes)
        if actor.point is not None:
            actor.point = actor.point.after(asked, known)
        assert known.request is not None
        self._record(actor, known.request)
        return known

    def _made(self, asked: Asked, known: Known, writes: frozenset[Token]) -> Request:
        reads = frozenset(asked.reads)
        if asked.called in ("query", "scan") and known.refused is None:
            reads = read_by(asked.arguments, known.answer, reads)
        return Request(asked.called, reads, writes, self._units(asked, known.response))

    def _sent(self, entries: Sequence[Mapping[str, str]]) -> Known:
        """Take messages for the queue, as SQS does."""
        self.sent += [entry["MessageBody"] for entry in entries]
        answer = {"Successful": [{"Id": entry["Id"]} for entry in entries]}
        return Known(answer, request=Request(SEND, frozenset(), frozenset({QUEUE})))

    def _record(self, actor: Actor, request: Request) -> None:
        self.made.append((actor.number, request))
        actor.after(request)

    def _units(self, asked: Asked, answer: Any) -> Capacity:
        operation = "".join(map(str.title, asked.called.split("_")))
        units = taken(operation, asked.arguments, answer, self.raw.client.meta.endpoint_url) if answer else None
        return sum((units or {}).values(), Capacity())

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
        asked = Asked(request.__name__, {**arguments, "ReturnConsumedCapacity": "TOTAL"})
        return self.ledger.request(self.actor or HERE.actor, asked)

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
        return self.ledger.request(self.actor or HERE.actor, Asked(SEND, arguments))
