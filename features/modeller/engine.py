"""A model's patterns, drawn, and on request sent to the engine and compared with the rules.

A partition that a pattern reads is written into a scratch partition of this run, with at most ``MOST_ITEMS`` items; of
a write, the items before it. The scratch partition's longer keys and its items' end count for the comparison, and not
for the model. Writes are compared with this site's indexes, which copy all attributes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import Any

from features.modeller import requests
from features.modeller.design import NAMES, Index, Pattern, keys_of
from features.modeller.evaluation import EXACT, Evaluation, Made, bytes_in, fill, keeps, literal, weights, within
from features.scratch import costs, drawing, grammar, running
from features.scratch.drawing import Partition, Row
from features.scratch.limits import LARGEST
from features.scratch.running import Given
from features.scratch.steps import Script, Step
from shared.data import keys
from shared.dynamodb.attributes import marshal_item
from shared.dynamodb.capacity import Basis, Capacity, size_of, units_read, units_written
from shared.dynamodb.schema import GSI1, GSI2, GSI3, KEYS, PARTITION_KEY, SORT_KEY, TTL_ATTRIBUTE
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace

MOST_ITEMS, MOST_BYTES, MOST_DRAWN = 60, 120_000, 2_000
"""Items of all partitions of a run together, and their bytes; items of a partition that is drawn."""

MOST_UNITS = 100
"""Write units that a pattern's writes may take in a run, counted before they are sent."""

WHOLE = Index("")
NOTHING = Script()
OURS = (GSI1.name, GSI2.name, GSI3.name)
"""The indexes that stand for those of a model where it writes."""

FIRST, LAST, COLUMNS = 4, 6, 3
"""Rows of a partition that are drawn of its beginning and its end, and attributes."""


@dataclass(frozen=True, slots=True)
class Part:
    """What is drawn or sent of a pattern, and the model's units. A read has a partition (its key, its size in items and
    bytes) with ``items`` of it, and the places of those that the rules read and keep; a write has the items' ``images``
    before and after it. A run sends the ``script`` with the values ``given``, which writes ``most`` units at most, or
    says ``why`` it doesn't."""

    pattern: Pattern
    units: float = 0.0
    columns: Sequence[str] = ()
    images: Sequence[tuple[Made | None, Made | None]] = ()
    key: str = "{scratch}"
    size: int = 0
    held: int = 0
    items: Sequence[Made] = ()
    read: Sequence[int] = ()
    kept: Sequence[int] = ()
    script: Script = NOTHING
    given: Given = field(default_factory=dict)
    most: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the engine answered: the units that it and the rules say, what differs, and the requests if any was sent."""

    pattern: Pattern
    says: str
    differences: Sequence[str] = ()
    sent: str = ""
    partition: Partition | None = None


def drawn(now: Evaluation) -> list[tuple[Part, Partition]]:
    """The partition of each read that a key answers, as the rules say that it is read. Nothing is sent."""
    reads = [each for each in now.model.patterns if _is_read(now, each)]
    parts = [_read(now, each, MOST_DRAWN, MOST_BYTES * MOST_DRAWN) for each in reads]
    return [(each, _lying(each, each.items, each.read, each.kept)) for each in parts]


def planned(now: Evaluation, visitor: str, run_id: str, when: datetime) -> list[Part]:
    """What a run sends of each pattern, or why it doesn't."""
    reads, made = max(sum(_is_read(now, each) for each in now.model.patterns), 1), []
    for at, pattern in enumerate(now.model.patterns):
        part = _part(now, pattern, reads)
        given = running.names(part.script, "", keys.scratch(visitor, f"{run_id}-{at}-b"), when)
        units, why = costs.of_run(part.script, given), part.why or _refused(part, given)
        if part.images and units > MOST_UNITS:
            why = f"it could take {units:,} write units here, and the most is {MOST_UNITS}."
        made.append(replace(part, given=given, most=units, why=why))
    return made


def _part(now: Evaluation, pattern: Pattern, reads: int) -> Part:
    """A pattern as one of ``reads`` in a run."""
    if not all(now.model.entity(each.entity).keys for each in pattern.writes):
        return Part(pattern, why="an entity that it writes has no key that can be used.")
    if pattern.writes:
        return _written(now, pattern)
    if _is_read(now, pattern):
        return _asked(now, _read(now, pattern, max(MOST_ITEMS // reads, 3), MOST_BYTES // reads))
    if pattern.operation != "Scan" and now.answered(pattern):
        return Part(pattern, why="no generated item lies there.")
    return Part(pattern, why="it reads the whole table, where others have items.")


def _is_read(now: Evaluation, pattern: Pattern) -> bool:
    """Whether a pattern reads a partition."""
    return pattern.reads and pattern.operation != "Scan" and any(each.lie for each in now.met(pattern))


def _read(now: Evaluation, pattern: Pattern, most: int, most_bytes: int) -> Part:
    """The partition of the first item that a pattern finds: all of it, or its items around those that are read."""
    met = next(each for each in now.met(pattern) if each.lie)
    found = met.place.items[met.lie[0 if met.sk[:1] in ((), *EXACT) else len(met.lie) // 2]]  # a range has two sides
    row, names = now.model.index(pattern.index), keys_of(pattern.index)
    asked = replace(pattern, sk=tuple(fill(each, found) if at else each for at, each in enumerate(met.sk)))
    low, high, _ = within(asked.sk)
    alike = [each for each in chain(*now.sample.items.values()) if each.get(names[0]) == found[names[0]]]
    lie = sorted(
        {(str(each[PARTITION_KEY]), str(each.get(SORT_KEY))): each for each in (*alike, found)}.values(),
        key=lambda item: (str(item.get(names[1], "")), str(item[PARTITION_KEY]), str(item.get(SORT_KEY, ""))),
    )
    sizes = [bytes_in(row, weights(item)) for item in lie]
    matching = [at for at, item in enumerate(lie) if low <= str(item.get(names[1], "")) <= high]
    first = next((at for at in matching if keeps(pattern, lie[at])), [*matching, 0][0])  # what comes back is written
    begin = end = max(min(first - 1, len(lie) - most), 0)
    while end < min(begin + most, len(lie)) and (end == begin or sum(sizes[begin : end + 1]) <= most_bytes):
        end += 1
    read = [at - begin for at in matching if begin <= at < end][
        : 1 if pattern.operation == "Get" else pattern.limit or None
    ]
    items = lie[begin:end]
    return Part(
        pattern=asked, key=str(found[names[0]]), size=len(lie), held=sum(sizes), items=items, read=read,
        kept=[at for at in read if keeps(pattern, items[at])],
        units=units_read(sum(sizes[begin + at] for at in read), consistent=pattern.consistent),
        columns=_columns(now, pattern, NAMES.findall(met.place.pk + met.place.sk), items, read),
    )  # fmt: skip


def _asked(now: Evaluation, part: Part) -> Part:
    """A read with what a run sends: its items in the scratch partition, and its request."""
    asked, ours, first = part.pattern, {part.pattern.index: GSI1.name} if part.pattern.index else {}, part.items[0]
    arguments = requests.arguments(asked, lambda _: _home(part.key), lambda text: fill(literal(text), first))
    places, row = now.model.key_names, now.model.index(asked.index)
    items = [_stored(each, _home(each[PARTITION_KEY]), each.get(SORT_KEY), ours, places, row) for each in part.items]
    step = Step(requests.operation(asked), arguments, finds=len(part.kept))
    return replace(part, script=Script(items=items, ours=[step]))


def _columns(
    now: Evaluation, pattern: Pattern, keyed: Sequence[str], items: Sequence[Made], read: Sequence[int]
) -> list[str]:
    """The short attributes of items: those of the filter come first, then those of what is read, those of keys last."""
    asked_for, met = {name for name, _, _ in pattern.terms}, {name for at in read for name in items[at]}
    copied, hidden = now.model.index(pattern.index).copies, now.model.key_names
    every = [name for name in dict.fromkeys(chain.from_iterable(items)) if name not in hidden]
    long = (["text"], ["list"])
    short = [name for name in every if (copied is None or name in copied) and now.model.spec(name)[:1] not in long]
    return sorted(short, key=lambda name: (name not in asked_for, name in keyed, name not in met))[:COLUMNS]


def _home(partition: object) -> str:
    """A partition's key in the scratch partition."""
    return f"{{scratch}}:{partition}"


def _stored(
    item: Made, pk: str, sk: object, ours: Mapping[str, str], places: Collection[str], row: Index = WHOLE
) -> dict[str, Any]:
    """An item as it is written into the scratch table: with its key there, those of ``ours`` (its indexes in the site's
    table, by their names in the model), and what the model's index copies."""
    stored = {PARTITION_KEY: pk, SORT_KEY: sk or requests.NO_SORT_KEY}
    for theirs, index in ours.items():
        names, (of_ours, sort) = keys_of(theirs), keys_of(index)
        if names[0] in item:
            stored |= {of_ours: _home(item[names[0]]), sort: item.get(names[1], requests.NO_SORT_KEY)}
    own = {name: value for name, value in item.items() if name not in places}
    copied = own if row.copies is None else {name: own[name] for name in own if name in row.copies}
    return stored | {requests.stored(name): value for name, value in copied.items()}


def _lying(
    part: Part, items: Sequence[Mapping[str, Any]], touched: Collection[int], kept: Sequence[int] = ()
) -> Partition:
    """A partition as it is drawn: of a long one, its beginning and its end. ``touched`` are the places of the
    items that were read or written, ``kept`` of those that came back."""
    names, place = keys_of(part.pattern.index), {at: number for number, at in enumerate(kept, 1)}
    rows = [
        Row(
            str(item.get(names[1], requests.NO_SORT_KEY)),
            [drawing.text_of(item.get(name)) for name in part.columns],
            at in touched,
            {"here": (at in touched, place.get(at, 0))},
        )
        for at, item in enumerate(items)
        if at < FIRST or at >= len(items) - LAST or len(items) == FIRST + LAST + 1
    ]
    if len(items) > len(rows):
        rows[FIRST:FIRST] = [Row(f"{len(items) - len(rows)} more items", [""] * len(part.columns), changed=False)]
    return Partition(part.pattern.index, names, part.key, part.columns, rows)


def _written(now: Evaluation, pattern: Pattern) -> Part:
    """The writes of a pattern, on one item each. All lie in one partition, with their whole keys as sort keys."""
    entities = [now.model.entity(each.entity) for each in pattern.writes]
    used = dict.fromkeys(name for each in entities for name, _ in each.keys if name)
    ours, places = dict(zip(used, OURS, strict=False)), now.model.key_names
    images, parts = [], list[dict[str, Any]]()
    for at, change in enumerate(pattern.writes, 1):
        pair = now.images(change)
        named = next(f"{at} {each[PARTITION_KEY]} {each.get(SORT_KEY, '')}".strip() for each in pair if each)
        before, after = (each and _stored(each, "{scratch}", named, ours, places) for each in pair)
        images.append((before, after))
        parts.append(_request(before, after))
    alone = [(kind.replace("ConditionCheck", "Update"), each[kind]) for each in parts for kind in each]
    steps = [Step(f"{kind}Item", arguments) for kind, arguments in alone]
    if pattern.operation == "Transaction":
        steps = [Step("TransactWriteItems", {"TransactItems": parts})]
    begun = [before for before, _ in images if before]
    script = Script(items=begun, ours=steps)
    names = dict.fromkeys(name for pair in images for image in pair for name in image or () if name not in KEYS)
    changed = {
        name for before, after in images if before and after for name in names if before.get(name) != after.get(name)
    }
    columns = sorted(names, key=lambda name: name not in changed)[:COLUMNS]
    return Part(pattern, sum(now.writes(pattern)), columns, images, script=script)


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


def _refused(part: Part, given: Given) -> str:
    """Why DynamoDB refuses an item that a run begins with, or nothing."""
    for item in running.filled_items(part.script, given):
        why = grammar.refusal("PutItem", {"Item": item})
        if size_of(marshal_item(item)) > LARGEST:
            why = "Item size has exceeded the maximum allowed size"
        if why:
            return f"DynamoDB refuses an item that is there before. {why}"
    return ""


def run(table: Table, plan: Sequence[Part], visitor: str, run_id: str, when: datetime, trace: Trace) -> list[Outcome]:
    """Send each pattern's requests to a scratch partition of its own, and compare the answers with the rules.

    Raises Busy.
    """
    outcomes = []
    for at, each in enumerate(plan):
        if each.why:
            outcomes.append(Outcome(each.pattern, f"Not sent: {each.why}"))
            continue
        made = running.run(table, each.script, "", visitor, f"{run_id}-{at}", when, trace, typed=True)
        outcomes.append(_compared(each, made))
    return outcomes


def _compared(part: Part, made: running.Run) -> Outcome:
    """What the engine answered, and how it differs from the rules."""
    begun = [*running.filled_items(part.script, part.given)]
    expected, differences, partition = (_changes if part.images else _answers)(part, made, begun)
    taken = sum((done.took.capacity for done in made.ours if done.took and done.took.capacity), Capacity())
    if taken.basis is not Basis.AT_LEAST and (taken.write if part.images else taken.read) != expected:
        differences.append(f"By the rules it takes {expected:g} units here; the engine says {taken}.")
    here = f", and {expected:g} with the longer keys and the indexes of this table" if expected != part.units else ""
    number = f" for {len(made.ours)} request{'s' if len(made.ours) > 1 else ''}" if part.images else ""
    says = f"By the rules {part.units:g} {'WRU' if part.images else 'RRU'}{here}. The engine says {taken}{number}."
    sent = "\n\n".join(running.as_sent(done.step, done.arguments) for done in made.ours)
    refused = [done.reply.message for done in made.ours if done.reply.code]
    plain = sent.replace(str(part.given["scratch"]), "{scratch}")
    return Outcome(part.pattern, says, refused or differences, plain, partition)


Compared = tuple[float, list[str], Partition | None]
"""The units that the rules say, how items differ from theirs, and the partition as it lies."""


def _answers(part: Part, made: running.Run, begun: Sequence[Mapping[str, Any]]) -> Compared:
    """The items that a read reads and returns."""
    done = made.ours[0]
    places = {(item[PARTITION_KEY], item[SORT_KEY]): at for at, item in enumerate(begun)}
    read, came = (
        [places[key] for item in items if (key := (item.get(PARTITION_KEY), item.get(SORT_KEY))) in places]
        for items in (done.read, done.reply.items)
    )
    kept = part.kept if "ProjectionExpression" in done.arguments else came  # an answer may lack the keys
    differences = [
        f"By the rules, {len(rules)} items are {what}; by the engine, {len(engine)}."
        for what, rules, engine in (("read", part.read, done.read), ("returned", part.kept, done.reply.items))
        if len(rules) != len(engine)
    ]
    size = sum(size_of(marshal_item(begun[at])) for at in part.read)
    units = units_read(size, consistent=part.pattern.consistent)
    return units, differences, _lying(part, part.items, read, kept)


def _changes(part: Part, made: running.Run, begun: Sequence[Mapping[str, Any]]) -> Compared:
    """The items that writes leave."""
    units, lie = 0.0, dict[str, Any]()
    for pair in part.images:
        before, after = (
            image and {**running.fill(image, part.given), TTL_ATTRIBUTE: part.given["expires"]} for image in pair
        )
        lie |= {str(after[SORT_KEY]): after} if after else {}
        wire = (image and marshal_item(image) for image in (before, after))
        units += sum(units_written(*wire, transactional=part.pattern.operation == "Transaction").values())
    differs = {item[SORT_KEY]: item for item in made.ours_left} != lie
    changed = [at for at, item in enumerate(made.ours_left) if item not in begun]
    left = [{requests.shown(name): value for name, value in item.items()} for item in made.ours_left]
    differences = ["Afterwards other items lie there than the rules say."] if differs else []
    return units, differences, _lying(part, left, changed) if left else None
