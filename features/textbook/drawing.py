"""A lesson as its page draws it: its partitions, what requests read of them, how two requests differ, and its figures.

A figure is what some lessons have beside their requests: sizes byte by byte, a calculator of units, partitions under
load. Each is arithmetic of the server's, of a form that is sent with GET, so it needs no script.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any

from features.textbook import running
from features.textbook.lessons import Lesson, Step, recorded
from features.textbook.running import Done, Given
from shared.dynamodb.attributes import Item, marshal_item
from shared.dynamodb.capacity import TABLE, Capacity, size_of, units_read, units_written
from shared.dynamodb.schema import INDEX_KEYS, INDEXES, PARTITION_KEY, SORT_KEY, TTL_ATTRIBUTE, key_names

LONGEST = 32
"""Characters of a value that are drawn."""


@dataclass(slots=True)
class Row:
    """An item: its sort key, and its values by column. ``marks`` are those of each version: read, and its place."""

    sort_key: str
    cells: Sequence[str]
    changed: bool
    marks: dict[str, tuple[bool, int]] = field(default_factory=lambda: {"often": (False, 0), "here": (False, 0)})


@dataclass(frozen=True, slots=True)
class Partition:
    """One partition of the table or an index, after the requests of ``version`` where these write."""

    index: str
    names: Sequence[str]
    key: str
    columns: Sequence[str]
    rows: Sequence[Row]
    version: str = ""


def partitions(lesson: Lesson, given: Given, run: running.Run | None) -> list[Partition]:
    """The partitions that a lesson's requests name, before its run or after it; a live one's are known after it.

    Requests that only read are marked in one drawing. Where a version writes, each version has drawings of its own.
    """
    begun = [*running.filled_items(lesson, given)]
    versions = [("often", lesson.common), ("here", lesson.ours)]
    if run is None or lesson.live:
        done = {"here": run.ours} if run else {}
        lies = [item for each in done.get("here", ()) for item in each.read] if lesson.live else begun
        return [*_drawn(lies, lies, [step for _, steps in versions for step in steps], given, done)]
    made = {"often": run.common, "here": run.ours}
    if not (run.common_left or run.ours_left):
        return [*_drawn(begun, begun, [step for _, steps in versions for step in steps], given, made)]
    left = {"often": run.common_left, "here": run.ours_left}
    return [
        Partition(each.index, each.names, each.key, each.columns, each.rows, version)
        for version, steps in versions
        if steps
        for each in _drawn(
            _home(left[version], made[version], given) or begun, begun, steps, given, {version: made[version]}
        )
    ]


def differing(one: str, other: str) -> tuple[list[tuple[bool, str]], list[tuple[bool, str]]]:
    """The lines of two requests, and of each whether it is missing from the other."""
    ours, theirs = one.split("\n"), other.split("\n")
    left, right = [[(True, line) for line in lines] for lines in (ours, theirs)]
    for at, to, size in SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks():
        for offset in range(size):
            left[at + offset] = (False, ours[at + offset])
            right[to + offset] = (False, theirs[to + offset])
    return left, right


def _drawn(
    items: Sequence[Item],
    begun: Sequence[Item],
    steps: Sequence[Step],
    given: Given,
    made: Mapping[str, Sequence[Done]],
) -> Iterator[Partition]:
    before = {_key(item): item for item in begun}
    for index_name, key in dict.fromkeys(_place(step, given) for step in steps):
        index = next((each for each in INDEXES if each.name == index_name), None)
        names = [name for name in key_names(index) if name]
        lie = {_key(item): item for item in items if item.get(names[0]) == key}
        order = sorted(lie, key=lambda each: (str(lie[each].get(names[-1])).encode(), each))
        hidden = {*names, TTL_ATTRIBUTE, *(name for name in INDEX_KEYS if name.endswith("PK")), PARTITION_KEY}
        columns = [
            *dict.fromkeys(
                name for item in [*begun, *map(lie.__getitem__, order)] for name in item if name not in hidden
            )
        ]
        rows = {
            each: Row(
                str(lie[each].get(names[-1], "")),
                [text_of(lie[each].get(name)) for name in columns],
                changed=bool(made) and lie[each] != before.get(each),
            )
            for each in order
        }
        for version, requests in made.items():
            _mark(
                rows, version, [each for each in requests if each.arguments.get("IndexName", "") == index_name], given
            )
        yield Partition(index_name, names, key, columns, [*rows.values()])


def _mark(rows: Mapping[tuple[str, str], Row], version: str, requests: Iterable[Done], given: Given) -> None:
    place = 0
    for done in requests:
        read = [_key(item) for item in _home(done.read, [done], given)]
        returned = {_key(item) for item in _home(done.reply.items, [done], given)}
        if "ProjectionExpression" in done.arguments and "FilterExpression" not in done.arguments:
            returned = {*read}  # a projection may leave the keys out
        for key in read:
            row = rows.get(key)
            if row and not row.marks[version][1]:
                came = key in returned
                place += came
                row.marks[version] = (True, place if came else 0)


def _place(step: Step, given: Given) -> tuple[str, str]:
    """The index, or nothing for the table, and the partition that a request names."""
    arguments = running.arguments_of(step, given)
    values = arguments.get("ExpressionAttributeValues", {})
    return str(arguments.get("IndexName", "")), str(values.get(":partition", given["scratch"]))


def _home(items: Sequence[Item], made: Sequence[Done], given: Given) -> list[dict[str, Any]]:
    """Items of a run with the partition that the drawing names in place of the run's own."""
    own = next((done.scratch for done in made), "")
    return [
        {
            name: content.replace(own, str(given["scratch"])) if own and isinstance(content, str) else content
            for name, content in item.items()
        }
        for item in items
    ]


def _key(item: Mapping[str, Any]) -> tuple[str, str]:
    return str(item.get(PARTITION_KEY)), str(item.get(SORT_KEY))


def text_of(content: Any) -> str:
    """A value or an item as a short text."""
    match content:
        case None:
            text = ""
        case Mapping():
            text = ", ".join(f"{name}: {text_of(inner)}" for name, inner in content.items())
        case list() | set():
            text = ", ".join(sorted(map(text_of, content)) if isinstance(content, set) else map(text_of, content))
        case bool():
            text = "true" if content else "false"
        case _:
            text = str(content)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


MOST_READS, MOST_WRITES = 3000, 1000
"""Units a second that a partition serves.

https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
"""

LARGEST = 400 * 1024
"""Bytes of the largest item: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html"""

HOT = "hot-"
KEYS, HASHES, BEGUN = 24, 65_536, 4
"""Keys that are asked for, values of the hash that is drawn, and partitions before any is split."""

TYPES = {
    "S": "text", "N": "number", "B": "bytes", "BOOL": "true or false", "NULL": "null", "M": "map", "L": "list",
    "SS": "set of texts", "NS": "set of numbers", "BS": "set of bytes",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Field:
    """A number of a form: the least and the most of it, and its value, or the sentence that says what to use."""

    name: str
    value: int
    least: int
    most: int
    wrong: str = ""


def _field(query: Mapping[str, str], name: str, default: int, least: int, most: int) -> Field:
    text = query.get(name, str(default)).strip().replace(",", "")
    if re.fullmatch("[0-9]{1,15}", text) and least <= int(text) <= most:
        return Field(name, int(text), least, most)
    return Field(name, default, least, most, f"Use a whole number from {least:,} to {most:,}.")


def sizes(_: Mapping[str, str], lesson: Lesson, given: Given) -> dict[str, Any]:
    """The item that a lesson puts: each attribute with its type, and the bytes of its name and of its value."""
    item = marshal_item(running.arguments_of(lesson.ours[0], given)["Item"])
    rows = []
    for name, value in item.items():
        ((kind, _content),) = value.items()
        own = len(name.encode())
        rows.append(
            {"name": name, "code": kind, "type": TYPES[kind], "own": own, "value": size_of({name: value}) - own}
        )
    read, write = Capacity(units_read(size_of(item), consistent=True)), Capacity(write=units_written(None, item)[TABLE])
    part = f"{size_of(item) / LARGEST:.2%}"
    return {"rows": rows, "total": size_of(item), "part": part, "read": str(read), "write": str(write)}


def units(query: Mapping[str, str], _lesson: Lesson, _given: Given) -> dict[str, Any]:
    """The units and dollars of reading and writing an item of some size, once and a number of times."""
    size = _field(query, "size", 2_000, 2, LARGEST)
    number = _field(query, "number", 1_000_000, 1, 10**12)
    consistent, together = query.get("consistent") == "1", query.get("transaction") == "1"
    item = {"A": {"S": "x" * (size.value - 1)}}
    read = Capacity(read=units_read(size.value, consistent=consistent, transactional=together))
    write = Capacity(write=units_written(None, item, transactional=together)[TABLE])
    rows = [
        {
            "what": what,
            "one": str(one),
            "all": f"{(one.read + one.write) * number.value:,.0f}",
            "dollars": _dollars(each),
        }
        for what, one in (("Read", read), ("Write", write))
        for each in [one.dollars * number.value / 1_000_000]
    ]
    return {"size": size, "number": number, "consistent": consistent, "transaction": together, "rows": rows}


def _dollars(amount: float) -> str:
    return f"${amount + 1e-9:,.2f}" if amount >= 0.01 else "less than $0.01"  # half a cent is rounded up


@dataclass(frozen=True, slots=True)
class Load:
    """A partition's requests a second: for the hot item and for the other keys."""

    hot: float
    others: float

    @property
    def asked(self) -> float:
        return self.hot + self.others


def partitions_under_load(query: Mapping[str, str], _lesson: Lesson, _given: Given) -> dict[str, Any]:
    """Requests a second to some keys, as they fall on partitions, before and after the busy ones are split."""
    rate = _field(query, "rate", 8_000, 0, 20_000)
    share = _field(query, "share", 60, 0, 100)
    shards = _field(query, "shards", 1, 1, 10)
    writes = query.get("kind") == "writes"
    most = MOST_WRITES if writes else MOST_READS
    hot = [f"{HOT}{number}" for number in range(1, shards.value + 1)]
    load = dict.fromkeys(hot, rate.value * share.value / 100 / shards.value)
    load |= {f"deal-{number}": rate.value * (1 - share.value / 100) / KEYS for number in range(1, KEYS + 1)}
    placed = sorted(load, key=_hash)
    begun = [[key for key in placed if _hash(key) * BEGUN // HASHES == number] for number in range(BEGUN)]
    split = [part for each in begun for part in _split(each, load, most)]
    drawn = [_bars([_load(keys, load) for keys in parts], most) for parts in (begun, split)]
    return {"rate": rate, "share": share, "shards": shards, "writes": writes, "most": most, "drawn": drawn}


def _load(keys: Sequence[str], load: Mapping[str, float]) -> Load:
    hot = sum(load[key] for key in keys if key.startswith(HOT))
    return Load(hot, sum(map(load.__getitem__, keys)) - hot)


def _hash(key: str) -> int:
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:2], "big")


def _split(keys: Sequence[str], load: Mapping[str, float], most: int) -> list[Sequence[str]]:
    """The keys of a partition, split between two of them until each part can be served or is one key alone."""
    if sum(map(load.__getitem__, keys)) <= most or len(keys) < 2:
        return [keys]
    middle = len(keys) // 2
    return [*_split(keys[:middle], load, most), *_split(keys[middle:], load, most)]


TALL, WIDE = 150, 640
"""The drawing in its own units: the height of the limit's line is half of it."""


def _bars(loads: Sequence[Load], most: int) -> dict[str, Any]:
    """Partitions as bars: their places and heights, where nothing is drawn higher than twice the limit."""
    width = WIDE / len(loads)
    bars = []
    for number, each in enumerate(loads):
        hot, others = (min(part, 2 * most) / most * TALL / 2 for part in (each.hot, each.others))
        others = min(others, TALL - hot)
        bars.append({
            "x": round(number * width + width * 0.1, 1), "width": round(width * 0.8, 1),
            "middle": round((number + 0.5) * width, 1), "hot": round(hot, 1), "others": round(others, 1),
            "asked": f"{each.asked:,.0f}", "over": each.asked > most,
        })  # fmt: skip
    refused = sum(max(0.0, each.asked - most) for each in loads)
    return {
        "bars": bars,
        "refused": f"{refused:,.0f}" if refused >= 1 else "",
        "busiest": f"{max(each.asked for each in loads):,.0f}",
    }


FIGURES: Mapping[str, Callable[[Mapping[str, str], Lesson, Given], Mapping[str, Any]]] = {
    "sizes": sizes,
    "units": units,
    "partitions": partitions_under_load,
    "travel": lambda *_: {},
    "multi": lambda *_: recorded(),
}
"""The values for each figure's template, from the form, the lesson, and the names in braces."""
