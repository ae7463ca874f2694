"""The table that actions begin with, how it settles afterwards, and what is left of an action."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from types import SimpleNamespace
from typing import Any

import pytest
from argon2 import PasswordHasher
from aws_lambda_powertools.utilities.batch import EventType

from functions.background import expiry, messenger, publisher, refresher, remover
from local.event_source import EventSource, Record
from shared import features, hooks
from shared.data import keys
from shared.data.invariants import Fault
from shared.dynamodb.attributes import unmarshal_item, unmarshal_items
from shared.dynamodb.damage import raise_last
from shared.dynamodb.table import Table
from shared.errors import DealsError
from shared.runtime import environment
from shared.runtime.batches import each_record
from shared.runtime.environment import each_task
from shared.values import passwords, times
from tests.interleave.beginning import LATER
from tests.interleave.processes import CONTEXT, Action, Around, Process, serving
from tests.interleave.programs import Point, Undetermined
from tests.interleave.remembering import PerItem
from tests.interleave.stepping import (
    HERE,
    Actor,
    Change,
    Crash,
    Dead,
    Endless,
    Ledger,
    Order,
    Schedule,
    SteppedQueue,
    SteppedTable,
    Turns,
)
from tests.interleave.touching import Place, Wire, place_of
from tests.support import engines, surroundings
from tests.support.checks import faults

MOST_RUNS = 2_000
"""Runs after which what they have shown of the actions is forgotten."""

DELIVERIES = 5
"""Deliveries of a message before it becomes a dead letter."""


class Known(PasswordHasher):
    """Hashes a password the same in each run, and fast."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)

    def hash(self, password: str | bytes, *, salt: bytes | None = None) -> str:
        return super().hash(password, salt=salt or b"the same salt...")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results of actions, and what they left: items, stream records and messages, each in a normal form."""

    results: tuple[str, ...]
    items: tuple[str, ...]
    records: frozenset[tuple[str, ...]] = frozenset()
    sent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Beginning:
    """A table, and what the stream and the queue hold that nobody has read yet."""

    items: dict[Place, Wire]
    changes: list[Change]
    sent: list[str]


class World:
    """A table on the fast engine that is put back before each run: to a settled state (``quiet``), to one in which the
    stream, the queue and the clock still have work (``pending``), or to one in which, beside that work, items are
    damaged, missing or stray (``damaged``)."""

    def __init__(self, raw: Table, around: Sequence[Around], mend: Sequence[Action]) -> None:
        self.ledger = Ledger(raw)
        self.quiet = self.pending = self.damaged = self._begun = Beginning({}, [], [])
        self._around = around
        self._mend = mend
        self.actors: list[Actor] = []
        self.dead_letters = 0
        """Records with which a reader of the stream failed when the table settled."""
        self._settled: dict[tuple[int, Outcome], tuple[Outcome, tuple[Fault, ...]]] = {}
        self.repeats = True
        """Whether what an action does is taken from earlier runs."""
        self.runs = 0
        """How often two actions did run since what they do was last forgotten."""
        self._points: defaultdict[tuple[Action, int, Beginning, bool], Point] = defaultdict(Point)

    def process(self, actor: Actor, *, backwards: bool = False) -> Process:
        """A process whose requests an actor makes."""
        raw = self.ledger.raw
        sqs: Any = SimpleNamespace(send_message_batch=None)  # it is never asked: ``Ledger.send`` takes the messages
        queue = SteppedQueue("queue", client=sqs, ledger=self.ledger, actor=actor)
        table = SteppedTable(
            raw.name,
            client=raw.client,
            ledger=self.ledger,
            actor=actor,
            backwards=backwards,
            sleep=lambda _: None,
            jitter=lambda: 0.0,
            token=partial(next, actor.tokens),
        )
        return Process(table, queue, actor.number, self.records(self._begun.changes), self._begun.sent)

    def now(self) -> Beginning:
        """The table as it is, as a beginning."""
        return Beginning(dict(self.ledger.items), [*self.ledger.changes], [*self.ledger.sent])

    def begin_with(self, beginning: Beginning) -> None:
        """Have the next runs begin there."""
        if beginning is not self._begun:
            places = beginning.items.keys() | self._begun.items.keys()
            self.ledger.touched |= {each for each in places if beginning.items.get(each) != self._begun.items.get(each)}
            self._begun = beginning

    def reset(self) -> None:
        """Put the table back."""
        ledger = self.ledger
        for place in ledger.touched:
            due = self._begun.items.get(place)
            if due is not ledger.items.get(place):
                ledger.place(place, due)
        ledger.touched.clear()
        ledger.made.clear()
        ledger.changes[:], ledger.sent[:] = self._begun.changes, self._begun.sent

    @contextmanager
    def _surrounded(self) -> Iterator[None]:
        with ExitStack() as stack:
            for around in self._around:
                stack.enter_context(around())
            yield

    def together(self, actions: Sequence[Action], schedule: Schedule, *, backwards: bool = False) -> Outcome:
        """Run two actions by a schedule, from the beginning. Raises Endless, Undetermined."""
        if self.runs >= MOST_RUNS:
            self.forget()
        points = [self._points[each, number, self._begun, backwards] for number, each in enumerate(actions)]
        results = (self._repeat(points, schedule) if self.repeats else None) or self._run(
            points, actions, schedule, backwards=backwards
        )
        return self.outcome(*results)

    def forget(self) -> None:
        """Forget what actions do."""
        self._points.clear()
        self.runs = 0

    def _repeat(self, points: Sequence[Point], schedule: Schedule) -> list[str] | None:
        """Make the requests of two actions without running these, as far as they are known; returns their results."""
        self.reset()
        self.actors = [Actor(number, point=point) for number, point in enumerate(points)]
        order = Order(schedule)
        while order.alive:
            actor = self.actors[order.number]
            point = actor.point
            if point is not None and point.result is not None:
                order.end(order.number)
            elif point is None or point.asked is None:
                return None
            elif not order.gives_way():
                order.count()
                with suppress(DealsError):  # its action has to decide
                    self.ledger.make(actor, point.asked)
        return [actor.point.result or "" for actor in self.actors if actor.point]

    def _run(
        self, points: Sequence[Point], actions: Sequence[Action], schedule: Schedule, *, backwards: bool
    ) -> list[str]:
        self.reset()
        turns = Turns(schedule)
        self.actors = [Actor(number, turns, point=point) for number, point in enumerate(points)]
        results = ["", ""]
        undetermined: list[Undetermined] = []

        def work(number: int) -> None:
            actor = self.actors[number]
            try:
                results[number] = told(actions[number], self.process(actor, backwards=backwards))
                if actor.point is not None:
                    actor.point.end(results[number])
            except Undetermined as error:
                undetermined.append(error)

        with self._surrounded():
            turns.run([lambda: work(0), lambda: work(1)])
        self.runs += 1
        for error in undetermined:
            raise error
        return results

    def alone(self, action: Action, *, number: int = 0, crash: Crash | None = None, again: bool = False) -> str:
        """Run one action; ``again`` goes on with what there is. Returns its result, empty if its process ended."""
        if not again:
            self.reset()
        self.actors = [Actor(number, crash=crash, attempt=int(again))]
        with self._surrounded():
            try:
                return told(action, self.process(self.actors[0]))
            except Dead:
                return ""

    def outcome(self, *results: str) -> Outcome:
        """What there is now, in a normal form."""
        ledger, base = self.ledger, self._begun.items
        changed = [(place, ledger.items.get(place)) for place in ledger.touched]
        items = sorted(
            f"no {place}" if item is None else normal(item)
            for place, item in changed
            if (item and normal(item)) != ((before := base.get(place)) and normal(before))
        )
        by_key: dict[Place, list[str]] = {}
        for each in ledger.changes[len(self._begun.changes) :]:
            states = f"{each.old and normal(each.old)} {each.new and normal(each.new)}"
            by_key.setdefault(place_of(each.item), []).append(states)
        records = frozenset(map(tuple, by_key.values()))
        return Outcome(results, tuple(items), records, tuple(sorted(ledger.sent[len(self._begun.sent) :])))

    def settled(self, outcome: Outcome) -> tuple[Outcome, tuple[Fault, ...]]:
        """What is left of an outcome when the stream, the queue and the clock have done their work, and the faults."""
        key = id(self._begun), replace(outcome, results=())
        if key not in self._settled:
            self.settle()
            dead, faults = self.dead_letters, self._faults()
            if faults and self._begun is self.damaged:
                for repair in self._mend:
                    repair(self.process(self.actors[0]))
                self.settle()
                faults += [replace(fault, rule=f"after a second repair: {fault.rule}") for fault in self._faults()]
            left = self.outcome()
            left = replace(left, items=(*left.items, f"{dead} dead letters"))
            self._settled[key] = replace(left, records=frozenset(), sent=()), tuple(faults)
        left, remaining = self._settled[key]
        known = {each for result in outcome.results for each in _left(result)}
        return replace(left, results=outcome.results), tuple(each for each in remaining if named(each) not in known)

    def _faults(self) -> list[Fault]:
        return faults(unmarshal_items(self.ledger.items.values()), LATER)

    def settle(self) -> None:
        """Deliver the stream's records and the queue's messages, and let the clock run, until nothing changes."""
        actor = HERE.actor = Actor(attempt=2)
        self.actors = [actor]
        process = self.process(actor)
        done = self.dead_letters = 0
        tried: Counter[str] = Counter()
        with self._surrounded():
            while True:
                actor.made.clear()
                records = self.records(self.ledger.changes[done:])
                done = len(self.ledger.changes)
                for reader in (publish, follow):
                    source = EventSource(partial(reader, process), retries=0)
                    source.deliver(records)
                    self.dead_letters += len(source.dead_letters)
                sent = [body for body in self.ledger.sent if tried[body] < DELIVERIES]
                self.ledger.sent.clear()
                tried.update(sent)
                failed = deliver(process, sent) if sent else []
                self.ledger.sent += failed
                self.dead_letters += sum(tried[body] == DELIVERIES for body in failed)
                tick(process)
                if len(self.ledger.changes) == done and not self.ledger.sent:
                    return

    def records(self, changes: Sequence[Change]) -> list[Record]:
        """The stream's records of changes: of each the same, however often it is read."""
        for each in changes:
            if each.record is None:
                old, new = (image and unmarshal_item(image) for image in (each.old, each.new))
                each.record = surroundings.record(old, new, LATER)
        return [each.record for each in changes if each.record]


def told(action: Action, process: Process) -> str:
    """Do an action; returns its result as text. A defect is a result, too."""
    HERE.actor = process.table.actor if isinstance(process.table, SteppedTable) else None
    try:
        result = action(process)
    except DealsError as error:
        return f"{REFUSED}{type(error).__name__}"
    except Endless:
        raise
    except Exception as error:  # noqa: BLE001  # whatever it is, it is reported with its schedule
        return f"!{type(error).__name__}: {error}"
    return str(result) if isinstance(result, str | int | None) else "done"


REFUSED = "refused: "
"""What the result of a refused action begins with."""

LEFT = "left: "
"""What the result of a repair begins with that has left some faults."""


def repaired(left: Iterable[Fault]) -> str:
    """The result of a repair: the faults that it has left, or nothing."""
    names = sorted(map(named, left))
    return f"{LEFT}{'; '.join(names)}" if names else "done"


def _left(result: str) -> list[str]:
    """The faults that a repair says it has left."""
    return result.removeprefix(LEFT).split("; ") if result.startswith(LEFT) else []


def named(fault: Fault) -> str:
    return f"{fault.rule}: {' / '.join(dict.fromkeys(fault.key.values()))}"


_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


@cache
def _numbered() -> frozenset[str]:
    """The types of items whose keys are numbers from a sequence."""
    return frozenset({keys.DEAL_NUMBER}.union(*(each.CHECK.SEQUENCES for each in features.roles(hooks.Invariants))))


def _normal(item: Wire) -> str:
    """An item without what differs from run to run: names of attempts, log lines' numbers, and drawn numbers, of which
    some may be lost. (That each number leads to its own item is an invariant.)"""
    kind = item["Type"]["S"]
    lost = {"PK", "SK"} if kind in _numbered() else {"SK"} if kind == keys.LOG_LINE else set()
    known = {
        name: {"SS": sorted(value["SS"])} if "SS" in value else value
        for name, value in item.items()
        if name not in lost and not name.endswith("Number")
    }
    return _UUID.sub("uuid", json.dumps(known, sort_keys=True))


normal = PerItem(_normal)


def publish(process: Process, event: Record) -> dict[str, Any]:
    """Hand records to the publisher."""
    with serving(process):
        return dict(publisher.handler(event, CONTEXT))


def follow(process: Process, event: Record) -> dict[str, Any]:
    """Hand records to the refresher's followers. Its copies of pages are left out."""
    effects = refresher.Effects()
    with serving(process):
        answer = each_record(event, CONTEXT, EventType.DynamoDBStreams, effects.add)
        raise_last(each_task(*(other.settle for other in effects.others)))
    return dict(answer)


def deliver(process: Process, bodies: Sequence[str]) -> list[str]:
    """Hand messages of the queue to the messenger; returns those that it gives back."""
    (like, *_) = surroundings.event("messenger-work")["Records"]
    records = [{**like, "messageId": str(number), "body": body} for number, body in enumerate(bodies)]
    with serving(process):
        answer: Any = messenger.handler({"Records": records}, CONTEXT)
    return [bodies[int(each["itemIdentifier"])] for each in answer["batchItemFailures"]]


def tick(process: Process) -> None:
    """Let the clock's functions run once."""
    with serving(process):
        expiry.handler({}, CONTEXT)
        remover.handler({}, CONTEXT)


@contextmanager
def opened(
    prepare: Sequence[Action],
    pending: Sequence[Action],
    damage: Sequence[Action],
    around: Sequence[Around],
    mend: Sequence[Action],
) -> Iterator[World]:
    """A world that begins with what some functions left and settled, with what others left that hasn't, and with what
    others damaged by hand."""
    engine = replace(engines.FAST, create=engines.create_without_stream)
    with ExitStack() as stack:
        raw = stack.enter_context(engine.bare_table())
        world = World(raw, around, mend)
        stack.enter_context(_functions(world))
        for stage in (prepare, pending, damage):
            actor = HERE.actor = Actor(20)
            process = world.process(actor)
            for each in stage:
                actor.made.clear()
                with world._surrounded():
                    each(process)
            if stage is prepare:
                world.settle()
                world.ledger.changes.clear()
                world.quiet = world.now()
            elif stage is pending:
                world.pending = world.now()
        world.damaged = replace(world.pending, items=world.now().items)  # the stream has forgotten how it came
        world.ledger.touched.update(world.ledger.items)
        yield world


@contextmanager
def _functions(world: World) -> Iterator[None]:
    """The functions' environment: the world's table and queue, and a clock that stands still."""
    shared = world.process(Actor())
    assert isinstance(shared.table, SteppedTable)
    assert isinstance(shared.queue, SteppedQueue)
    table = replace(shared.table, actor=None, token=lambda: str(next(HERE.actor.tokens)))
    queue = replace(shared.queue, actor=None)
    patch = pytest.MonkeyPatch()
    with ExitStack() as stack:
        stack.callback(patch.undo)
        quiet = {"POWERTOOLS_LOG_LEVEL": "CRITICAL", "POWERTOOLS_DEV": "false"}
        stack.enter_context(surroundings.surrounded(patch, world.ledger.raw, **quiet))
        stack.enter_context(environment.using(table))
        patch.setattr(times, "now", lambda: LATER)
        patch.setattr(passwords, "HASHER", Known())
        for module in (publisher, messenger):
            if hasattr(module, "queue"):
                patch.setattr(module, "queue", lambda: queue)
        yield
