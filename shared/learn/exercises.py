"""Exercises: a broken request or key that a reader mends, run as lessons are and checked by what comes back.

A file of ``exercises/`` has those after the group of lessons of the same name. Each has a request or the template of a
key as it is given (``broken``), one that solves it and a wrong one; a test runs all three.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import INDEXES, SORT_KEY, key_names
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from shared.errors import NoSuchPath
from shared.learn import running, typed
from shared.learn.lessons import GROUPS, Lesson, Step, step_of
from shared.learn.running import Done

FOLDER = Path(__file__).with_name("exercises")
PREFIX = "exercise-"
"""What the names of exercises begin with in addresses and in the cookie of what is done."""


@dataclass(frozen=True, slots=True)
class Check:
    """What must come back.

    ``finds`` are the values of the attribute ``by`` (without one: of the sort key) of the items that were read, in
    their order. ``refused`` has a code for each time that the request is sent, empty where it is answered. ``units``
    are the most read units. ``left`` are items that must lie in the partition afterwards, with these attributes.
    """

    finds: Sequence[Any] = ()
    by: str = ""
    refused: Sequence[str] = ()
    units: float = 0
    left: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class Exercise:
    """One exercise. ``key`` is the key attribute that a template makes for each item; without it, a request is mended.

    The request is sent once for each of ``sends``, whose values it may name in braces, between the requests
    ``before`` and ``after`` it.
    """

    slug: str
    title: str
    task: str
    group: str
    broken: str
    wrong: str
    solution: str
    hints: Sequence[str]
    because: str
    check: Check
    items: Sequence[Mapping[str, Any]] = ()
    key: str = ""
    sends: Sequence[Mapping[str, Any]] = field(default_factory=lambda: [{}])
    before: Sequence[Step] = ()
    after: Sequence[Step] = ()

    @property
    def paragraphs(self) -> list[str]:
        return [part.replace("\n", " ").strip() for part in self.task.strip().split("\n\n")]


@dataclass(frozen=True, slots=True)
class Found:
    """One thing that was checked: what was wanted, what came, and whether that is the same."""

    wanted: str
    came: str
    right: bool


@cache
def of_groups() -> Mapping[str, Sequence[Exercise]]:
    """The exercises after each group of lessons that has some."""
    files = [(group, FOLDER / f"{group}.toml") for group in GROUPS]
    return {
        group: [_exercise(group, each) for each in tomllib.loads(file.read_text(encoding="utf-8"))["exercise"]]
        for group, file in files
        if file.exists()
    }


@cache
def by_slug() -> Mapping[str, Exercise]:
    return {each.slug: each for exercises in of_groups().values() for each in exercises}


def find(slug: str) -> Exercise:
    """An exercise by its name in the address. Raises NoSuchPath."""
    if slug not in by_slug():
        raise NoSuchPath
    return by_slug()[slug]


def lesson_of(exercise: Exercise, text: str) -> Lesson:
    """What a reader typed as a lesson, whose requests are sent and drawn as any others. Raises Unusable."""
    items, requests = exercise.items, []
    if exercise.key:
        items = typed.keys_of(exercise.items, exercise.key, text)
    else:
        finds = len(exercise.check.finds)
        requests = [Step(*typed.request_of(text, send), finds=finds) for send in exercise.sends]
    return Lesson(
        PREFIX + exercise.slug, exercise.title, exercise.title, exercise.task, exercise.group,
        items=items, ours=[*exercise.before, *requests, *exercise.after],
    )  # fmt: skip


def run(
    table: Table, exercise: Exercise, lesson: Lesson, visitor: str, run_id: str, now: datetime, trace: Trace
) -> tuple[running.Run, list[Found]]:
    """Run what was typed (``lesson_of``) in a scratch partition, and check what came back. Raises Busy."""
    made = running.run(table, lesson, "", visitor, run_id, now, trace, typed=True)
    return made, [*_checked(exercise, made)]


def _exercise(group: str, read: Mapping[str, Any]) -> Exercise:
    known = {each.name for each in fields(Exercise)}
    steps = {name: [step_of(each) for each in read.get(name, ())] for name in ("before", "after")}
    texts = {name: read[name].strip() for name in ("broken", "wrong", "solution")}
    slug = {"slug": PREFIX + read["slug"], "group": group, "check": Check(**read["check"])}
    rest = {name: value for name, value in read.items() if name in known}
    return Exercise(**{**rest, **texts, **steps, **slug})


def _checked(exercise: Exercise, made: running.Run) -> Iterator[Found]:
    check, done = exercise.check, made.ours
    at = len(exercise.before)
    own = done[at : len(done) - len(exercise.after)]
    if own:
        wanted = [*(check.refused or [""] * len(own))]
        came = [each.reply.code for each in own]
        yield Found(_outcomes(wanted), _outcomes(came), wanted == came)
    if check.finds:
        reads = done[-len(exercise.after) :] if exercise.after else own
        found = [item.get(check.by or _sort_key(each)) for each in reads for item in each.reply.items]
        yield Found(f"Comes back: {_listed(check.finds)}", _listed(found), found == [*check.finds])
    if check.units:
        units = sum(each.took.capacity.read for each in own if each.took and each.took.capacity)
        yield Found(f"Takes {check.units:g} RRU at most", f"{units:g} RRU", 0 < units <= check.units)
    for item in check.left:
        wanted_item = running.fill(item, {})
        lies: Item = next((each for each in made.ours_left if each[SORT_KEY] == item[SORT_KEY]), {})
        shown = {name: lies[name] for name in wanted_item if name in lies}
        yield Found(
            f"Afterwards: {_described(wanted_item)}",
            _described(shown) if lies else "no such item",
            shown == wanted_item,
        )


def _sort_key(done: Done) -> str:
    index = next((each for each in INDEXES if each.name == done.arguments.get("IndexName")), None)
    return key_names(index)[1] or SORT_KEY


def _outcomes(codes: Sequence[str]) -> str:
    """Codes of refusals in words, an empty one as an answer."""
    words = [f"refused with {code}" if code else "answered" for code in codes]
    return f"The request is {', then '.join(words)}"


def _listed(values: Sequence[Any]) -> str:
    return ", ".join(map(str, values[:12])) + (f", … {len(values)} in all" if len(values) > 12 else "") or "nothing"


def _described(item: Mapping[str, Any]) -> str:
    """Attributes of an item with their values, a set in braces and a text in quotation marks."""
    return ", ".join(
        f"{name} = {{{', '.join(sorted(each))}}}" if isinstance(each, set) else f"{name} = {json.dumps(each)}"
        for name, each in item.items()
    )
