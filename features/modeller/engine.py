"""A model's reads, drawn as in the lessons, and on request sent to the engine and compared with the rules.

A partition that a pattern reads is written into a scratch partition of this run, with at most ``MOST_ITEMS`` items. The
scratch partition's longer keys and its items' end count for the comparison, and not for the model.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from features.modeller import requests
from features.modeller.design import Index, Pattern, keys_of
from features.modeller.evaluation import Evaluation, Made, bytes_in, fill, keeps, literal, weights, within
from features.textbook import drawing, running
from features.textbook.drawing import LARGEST, Partition, Row
from features.textbook.lessons import Lesson, Step
from features.textbook.running import Done, Given, Reply
from shared.data import keys
from shared.dynamodb.attributes import marshal_item
from shared.dynamodb.capacity import Basis, size_of, units_read
from shared.dynamodb.schema import GSI1, KEYS, PARTITION_KEY, SORT_KEY
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace

MOST_ITEMS, MOST_BYTES, MOST_DRAWN = 60, 120_000, 2_000
"""Items of all partitions of a run together, and their bytes; items of a partition that is drawn."""

FIRST, LAST, COLUMNS = 4, 6, 5
"""Rows of a partition that are drawn of its beginning and its end, and attributes."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A partition that a pattern reads: the lesson that writes and asks it, and which of its items the rules read."""

    pattern: Pattern
    lesson: Lesson
    partition: str
    size: int
    held: int
    heaviest: int
    columns: Sequence[str]
    read: Sequence[int]
    kept: Sequence[int]
    units: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the engine answered: the request as sent, the units that it and the rules say, and what differs."""

    pattern: Pattern
    sent: str
    units: str
    reported: str
    differences: Sequence[str]
    partition: Partition | None


def prepared(now: Evaluation, *, runs: bool) -> list[Prepared]:
    """A partition for each read that a key answers: all of it, or what a run writes of it."""
    reads = [each for each in now.model.patterns if each.reads and each.operation != "Scan" and now.answered(each)]
    if not runs:
        return [_prepared(now, each, MOST_DRAWN, MOST_BYTES * MOST_DRAWN) for each in reads]
    most = max(MOST_ITEMS // max(len(reads), 1), 3)
    made = [_prepared(now, each, most, MOST_BYTES // len(reads)) for each in reads]
    return [each for each in made if each.heaviest <= LARGEST]  # no table takes others, and a finding says so


def _prepared(now: Evaluation, pattern: Pattern, most: int, most_bytes: int) -> Prepared:
    """The partition of the first item that a pattern finds: all of it, or its items around those that are read."""
    met = next(each for each in now.met(pattern) if each.lie)
    found = now.sample.items[met.place.items[met.lie[0]]]
    names = keys_of(pattern.index)
    asked = replace(pattern, sk=tuple(fill(literal(each), found) if at else each for at, each in enumerate(pattern.sk)))
    low, high, _ = within(asked.sk)
    alike = [each for each in now.sample.items if each.get(names[0]) == found[names[0]]]
    lie = sorted(
        {(str(each[PARTITION_KEY]), str(each.get(SORT_KEY))): each for each in alike}.values(),
        key=lambda item: (str(item.get(names[1], "")), str(item[PARTITION_KEY]), str(item.get(SORT_KEY, ""))),
    )
    matching = [at for at, item in enumerate(lie) if low <= str(item.get(names[1], "")) <= high]
    first = next((at for at in matching if keeps(pattern, lie[at])), matching[0])  # what comes back is written
    begin = max(min(first - 1, len(lie) - most), 0)
    row, shown, size = now.model.index(pattern.index), list[Made](), 0
    for item in lie[begin : begin + most]:
        size += bytes_in(row, weights(item))
        if shown and size > most_bytes:
            break
        shown.append(item)
    read = [at - begin for at in matching if 0 <= at - begin < len(shown)]
    read = read[: 1 if pattern.operation == "Get" else pattern.limit or None]
    kept = [at for at in read if keeps(pattern, shown[at])]
    bytes_read = sum(bytes_in(row, weights(shown[at])) for at in read)
    arguments = requests.arguments(asked, lambda _: _home(found[names[0]]), lambda text: fill(literal(text), found))
    step = Step(requests.operation(pattern), arguments, finds=len(kept))
    places = {name for of in ("", *(each.name for each in now.model.indexes)) for name in keys_of(of)}
    heaviest = max(bytes_in(Index(""), weights(each)) for each in shown)
    items = [_item(each, row, places) for each in shown]
    lesson = Lesson("", pattern.name, "", "", "", items=items, ours=[step])
    units = units_read(bytes_read, consistent=pattern.consistent)
    held = sum(bytes_in(row, weights(item)) for item in lie)
    asked_for = {name for name, _, _ in pattern.terms}
    short = [name for item in shown for name in item if now.model.spec(name)[:1] not in (["text"], ["list"])]
    columns = sorted(dict.fromkeys(short), key=lambda name: name not in asked_for)
    return Prepared(pattern, lesson, str(found[names[0]]), len(lie), held, heaviest, columns, read, kept, units)


def _home(partition: object) -> str:
    """A partition's key in the scratch partition."""
    return f"{{scratch}}:{partition}"


def _item(item: Made, row: Index, keys_of_model: Collection[str]) -> dict[str, Any]:
    """An item as it is written into the scratch table: with the keys that the pattern reads, and what they copy."""
    index, own = row.name, {name: value for name, value in item.items() if name not in keys_of_model}
    if row.copies is not None:
        own = {name: value for name, value in own.items() if name in row.copies}
    places = {PARTITION_KEY: _home(item[PARTITION_KEY]), SORT_KEY: item.get(SORT_KEY, requests.NO_SORT_KEY)}
    if index:
        (pk, sk), (of_ours, sort) = keys_of(index), keys_of(GSI1.name)
        places |= {of_ours: _home(item[pk]), sort: item.get(sk, requests.NO_SORT_KEY)}
    return {**places, **{requests.stored(name): value for name, value in own.items()}}


def by_rules(each: Prepared, now: datetime) -> Partition | None:
    """A partition as the rules say it is read: nothing is sent."""
    given = running.names(each.lesson, "", keys.scratch("you", "run"), now)
    drawn = {*map(requests.stored, each.columns[:COLUMNS]), *KEYS}
    brief = [{name: value for name, value in item.items() if name in drawn} for item in each.lesson.items]
    each = replace(each, lesson=replace(each.lesson, items=brief))
    items = [*running.filled_items(each.lesson, given)]
    reply = Reply([items[at] for at in each.kept], len(each.read))
    done = Done(each.lesson.ours[0], {}, reply, None, [items[at] for at in each.read], str(given["scratch"]))
    return _drawn(each, done, given)


def _drawn(each: Prepared, done: Done, given: Given) -> Partition | None:
    """The lessons' drawing of a partition; of a long one, its beginning and its end."""
    asked = {"ExpressionAttributeValues": {":partition": _home(each.partition)}}
    step = Step("Query", asked | ({"IndexName": GSI1.name} if each.pattern.index else {}))
    lesson = replace(each.lesson, ours=[step])
    arguments = running.arguments_of(step, given)
    made = running.Run((), [replace(done, step=step, arguments=arguments)])
    part = next(iter(drawing.partitions(lesson, given, made)), None)
    if part is None:
        return None
    rows = [*part.rows]
    stored = map(requests.stored, each.columns)
    places = [part.columns.index(name) for name in stored if name in part.columns][:COLUMNS]
    for row in rows:
        row.cells = [row.cells[at] for at in places]
    between = len(rows) - FIRST - LAST
    if between > 1:
        rows[FIRST:-LAST] = [Row(f"{between} more items", [""] * len(places), changed=False)]
    index = each.pattern.index
    names = [name.replace(GSI1.name, index) if index else name for name in part.names]
    return replace(
        part,
        index=index,
        names=names,
        key=each.partition,
        columns=[requests.shown(part.columns[at]) for at in places],
        rows=rows,
    )


def run(
    table: Table, parts: Sequence[Prepared], visitor: str, run_id: str, now: datetime, trace: Trace
) -> list[Outcome]:
    """Send each read to a scratch partition of its own, and compare the answers with the rules. Raises Busy."""
    return [
        _compared(each, running.run(table, each.lesson, "", visitor, f"{run_id}-{at}", now, trace, typed=True), now)
        for at, each in enumerate(parts)
    ]


def _compared(each: Prepared, made: running.Run, now: datetime) -> Outcome:
    done = made.ours[0]
    given = running.names(each.lesson, "", done.scratch, now)
    items = [*running.filled_items(each.lesson, given)]
    size = sum(size_of(marshal_item(items[at])) for at in each.read)
    expected = units_read(size, consistent=each.pattern.consistent)
    taken = done.took.capacity if done.took else None
    differences = [done.reply.message] if done.reply.code else []
    for what, rules, engine in (("read", each.read, done.read), ("returned", each.kept, done.reply.items)):
        if len(rules) != len(engine) and not done.reply.code:
            differences.append(f"By the rules, {len(rules)} items are {what}; by the engine, {len(engine)}.")
    if taken and taken.basis is not Basis.AT_LEAST and taken.read != expected and not done.reply.code:
        differences.append(f"By the rules it takes {expected:g} units with these longer keys; the engine says {taken}.")
    sent = running.as_sent(done.step, done.arguments).replace(done.scratch, "{scratch}")
    drawn = _drawn(each, done, {**given, "scratch": done.scratch})
    return Outcome(each.pattern, sent, f"{each.units:g} RRU", str(taken or "unknown"), differences, drawn)
