"""A model's patterns, drawn as in the lessons, and on request sent to the engine and compared with the rules.

A partition that a pattern reads is written into a scratch partition of this run, with at most ``MOST_ITEMS`` items; of
a write, the items before it. The scratch partition's longer keys and its items' end count for the comparison, and not
for the model. Writes are compared with this site's indexes, which copy all attributes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from features.modeller import requests
from features.modeller.design import NAMES, Index, Pattern, keys_of
from features.modeller.evaluation import Evaluation, Made, bytes_in, fill, keeps, literal, paid, weights, within
from features.textbook import costs, drawing, grammar, running
from features.textbook.drawing import LARGEST, Partition, Row
from features.textbook.lessons import Lesson, Step
from features.textbook.running import Done, Given, Reply
from shared.data import keys
from shared.dynamodb.attributes import marshal_item
from shared.dynamodb.capacity import Basis, Capacity, size_of, units_read
from shared.dynamodb.schema import GSI1, GSI2, GSI3, INDEX_KEYS, KEYS, PARTITION_KEY, SORT_KEY, TTL_ATTRIBUTE
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace

MOST_ITEMS, MOST_BYTES, MOST_DRAWN = 60, 120_000, 2_000
"""Items of all partitions of a run together, and their bytes; items of a partition that is drawn."""

MOST_UNITS = 100
"""Write units that a pattern's writes may take in a run, counted before they are sent."""

OURS = (GSI1.name, GSI2.name, GSI3.name)
"""The indexes that stand for those of a model where it writes."""

FIRST, LAST, COLUMNS = 4, 6, 3
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
class Written:
    """The writes of a pattern: the lesson that sends them, each item before and after its write, the model's units."""

    pattern: Pattern
    lesson: Lesson
    images: Sequence[tuple[Made | None, Made | None]]
    indexes: Sequence[str]
    units: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the engine answered: the units that it and the rules say, what differs, and the requests if any was sent."""

    pattern: Pattern
    says: str
    differences: Sequence[str] = ()
    sent: str = ""
    partition: Partition | None = None


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
    found = met.place.items[met.lie[0]]
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
    every = dict.fromkeys(name for item in shown for name in item)
    short = [name for name in every if now.model.spec(name)[:1] not in (["text"], ["list"])]
    keyed = {*NAMES.findall(met.place.pk + met.place.sk)}
    met_names = {name for at in read for name in shown[at]}
    columns = sorted(short, key=lambda name: (name not in asked_for, name not in met_names, name in keyed))
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
    index = each.pattern.index
    names = [name.replace(GSI1.name, index) if index else name for name in part.names]
    return replace(_brief(part, [*map(requests.stored, each.columns)]), index=index, names=names, key=each.partition)


def _brief(part: Partition, columns: Sequence[str]) -> Partition:
    """A drawing with some of these columns; of a long one, its beginning and its end."""
    places = [part.columns.index(name) for name in columns if name in part.columns][:COLUMNS]
    rows = [replace(row, cells=[row.cells[at] for at in places]) for row in part.rows]
    between = len(rows) - FIRST - LAST
    if between > 1:
        rows[FIRST:-LAST] = [Row(f"{between} more items", [""] * len(places), changed=False)]
    return replace(part, columns=[requests.shown(part.columns[at]) for at in places], rows=rows)


def written(now: Evaluation) -> list[Written]:
    """The writes of each pattern, on one item each."""
    return [_written(now, each) for each in now.model.patterns if each.writes]


def _written(now: Evaluation, pattern: Pattern) -> Written:
    entities = [now.model.entity(each.entity) for each in pattern.writes]
    used = dict.fromkeys(name for each in entities for name, _ in each.keys if name)
    ours = dict(zip(used, OURS, strict=False))
    places = {name for of in ("", *(each.name for each in now.model.indexes)) for name in keys_of(of)}
    images, requests_of = [], list[dict[str, Any]]()
    for at, change in enumerate(pattern.writes, 1):
        pair = now.images(change)
        named = next(f"{at} {each[PARTITION_KEY]} {each.get(SORT_KEY, '')}".strip() for each in pair if each)
        before, after = (each and _in_one_partition(each, named, ours, places) for each in pair)
        images.append((before, after))
        requests_of.append(_request(before, after))
    alone = [(kind.replace("ConditionCheck", "Update"), each[kind]) for each in requests_of for kind in each]
    steps = [Step(f"{kind}Item", arguments) for kind, arguments in alone]
    if pattern.operation == "Transaction":
        steps = [Step("TransactWriteItems", {"TransactItems": requests_of})]
    begun = [before for before, _ in images if before]
    lesson = Lesson("", pattern.name, "", "", "", items=begun, ours=steps)
    return Written(pattern, lesson, images, [*ours.values()], sum(now.written(pattern).values()))


def _in_one_partition(image: Made, named: str, ours: Mapping[str, str], keys_of_model: Collection[str]) -> Made:
    """An item as it is written into the run's partition, whose sort key has the item's whole key."""
    made: Made = {PARTITION_KEY: "{scratch}", SORT_KEY: named}
    for theirs, index in ours.items():
        pk, sk = keys_of(theirs)
        if pk in image:
            of_ours, sort = keys_of(index)
            made |= {of_ours: _home(image[pk]), sort: image.get(sk, requests.NO_SORT_KEY)}
    return made | {requests.stored(name): value for name, value in image.items() if name not in keys_of_model}


def _request(before: Made | None, after: Made | None) -> dict[str, dict[str, Any]]:
    """A write as a part of a transaction has it, by its kind. One that changes nothing is a check."""
    if before is None:
        return {"Put": {"Item": after}}
    key: dict[str, Any] = {"Key": {SORT_KEY: before[SORT_KEY]}}
    if after is None:
        return {"Delete": key}
    changed = [name for name, value in after.items() if before.get(name) != value]
    gone = [name for name in before if name not in after]
    if not changed and not gone:
        return {"ConditionCheck": {**key, "ConditionExpression": f"attribute_exists({PARTITION_KEY})"}}
    names = {f"#name{at}": name for at, name in enumerate([*changed, *gone])}
    set_to = ", ".join(f"#name{at} = :value{at}" for at in range(len(changed)))
    removed = ", ".join(f"#name{at}" for at in range(len(changed), len(names)))
    update = " ".join(clause for clause in (set_to and f"SET {set_to}", removed and f"REMOVE {removed}") if clause)
    values = {f":value{at}": after[name] for at, name in enumerate(changed)}
    made = {**key, "UpdateExpression": update, "ExpressionAttributeNames": names}
    return {"Update": made | ({"ExpressionAttributeValues": values} if values else {})}


def run(
    table: Table, parts: Sequence[Prepared | Written], visitor: str, run_id: str, now: datetime, trace: Trace
) -> list[Outcome]:
    """Send each pattern's requests to a scratch partition of its own, and compare the answers with the rules.

    Raises Busy.
    """
    outcomes = []
    for at, each in enumerate(parts):
        if not is_sent(each, now):
            most = f"{units_of(each, now):,} write units here, and the most is {MOST_UNITS}"
            outcomes.append(Outcome(each.pattern, f"Not sent: it could take {most}."))
            continue
        if why := _refused(each, running.names(each.lesson, "", keys.scratch(visitor, f"{run_id}-{at}-b"), now)):
            outcomes.append(Outcome(each.pattern, f"Not sent: DynamoDB refuses an item that is there before. {why}"))
            continue
        made = running.run(table, each.lesson, "", visitor, f"{run_id}-{at}", now, trace, typed=True)
        outcomes.append(_compared(each, made, now) if isinstance(each, Prepared) else _compared_writes(each, made, now))
    return outcomes


def _refused(each: Prepared | Written, given: Given) -> str:
    """The message with which DynamoDB refuses an item that a run begins with, or nothing."""
    for item in running.filled_items(each.lesson, given):
        if why := grammar.refusal("PutItem", {"Item": item}):
            return why
        if size_of(marshal_item(item)) > LARGEST:
            return "Item size has exceeded the maximum allowed size"
    return ""


def is_sent(each: Prepared | Written, now: datetime) -> bool:
    """Whether a run sends a pattern: writes only if they are small."""
    return isinstance(each, Prepared) or units_of(each, now) <= MOST_UNITS


def units_of(each: Prepared | Written, now: datetime) -> int:
    """The most write units that running a pattern may take."""
    return costs.of_run(each.lesson, running.names(each.lesson, "", keys.scratch("you", "run"), now))


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
    if "ProjectionExpression" in done.arguments and len(each.kept) == len(done.reply.items):  # it may lack the keys
        done = replace(done, reply=replace(done.reply, items=[items[at] for at in each.kept]))
    sent = running.as_sent(done.step, done.arguments).replace(done.scratch, "{scratch}")
    drawn = _drawn(each, done, {**given, "scratch": done.scratch})
    says = f"{_by_rules(each.units, expected, 'RRU')} The engine says {taken or 'nothing'}."
    return Outcome(each.pattern, says, differences, sent, drawn)


def _changes(each: Written, name: str) -> bool:
    return any(before and after and before.get(name) != after.get(name) for before, after in each.images)


def _by_rules(units: float, here: float, unit: str) -> str:
    also = f", and {here:g} with the longer keys and the indexes of this table" if here != units else ""
    return f"By the rules {units:g} {unit}{also}."


def _filled(image: Made, given: Given) -> Made:
    """An item as it lies in the run's partition, with its end."""
    filled: Made = running.fill(image, given)
    return {**filled, TTL_ATTRIBUTE: given["expires"]}


def _compared_writes(each: Written, made: running.Run, now: datetime) -> Outcome:
    given = running.names(each.lesson, "", made.ours[0].scratch, now)
    doubled = 2 if each.pattern.operation == "Transaction" else 1
    expected, lie = 0, dict[str, Any]()
    for pair in each.images:
        before, after = (image and _filled(image, given) for image in pair)
        lie |= {str(after[SORT_KEY]): after} if after else {}
        for index in ("", *each.indexes):
            expected += sum(units for _, units in paid(Index(index), before, after)) * (1 if index else doubled)
    taken = sum((done.took.capacity for done in made.ours if done.took and done.took.capacity), Capacity())
    differences = [done.reply.message for done in made.ours if done.reply.code]
    if not differences and taken.write != expected:
        differences.append(f"By the rules it takes {expected:g} units here; the engine says {taken}.")
    if not differences and {item[SORT_KEY]: item for item in made.ours_left} != lie:
        differences.append("Afterwards other items lie there than the rules say.")
    sent = "\n\n".join(running.as_sent(done.step, done.arguments) for done in made.ours)
    number = "1 request" if len(made.ours) == 1 else f"{len(made.ours)} requests"
    says = f"{_by_rules(each.units, expected, 'WRU')} The engine says {taken} for {number}."
    partition = next(iter(drawing.partitions(each.lesson, given, made)), None) if made.ours_left else None
    if partition:
        own = [name for name in partition.columns if name not in INDEX_KEYS]
        columns = sorted(own, key=lambda name: not _changes(each, name))
        partition = replace(_brief(partition, columns), key="{scratch}")
    return Outcome(each.pattern, says, differences, sent.replace(str(given["scratch"]), "{scratch}"), partition)
