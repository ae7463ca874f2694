"""A lesson's figure beside its requests: sizes byte by byte, a calculator of units, partitions under load.

Each is arithmetic of the server's, of a form that is sent with GET, so it needs no script.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from features.scratch import running
from features.scratch.limits import LARGEST, MOST_READS, MOST_WRITES
from features.scratch.running import Given
from features.textbook.lessons import Lesson, recorded
from shared.dynamodb.attributes import marshal_item
from shared.dynamodb.capacity import TABLE, Capacity, size_of, units_read, units_written
from shared.dynamodb.schema import PARTITION_KEY
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace

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


def of_its_own_table(table: Table, recorded: Mapping[str, Any], trace: Trace) -> Sequence[Mapping[str, Any]]:
    """Put the items of a recorded table into it, and ask its Queries: what each ``found``, or that it was ``refused``.

    They don't count as requests of the page, whose items the table browser shows. Raises Busy.
    """
    puts = [{"PutRequest": {"Item": item}} for item in recorded["items"]]
    running.unseen(table, "BatchWriteItem", {"Requests": puts}, trace)
    came: list[Mapping[str, Any]] = []
    for attempt in range(running.TRIES):  # the index follows a moment later
        if attempt:
            time.sleep(running.BETWEEN)
        came = [_of_index(table, recorded, each["condition"], trace) for each in recorded["queries"]]
        if came == recorded["queries"]:
            break
    return came


def _of_index(table: Table, recorded: Mapping[str, Any], condition: str, trace: Trace) -> Mapping[str, Any]:
    arguments: dict[str, Any] = {"IndexName": recorded["index"], "KeyConditionExpression": condition}
    for kind in ("Names", "Values"):
        if named := {name: each for name, each in recorded[kind.lower()].items() if name in condition}:
            arguments[f"ExpressionAttribute{kind}"] = named
    reply = running.unseen(table, "Query", arguments, trace)
    found = {"refused": reply.code} if reply.code else {"found": [item[PARTITION_KEY] for item in reply.items]}
    return {"condition": condition, **found}


FIGURES: Mapping[str, Callable[[Mapping[str, str], Lesson, Given], Mapping[str, Any]]] = {
    "sizes": sizes,
    "units": units,
    "partitions": partitions_under_load,
    "travel": lambda *_: {},
    "multi": lambda *_: recorded(),
}
"""The values for each figure's template, from the form, the lesson, and the names in braces."""
