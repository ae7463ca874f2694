"""All schedules of two actions with a bounded number of switches, and all crash points of one.

Of schedules that come to the same, one is tried. Two requests that follow each other, one of each action, can change
places if neither changes what the other reads: each gets the same answer, and the same is left. So to give way before
a request comes to the same as to give way after it, unless it meets one of the requests that the other action makes
meanwhile (``explore``). Two actions that meet nowhere are tried in no order.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from shared.data.invariants import Fault
from shared.dynamodb.capacity import Capacity
from tests.interleave.documented import COUNTED, REFUSALS, alike, excuse, harmless, reason
from tests.interleave.processes import Action
from tests.interleave.programs import Undetermined
from tests.interleave.stepping import Crash, Endless, Schedule
from tests.interleave.touching import Request, Token
from tests.interleave.world import LEFT, REFUSED, Beginning, Outcome, World, named

SWITCHES = 2

Made = Sequence[Sequence[Request]]
"""The requests of two actions."""


@dataclass(slots=True)
class Found:
    """What trying a pair of actions, or an action's crash points, has found.

    ``breaks`` has, for each kind of break, the first schedule or crash that leads to it. ``refused`` counts the runs in
    which an action was refused because of the other; ``differs`` those with a difference that the documents name.
    ``requests`` and ``units`` are the most that a conflict cost, beyond the dearer order.
    """

    runs: int = 0
    breaks: dict[str, str] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)
    differs: Counter[str] = field(default_factory=Counter)
    requests: int = 0
    units: float = 0.0


@dataclass(frozen=True, slots=True)
class Footprint:
    """All that some requests read and change."""

    reads: frozenset[Token] = frozenset()
    writes: frozenset[Token] = frozenset()

    @classmethod
    def of(cls, requests: Sequence[Request]) -> Footprint:
        empty = frozenset[Token]()
        return cls(empty.union(*(each.reads for each in requests)), empty.union(*(each.writes for each in requests)))

    def __or__(self, other: Footprint) -> Footprint:
        return Footprint(self.reads | other.reads, self.writes | other.writes)

    def meets(self, other: Footprint) -> bool:
        """Whether the order of the two makes a difference."""
        return bool(self.writes & other.reads or self.reads & other.writes)


@dataclass(slots=True)
class Alone:
    """What an action does by itself: its outcome, what it touches, whether it sends parallel requests, and what it
    leaves once all is settled, if that was asked for."""

    outcome: Outcome
    touched: Footprint
    gathers: bool
    left: Outcome | None = None


class Explorer:
    """Tries pairs and crash points in a world. ``pending`` names the actions that begin while work is pending,
    ``damaged`` those that begin with damage, too."""

    def __init__(
        self,
        world: World,
        actions: Mapping[str, Action],
        pending: Collection[str] = (),
        damaged: Collection[str] = (),
    ) -> None:
        self.world = world
        self.actions = actions
        self._pending = frozenset(pending)
        self._damaged = frozenset(damaged)
        self._alone: dict[tuple[str, int, Beginning], Alone] = {}

    def begin(self, *names: str) -> Beginning:
        """Begin where these actions begin."""
        beginning = self.world.quiet
        if not self._damaged.isdisjoint(names):
            beginning = self.world.damaged
        elif not self._pending.isdisjoint(names):
            beginning = self.world.pending
        self.world.begin_with(beginning)
        return beginning

    def pair(self, first: str, second: str, *, switches: int = SWITCHES) -> Found:
        """Try two actions in all schedules that make a difference."""
        found = Found()
        beginning = self.begin(first, second)
        both = self.alone(first, 0, beginning), self.alone(second, 1, beginning)
        if both[0].touched.meets(both[1].touched):
            for backwards in (False, True) if any(each.gathers for each in both) else (False,):
                explore(_Pair(self, (first, second), found, backwards=backwards).run, switches)
        return found

    def alone(self, name: str, number: int, beginning: Beginning) -> Alone:
        """What an action does by itself. The world must begin there."""
        key = (name, number, beginning)
        if key not in self._alone:
            self.world.ledger.gathered = False
            result = self.world.alone(self.actions[name], number=number)
            touched, gathers = Footprint.of(self.world.actors[0].made), self.world.ledger.gathered
            self._alone[key] = Alone(self.world.outcome(result), touched, gathers=gathers)
        return self._alone[key]

    def only(self, name: str, number: int, beginning: Beginning) -> Outcome:
        """What an action leaves by itself once all is settled."""
        alone = self.alone(name, number, beginning)
        if alone.left is None:
            result = self.world.alone(self.actions[name], number=number)
            alone.left, _ = self.world.settled(self.world.outcome(result))
        return alone.left

    def crashes(self, name: str) -> Found:
        """End an action's process before and after each of its requests, and try again."""
        found, world, action = Found(), self.world, self.actions[name]
        undisturbed = self.only(name, 0, self.begin(name))
        for crash in self._crash_points(name):
            found.runs += 1
            world.alone(action, crash=crash)
            again = world.alone(action, again=True)
            left, faults = world.settled(world.outcome(again))
            where = f"{crash.at}{'+' if crash.after else '-'}"
            _judge_faults(found, faults, where)
            if again.startswith("!"):
                found.breaks.setdefault(again, where)
            elif again != undisturbed.results[0] and not again.startswith(LEFT):
                found.refused[again.removeprefix(REFUSED)] += 1
            if harmless(left) == harmless(undisturbed):
                continue
            if why := reason("crash", name):
                found.differs[why] += 1
            elif harmless(left, counted=COUNTED) == harmless(undisturbed, counted=COUNTED):
                found.differs["a repeated action is counted again"] += 1
            else:
                found.breaks.setdefault(f"not as undisturbed: {difference(left, undisturbed)}", where)
        return found

    def _crash_points(self, name: str) -> Iterator[Crash]:
        self.world.alone(self.actions[name])
        for at in range(len(self.world.actors[0].made)):
            yield from (Crash(at, after=False), Crash(at, after=True))


class _Pair:
    """The schedules of two actions, and what they should leave."""

    def __init__(self, explorer: Explorer, names: tuple[str, str], found: Found, *, backwards: bool) -> None:
        self.explorer = explorer
        self.world = explorer.world
        self.names = names
        self.actions = [explorer.actions[name] for name in names]
        self.found = found
        self.backwards = backwards
        self.orders: dict[Outcome, Outcome] = {}
        self.costs: list[tuple[int, float]] = []

    def run(self, schedule: Schedule) -> Made:
        """Run the two, judge what they leave, and return the requests of each."""
        self.found.runs += 1
        replay = f"{schedule}{'b' if self.backwards else ''}"
        try:
            outcome = self.world.together(self.actions, schedule, backwards=self.backwards)
        except (Endless, Undetermined) as error:
            self.found.breaks.setdefault(f"{type(error).__name__}: {error}", replay)
            return [[], []]
        made = [actor.made for actor in self.world.actors]
        self._count(schedule, made)
        if outcome not in self.orders:
            self._judge(schedule, outcome, replay)
        return made

    def _count(self, schedule: Schedule, made: Sequence[Sequence[Request]]) -> None:
        """Compare the costs of a run with those of the two orders."""
        units = sum((each.units for both in made for each in both), Capacity())
        cost = sum(map(len, made)), units.read + units.write
        if not schedule.turns:
            self.costs.append(cost)
            return
        self.found.requests = max(self.found.requests, cost[0] - max(requests for requests, _ in self.costs))
        self.found.units = max(self.found.units, cost[1] - max(each for _, each in self.costs))

    def _judge(self, schedule: Schedule, outcome: Outcome, replay: str) -> None:
        found = self.found
        left, faults = self.world.settled(outcome)
        _judge_faults(found, faults, replay)
        for result in outcome.results:
            if result.startswith("!"):
                found.breaks.setdefault(result, replay)
        if not schedule.turns:
            self.orders[outcome] = left
        elif not any(alike(left, order) for order in self.orders.values()) and not faults:
            self._judge_difference(left, replay)

    def _judge_difference(self, left: Outcome, replay: str) -> None:
        """One of the two may have been refused because of the other, and left nothing; a document may say the rest."""
        for number in (0, 1):
            why = left.results[number].removeprefix(REFUSED)
            if why in REFUSALS and harmless(left) == harmless(self._only(1 - number)):
                self.found.refused[why] += 1
                return
        if why := reason(*self.names):
            self.found.differs[why] += 1
            return
        nearest = min(self.orders.values(), key=lambda order: len(set(order.items) ^ set(left.items)))
        self.found.breaks.setdefault(f"in no order: {difference(left, nearest)}", replay)

    def _only(self, number: int) -> Outcome:
        """What one of the two leaves by itself."""
        return self.explorer.only(self.names[number], number, self.explorer.begin(*self.names))


def _judge_faults(found: Found, faults: Sequence[Fault], where: str) -> None:
    for fault in faults:
        if why := excuse(fault):
            found.differs[why] += 1
        else:
            found.breaks.setdefault(f"{named(fault)} {fault.attributes}", where)


def explore(run: Callable[[Schedule], Made], switches: int) -> None:
    """Run the two orders, and of the schedules with more switches one of all that come to the same."""
    orders = [Schedule(0), Schedule(1)]
    todo = deque((schedule, run(schedule), 1) for schedule in orders)
    while todo:
        schedule, made, least = todo.popleft()
        if len(schedule.turns) < switches:
            todo += _further(schedule, made, least, run)


def _further(
    schedule: Schedule, made: Made, least: int, run: Callable[[Schedule], Made]
) -> Iterator[tuple[Schedule, Made, int]]:
    """Run what goes on as a schedule does, but gives way once more: each with its requests, and the least number of
    requests that the other has to make before it gives way in its turn.

    Begins with the last request. As long as a request meets nothing of what the other does after it, the other does
    the same before it.
    """
    running = (schedule.first + len(schedule.turns)) % 2
    other = 1 - running
    begun = sum(schedule.turns[len(schedule.turns) % 2 :: 2])
    waiting = sum(schedule.turns) - begun
    meanwhile = made[other][waiting:]
    for at in reversed(range(begun + least, len(made[running]))):
        request = made[running][at]
        if any(map(request.meets, meanwhile)):
            further = Schedule(schedule.first, (*schedule.turns, at - begun))
            then = run(further)
            meanwhile = then[other][waiting:]
            meets = [number for number, each in enumerate(meanwhile, start=1) if request.meets(each)]
            yield further, then, min(meets, default=len(meanwhile))


def difference(left: Outcome, due: Outcome) -> str:
    """What differs between two outcomes, for who looks into it."""
    results = f"{left.results} for {due.results}; " if left.results != due.results else ""
    new, missing = set(left.items) - set(due.items), set(due.items) - set(left.items)
    return results + " | ".join([*(f"+{each}" for each in sorted(new)), *(f"-{each}" for each in sorted(missing))])
