"""Two writers at once, and writers whose process ends, request by request (``make interleave`` tries all of them)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from shared.data import keys
from shared.dynamodb.attributes import unmarshal_item
from shared.dynamodb.writes import assign, put
from tests.interleave import actions, writers
from tests.interleave.beginning import FIRST
from tests.interleave.exploring import Explorer, Made, explore
from tests.interleave.processes import Process
from tests.interleave.stepping import Schedule
from tests.interleave.world import Outcome, World
from tests.support.cases import cases, cases_by_name

pytestmark = pytest.mark.faults


def test_pairs_that_differ_only_in_name_are_tried_once() -> None:
    pairs = {frozenset(pair) for pair in actions.pairs()}

    assert {frozenset({"leave"}), frozenset({"leave early"}), frozenset({"leave", "like"})} <= pairs
    assert frozenset({"leave", "leave early"}) not in pairs
    assert frozenset({"leave", "publish"}) not in pairs, "it is the same as beside an early one"


@pytest.fixture(scope="module")
def explorer() -> Iterator[Explorer]:
    with actions.explored() as explorer:
        yield explorer


@pytest.fixture(scope="module")
def world(explorer: Explorer) -> World:
    return explorer.world


@contextmanager
def nothing_repeated(world: World) -> Iterator[None]:
    """Run both actions in each schedule, whatever is known of them."""
    world.repeats = False
    yield
    world.repeats = True


DONT_WRITE_HERE = {
    "shared.data.catalog.feed_counts.mend": "it repairs a damaged count",
    "shared.data.catalog.search.counted": "the same",
    **cases_by_name("DONT_WRITE_IN_ACTIONS"),
}
"""Functions that no action has write, each with the reason."""


def test_each_function_that_writes_has_written_in_one_of_the_actions(explorer: Explorer) -> None:
    seen: set[str] = set()
    explorer.world.ledger.writers = lambda: seen.update(writers.on_the_stack())

    for name, action in explorer.actions.items():
        explorer.begin(name)
        explorer.world.alone(action)
    explorer.world.ledger.writers = lambda: None

    assert writers.in_code() - seen == DONT_WRITE_HERE.keys()


def test_the_table_that_actions_begin_with_has_no_faults(world: World) -> None:
    for beginning in (world.quiet, world.pending):
        world.begin_with(beginning)
        world.reset()

        _, faults = world.settled(world.outcome())

        assert faults == ()


ONCE_FAILED = [
    ("change alert", "remove alert"),
    *cases("WRITES_ONCE_FAILED"),
]


@pytest.mark.parametrize("names", ONCE_FAILED, ids=" | ".join)
def test_pairs_that_once_failed_leave_what_one_after_the_other_would(
    explorer: Explorer, names: tuple[str, str]
) -> None:
    found = explorer.pair(*names)

    assert found.runs > 2, "they meet"
    assert found.breaks == {}


# One part in so many, each time the same: a minute and a half.
ONE_OF_PAIRS, ONE_OF_ACTIONS = 60, 6


@pytest.mark.thorough
def test_a_part_of_all_pairs_leave_what_one_after_the_other_would(explorer: Explorer) -> None:
    pairs = list(itertools.combinations_with_replacement(explorer.actions, 2))[::ONE_OF_PAIRS]

    broken = {" | ".join(pair): found.breaks for pair in pairs if (found := explorer.pair(*pair, switches=1)).breaks}

    assert broken == {}


@pytest.mark.thorough
def test_a_part_of_all_actions_leave_after_a_crash_what_they_leave_undisturbed(explorer: Explorer) -> None:
    names = list(explorer.actions)[::ONE_OF_ACTIONS]

    broken = {name: found.breaks for name in names if (found := explorer.crashes(name)).breaks}

    assert broken == {}


def rename(at: Process) -> None:
    """Read a deal, and write it back whole: what another wrote between is lost."""
    item = at.table.get(keys.deal(FIRST.deal_id), consistent=True) or {}
    at.table.write(put(item | {"Title": f"Title {at.seed}"}, because="this is the fault"))


def describe(at: Process) -> None:
    at.table.write(assign(keys.deal(FIRST.deal_id), {"Description": "Soft."}, refused=None))


def add(at: Process) -> None:
    """Add one, which a second try does again."""
    at.table.write(assign(keys.deal(FIRST.deal_id), {}, {"Odd": 1}, refused=None))


COMPARED = [
    ("change alert", "remove alert"),
    pytest.param(("deliver", "unwatch early"), marks=pytest.mark.thorough),
    pytest.param(("tick", "reopen ended"), marks=pytest.mark.thorough),
    *(pytest.param(pair, marks=pytest.mark.thorough) for pair in cases("WRITES_COMPARED")),
]
"""Pairs of which all schedules are tried: they read items, partitions, indexes and all items, in pages."""


@pytest.mark.parametrize("names", COMPARED, ids=" | ".join)
def test_the_schedules_that_are_tried_leave_all_that_any_schedule_leaves(
    explorer: Explorer, names: tuple[str, str]
) -> None:
    world, both = explorer.world, [explorer.actions[name] for name in names]
    tried: dict[Schedule, Outcome] = {}

    def run(schedule: Schedule) -> Made:
        tried[schedule] = world.together(both, schedule)
        return [actor.made for actor in world.actors]

    explorer.begin(*names)
    explore(run, 2)
    lengths = [len(actor.made) for actor in world.actors]
    turns = itertools.product(range(1, lengths[0] + 1), range(1, lengths[1] + 1))
    schedules = [Schedule(first, each[:: 1 - 2 * first]) for each in turns for first in (0, 1)]

    with nothing_repeated(world):
        outcomes = {world.together(both, schedule) for schedule in schedules}

    assert outcomes <= {*tried.values()}
    assert len(tried) < len(schedules)


REPEATED = [
    ("post", "post"),
    pytest.param(("publish", "publish"), marks=pytest.mark.thorough),
    *(pytest.param(pair, marks=pytest.mark.thorough) for pair in cases("WRITES_COMPARED")),
]


@pytest.mark.parametrize("names", REPEATED, ids=" | ".join)
def test_requests_that_are_known_leave_what_the_actions_would(explorer: Explorer, names: tuple[str, str]) -> None:
    world = explorer.world
    with nothing_repeated(world):
        due = explorer.pair(*names)
    world.forget()

    found = explorer.pair(*names)

    assert found == due
    assert world.runs < found.runs, "some were repeated"


def test_an_action_that_goes_by_something_else_than_answers_is_found(world: World) -> None:
    """What is known of it can't be repeated."""
    numbers = itertools.count()

    def count(at: Process) -> None:
        at.table.write(assign(keys.deal(FIRST.deal_id), {"Odd": next(numbers)}, refused=None))
        at.table.get(keys.deal(FIRST.deal_id))

    found = Explorer(world, {"count": count, "describe": describe}, ()).pair("count", "describe")

    assert "Undetermined" in {what.partition(":")[0] for what in found.breaks}


def test_a_lost_update_is_found_with_its_schedule(world: World) -> None:
    explorer = Explorer(world, {"rename": rename, "describe": describe}, ())

    found = explorer.pair("rename", "describe")

    what, schedule = next(iter(found.breaks.items()))
    assert what.startswith("in no order")
    assert Schedule.read(schedule) == Schedule(0, (1,))


def test_a_crash_after_which_a_second_try_does_more_is_found(world: World) -> None:
    found = Explorer(world, {"add": add}, ()).crashes("add")

    ((what, crash),) = found.breaks.items()
    assert what.startswith("not as undisturbed")
    assert crash == "0+"


def test_remembered_answers_are_those_that_the_engine_gives(explorer: Explorer) -> None:
    ledger = explorer.world.ledger
    ledger.remembers = False
    asked = explorer.pair("remove alert", "change alert")
    ledger.remembers = True

    remembered = [explorer.pair("remove alert", "change alert") for _ in range(2)]

    assert remembered == [asked, asked]
    ledger.bring_up_to_date()
    there = {(item["PK"], item["SK"]): item for item in ledger.raw.everything()}
    assert there == {place: unmarshal_item(item) for place, item in ledger.items.items()}


def test_actions_that_touch_nothing_in_common_are_tried_in_no_order(explorer: Explorer) -> None:
    assert explorer.pair("create brand", "sign out everywhere").runs == 0
