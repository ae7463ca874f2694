"""A table whose requests go out one at a time, in the order that a schedule says, and what each reads and writes.

Two actors run in two threads, of which one runs at a time: it gives way only before a request. Parallel requests of one
actor (``Table.gather``) go out one after the other, so another actor can come between them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from shared.dynamodb.capacity import Capacity, inserts, taken
from shared.dynamodb.schema import INDEXES, key_names
from shared.dynamodb.table import Table
from shared.services import Queue

R = TypeVar("R")

Wire = dict[str, Any]
"""An item or a key in DynamoDB's form."""

Place = tuple[str, str]
"""An item's key, hashable."""

Token = tuple[str, ...]
"""Something that a request reads or writes: an item, a partition of the table or of an index, all items, a queue."""

ALL: Token = ("all items",)
QUEUE: Token = ("queue",)

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

    def meets(self, others: frozenset[Token], changed: frozenset[Token]) -> bool:
        """Whether its place among requests that read ``others`` and change ``changed`` makes a difference."""
        return bool(self.writes & others or self.reads & changed)


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


class Ledger:
    """All items of a table, kept up to date from each write, with the changes as the stream would have them."""

    def __init__(self, raw: Table) -> None:
        self.raw = raw
        self.items: dict[Place, Wire] = {}
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
            answer = send()
        except Exception as error:
            told = getattr(error, "__cause__", None) or error
            units = self._units(called, asked, getattr(told, "response", {}))
            self._record(actor, Request(called, reads, frozenset(), units))
            raise
        writes = frozenset(self._follow(written)) if written else frozenset[Token]()
        if writes:
            self.writers()
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

    def _follow(self, written: Sequence[Place]) -> set[Token]:
        """Read what a request may have written; returns what it changed."""
        changed: set[Token] = set()
        found = self._read(written)
        for place in written:
            old, new = self.items.get(place), found.get(place)
            if old == new:
                continue
            self.changes.append(Change(old, new))
            self.touched.add(place)
            if new is None:
                del self.items[place]
            else:
                self.items[place] = new
            changed |= {ALL, ("item", *place), ("partition", "", place[0])}
            for index in INDEXES:
                name = key_names(index)[0]
                changed |= {("partition", index.name, each[name]["S"]) for each in (old, new) if each and name in each}
        return changed

    def _read(self, places: Sequence[Place]) -> dict[Place, Wire]:
        """Items as they are, by their keys, in batches."""
        found: dict[Place, Wire] = {}
        distinct = [*dict.fromkeys(places)]
        for start in range(0, len(distinct), 100):
            wanted = [{"PK": {"S": pk}, "SK": {"S": sk}} for pk, sk in distinct[start : start + 100]]
            asked: Any = {self.raw.name: {"Keys": wanted, "ConsistentRead": True}}
            answer: Any = self.raw.client.batch_get_item(RequestItems=asked)
            found |= {place_of(item): item for item in answer["Responses"].get(self.raw.name, [])}
        return found


def place_of(item: Mapping[str, Any]) -> Place:
    """The key of an item in DynamoDB's form."""
    return item["PK"]["S"], item["SK"]["S"]


def touches(called: str, asked: Mapping[str, Any]) -> tuple[frozenset[Token], list[Place]]:
    """What a request reads, and the keys of what it may write. A condition reads its item."""
    if called == "query":
        condition, values = asked["KeyConditionExpression"], asked["ExpressionAttributeValues"]
        first = condition.split(" = ")[1].split(" ")[0]
        return frozenset({("partition", asked.get("IndexName", ""), values[first]["S"])}), []
    if called == "scan":
        return frozenset({ALL}), []
    written: list[Place] = []
    read: list[Place] = []
    for operation, item in named(called, asked):
        read.append(place_of(item))
        if operation not in ("ConditionCheck", "Get"):
            written.append(place_of(item))
    return frozenset(("item", *place) for place in read), written


def named(called: str, asked: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """The items and keys that a request names, each with what it does there."""
    if called == "transact_write_items":
        each_of = [(name, one) for write in asked["TransactItems"] for name, one in write.items()]
        return [(name, one.get("Key") or one["Item"]) for name, one in each_of]
    if called == "batch_get_item":
        return [("Get", key) for batch in asked["RequestItems"].values() for key in batch["Keys"]]
    if called == "batch_execute_statement":
        return [("Put", item) for item in inserts(asked)]
    if called in ("get_item", "put_item", "update_item", "delete_item"):
        return [("Get" if called == "get_item" else "Write", asked.get("Key") or asked["Item"])]
    return []


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
