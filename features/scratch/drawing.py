"""Partitions as pages draw them, with what requests read of them, and how two requests differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any

from features.scratch import running
from features.scratch.running import Done, Given
from features.scratch.steps import Script, Step
from shared.dynamodb.attributes import Item
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


def partitions(script: Script, given: Given, run: running.Run | None) -> list[Partition]:
    """The partitions that a script's requests name, before its run or after it; a live one's are known after it.

    Requests that only read are marked in one drawing. Where a version writes, each version has drawings of its own.
    """
    begun = [*running.filled_items(script, given)]
    versions = [("often", script.common), ("here", script.ours)]
    if run is None or script.live:
        done = {"here": run.ours} if run else {}
        lies = [item for each in done.get("here", ()) for item in each.read] if script.live else begun
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
