"""Exercises: a broken request or key that a reader mends, run as lessons are and checked by what comes back.

A file of ``exercises/`` has those after the group of lessons of the same name. Each has a request or the template of a
key as it is given (``broken``), one that solves it and a wrong one. ``rights`` are other answers that solve it, and
``fitted`` ones pass on the data that is shown, and not on the hidden data. A test runs them all.

A request that a reader types is JSON: one operation with its arguments, values written plainly, a set as
``{"set": […]}``. It may name the reader's own partitions alone, ``{scratch}`` and those that begin with ``{scratch}#``.
IAM's leading keys hold the function to scratch partitions, too (``infra/rights.py``).
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from features.scratch import costs, grammar, running
from features.scratch.expressions import Expression, Refused
from features.scratch.running import Done, wire
from features.scratch.steps import Step
from features.textbook.lessons import GROUPS, Lesson, step_of
from shared.data import keys
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import GSI1, GSI2, GSI3, INDEXES, KEYS, PARTITION_KEY, SORT_KEY, TTL_ATTRIBUTE, key_names
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from shared.errors import NoSuchPath

FOLDER = Path(__file__).with_name("exercises")
PREFIX = "exercise-"
"""The prefix of exercises' names in addresses and in the cookie of finished ones."""


@dataclass(frozen=True, slots=True)
class Check:
    """The expected result.

    ``finds`` are the values of the attribute ``by`` (without one: of the sort key) of the items that were read, in
    their order. ``refused`` has a code for each time that the request is sent, empty where it is answered. ``units``
    are the most read units. ``left`` are items that must lie in the partition afterwards, with these attributes.
    ``either`` says that requests may be answered or refused, as long as the items are right; ``any_order`` that the
    order of items doesn't matter. A number in ``left`` may be given as ``{ from = 1, to = 9 }``.
    """

    finds: Sequence[Any] = ()
    by: str = ""
    refused: Sequence[str] = ()
    units: float = 0
    left: Sequence[Mapping[str, Any]] = ()
    either: bool = False
    any_order: bool = False


@dataclass(frozen=True, slots=True)
class Exercise:
    """One exercise. ``key`` is the key attribute that a template makes for each item; without it, a request is mended.

    The request is sent once for each of ``sends``, whose values it may name in braces, between the requests
    ``before`` and ``after`` it. ``hidden`` is the same exercise with other data of the same form, which the page does
    not show: an answer must be right there, too.
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
    hidden: Exercise | None = None
    rights: Sequence[str] = ()
    fitted: Sequence[str] = ()

    @property
    def paragraphs(self) -> list[str]:
        return [part.replace("\n", " ").strip() for part in self.task.strip().split("\n\n")]


@dataclass(frozen=True, slots=True)
class Found:
    """One check: the wanted and the actual result, and whether they are the same."""

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
    """A reader's input as a lesson, whose requests are sent and drawn as any others. Raises Unusable."""
    items, requests = exercise.items, []
    if exercise.key:
        items = keys_of(exercise.items, exercise.key, text)
    else:
        finds = len(exercise.check.finds)
        requests = [Step(*request_of(text, send), finds=finds) for send in exercise.sends]
    lesson = Lesson(
        PREFIX + exercise.slug, exercise.title, exercise.title, exercise.task, exercise.group,
        items=items, ours=[*exercise.before, *requests, *exercise.after],
    )  # fmt: skip
    given = running.names(lesson, "", keys.scratch("you", "run"), datetime(2000, 1, 1, tzinfo=UTC))
    units = costs.of_requests(requests, [*running.filled_items(lesson, given)], given)
    if units > costs.MOST_TYPED:
        raise Unusable(f"This could take {units:,} write units: the most is {costs.MOST_TYPED}.")
    return lesson


def lessons_of(exercise: Exercise, text: str) -> list[Lesson]:
    """A reader's input as a lesson of the exercise, and as one of its hidden data. Raises Unusable."""
    return [lesson_of(each, text) for each in (exercise, exercise.hidden) if each]


def run(
    table: Table, exercise: Exercise, lessons: Sequence[Lesson], visitor: str, run_id: str, now: datetime, trace: Trace
) -> tuple[running.Run, list[Found]]:
    """Run the typed text (``lessons_of``) in a scratch partition, and check the result. If all is right, check it on
    the hidden data, too. Raises Busy."""
    made = running.run(table, lessons[0], "", visitor, run_id, now, trace, typed=True)
    found = [*_checked(exercise, made)]
    if exercise.hidden and all(each.right for each in found):
        other = running.run(table, lessons[1], "", visitor, f"{run_id}-o", now, trace, typed=True)
        wrong = next((each for each in _checked(exercise.hidden, other) if not each.right), None)
        came = f"{wrong.wanted}: {wrong.came}" if wrong else ""
        found.append(Found("Is right for other data, too, which is not shown", came, wrong is None))
    return made, found


def _exercise(group: str, read: Mapping[str, Any]) -> Exercise:
    hidden = read.get("hidden")
    texts = {name: read[name].strip() for name in ("broken", "wrong", "solution")}
    more = {name: [text.strip() for text in read.get(name, ())] for name in ("rights", "fitted")}
    slug = {"slug": PREFIX + read["slug"], "group": group}
    of_data = _of_data({"check": {}, **read})
    rest = {each.name: read[each.name] for each in fields(Exercise) if each.name in read}
    whole = Exercise(**{**rest, **texts, **more, **of_data, **slug, "hidden": None})
    return replace(whole, hidden=replace(whole, **_of_data(hidden))) if hidden else whole


def _of_data(read: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an exercise that belong to its data."""
    given = {name: read[name] for name in ("items", "sends") if name in read}
    given |= {name: [step_of(each) for each in read[name]] for name in ("before", "after") if name in read}
    return given | ({"check": Check(**read["check"])} if "check" in read else {})


def _checked(exercise: Exercise, made: running.Run) -> Iterator[Found]:
    check, done = exercise.check, made.ours
    at = len(exercise.before)
    own = done[at : len(done) - len(exercise.after)]
    if own and not check.either:
        wanted = [*(check.refused or [""] * len(own))]
        came = [each.reply.code for each in own]
        yield Found(_outcomes(wanted), _outcomes(came), wanted == came)
    if check.finds:
        reads = done[-len(exercise.after) :] if exercise.after else own
        found = [item.get(check.by or _sort_key(each)) for each in reads for item in _returned(each, check.by)]
        right = found == [*check.finds] or (check.any_order and Counter(found) == Counter(check.finds))
        yield Found(f"Returns {_listed(check.finds)}", _listed(found), right)
    if check.units:
        units = sum(each.took.capacity.read for each in own if each.took and each.took.capacity)
        yield Found(f"Takes at most {check.units:g} RRU", f"{units:g} RRU", 0 < units <= check.units)
    for item in check.left:
        wanted_item = running.fill(item, {})
        lies: Item = next((each for each in made.ours_left if each[SORT_KEY] == item[SORT_KEY]), {})
        shown = {name: lies[name] for name in wanted_item if name in lies}
        yield Found(
            f"Afterwards: {_described(wanted_item)}",
            _described(shown) if lies else "no such item",
            lies != {} and all(_is(wanted, lies.get(name)) for name, wanted in wanted_item.items()),
        )


def _is(wanted: Any, found: Any) -> bool:
    """Whether a value is the wanted one, or a number between two."""
    if isinstance(wanted, Mapping):
        return isinstance(found, int) and wanted["from"] <= found <= wanted["to"]
    return type(found) is type(wanted) and found == wanted


def _returned(done: Done, by: str) -> Sequence[Item]:
    """The items of an answer; with the key that tells which they are, even if a projection left it out."""
    projected = "ProjectionExpression" in done.arguments and len(done.read) == len(done.reply.items)
    return done.read if projected and by in ("", *KEYS) else done.reply.items


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
    return ", ".join(f"{name} = {_told(each)}" for name, each in item.items())


def _told(value: Any) -> str:
    match value:
        case set():
            return f"{{{', '.join(sorted(value))}}}"
        case {"from": least, "to": most}:
            return f"{least} to {most}"
    return json.dumps(value)


LONGEST = 4000
"""Characters of a request that is typed in."""

DEEPEST = 40
"""Levels of its JSON, DynamoDB's 32 of a value and those of the request around it; and of each of its expressions."""

OPERATIONS = ("Query", "GetItem", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems")

_PARTITION_KEYS = {PARTITION_KEY, *(index.partition_key for index in INDEXES)}
_OURS = {"Type", TTL_ATTRIBUTE, *(index.partition_key for index in INDEXES if not index.sort_key)}
"""Attributes that have a meaning for the whole site: the stream, TTL, and the list of all members go by them."""

_LEGACY = {"KeyConditions", "QueryFilter", "AttributeUpdates", "Expected", "ConditionalOperator", "AttributesToGet"}
"""Arguments that name keys and attributes in ways of their own, which DynamoDB keeps for old programs."""

_WORD = re.compile(r"[#:]?\w+")
_EQUALS = re.compile(r"(#?\w+)\s*=\s*(:\w+)")
_LEVEL = re.compile(r"[()]|\bNOT\b", re.IGNORECASE)
_LEVELS = {"(": 1, ")": -1}
_FIELD = re.compile(r"\{(\w+)(?::0([1-9][0-9]?))?\}")

_NO_LESSON = Lesson("", "", "", "", "")


class Unusable(Exception):  # it is no error, but a sentence for the reader
    """The typed request cannot be sent. Its text is the one sentence that says why."""


def keys_of(items: Sequence[Mapping[str, Any]], key: str, text: str) -> list[dict[str, Any]]:
    """Items with the values that a template makes of one key attribute; of two with the same key, the last one stays.

    Raises Unusable.
    """
    template = text.strip()
    plain = _FIELD.sub("", template)
    if not template or len(template) > 100 or not re.fullmatch(r"[\w#:. -]*", plain, re.ASCII):
        raise Unusable("Use letters, digits, #, -, _, : and attribute names in braces, at most 100 characters.")
    if key in _PARTITION_KEYS and not re.fullmatch(r"\{scratch\}(#.*)?", template):
        raise Unusable("A partition key is {scratch}, your own partition, or begins with {scratch}#.")
    made = {}
    for item in items:
        values = {**item, "scratch": "{scratch}"} if key in _PARTITION_KEYS else item
        unknown = [name for name, _ in _FIELD.findall(template) if name not in values]
        if unknown:
            raise Unusable(f"The items have no attribute {unknown[0]}.")
        parts = _FIELD.split(template)  # a text, then each name, its digits and the text after it
        filled = [
            str(values[name]).zfill(int(digits or 0)) + after
            for name, digits, after in zip(parts[1::3], parts[2::3], parts[3::3], strict=True)
        ]
        whole = {**item, key: "".join([parts[0], *filled])}
        made[whole.get(PARTITION_KEY), whole[SORT_KEY]] = whole
    return [*made.values()]


def request_of(text: str, send: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The operation and the arguments of a request that was typed, ready to be sent. Raises Unusable."""
    if len(text) > LONGEST:
        raise Unusable(f"This is too long: use {LONGEST:,} characters at most.")
    try:
        read = json.loads(text, parse_float=_no_fraction, parse_constant=_no_fraction)
        json.dumps(read, ensure_ascii=False).encode()  # half a character is none
    except (ValueError, RecursionError) as error:
        at = f", in line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise Unusable(f"This is not JSON{at}.") from error
    if _depth(read) > DEEPEST:
        raise Unusable(f"This is nested too deep: use {DEEPEST} levels at most.")
    if not isinstance(read, dict) or len(read) != 1:
        raise Unusable('Write one operation and its arguments: {"Query": {…}}.')
    ((operation, arguments),) = read.items()
    if operation not in OPERATIONS:
        raise Unusable(f"{operation[:40]} is not allowed here. Use one of {', '.join(OPERATIONS)}.")
    try:
        filled = _filled(operation, arguments, send)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Unusable(f"An argument of {operation} is missing or has the wrong type.") from error
    if not isinstance(filled.get("Limit", 1), int):
        raise Unusable("Limit must be a number.")
    left = re.search(r"\{(?!scratch\}|long\})\w+\}", json.dumps(filled, default=str))
    if left:
        raise Unusable(f"This exercise has no value {left[0]}.")
    return operation, filled


def _filled(operation: str, arguments: Mapping[str, Any], send: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with the values of a ``send``, after a trial with those of a run. Raises Unusable, and what the
    wrong types of JSON raise."""
    given = running.names(_NO_LESSON, "", keys.scratch("you", "run"), datetime(2000, 1, 1, tzinfo=UTC))
    filled: dict[str, Any] = running.fill(arguments, dict(send))
    for part in _parts(operation, filled):  # a value could make another placeholder of one that is allowed
        _bounds(part)
    sent = running.arguments_of(Step(operation, filled), given)
    for part in _parts(operation, sent):
        if "UpdateExpression" in part:
            _changes(part)
    wire("", operation, sent)
    return filled


def _depth(read: Any) -> int:
    """The levels of a JSON document."""
    levels, inner = 0, [read]
    while inner:
        inner = [
            each
            for of in inner
            if isinstance(of, dict | list)
            for each in (of.values() if isinstance(of, dict) else of)
        ]
        levels += 1
    return levels


def _no_fraction(_text: str) -> None:
    raise Unusable("Use whole numbers: this table stores no others.")


def _nesting(expression: str) -> int:
    """The most levels of an expression that are open at once: its parentheses, and each ``NOT`` to the end."""
    return max(accumulate((_LEVELS.get(word, 1) for word in _LEVEL.findall(expression)), initial=0))


def _parts(operation: str, arguments: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A request itself, and each write of a transaction and key of a batch as a request of its own.

    An update may leave its expression out, and then makes an item all the same.
    """
    updates = {"UpdateExpression": ""}
    yield {**(updates if operation == "UpdateItem" else {}), **arguments}
    yield from ({"Key": key} for key in arguments.get("Keys", ()))
    for each in arguments.get("TransactItems", ()):
        yield from ((updates if kind == "Update" else {}) | write for kind, write in each.items())


def _bounds(part: Mapping[str, Any]) -> None:
    """Refuse what leads out of the reader's own partitions, or means something to the whole site."""
    if "TableName" in part:
        raise Unusable("Leave out TableName: requests go to this site's table.")
    if _LEGACY & part.keys():
        raise Unusable(f"{min(_LEGACY & part.keys())} is a legacy parameter: use expressions.")
    if part.get("IndexName", GSI1.name) not in {index.name for index in (GSI1, GSI2, GSI3)}:
        raise Unusable("IndexName must be GSI1, GSI2 or GSI3.")
    for item in (part.get(name, {}) for name in ("Key", "Item", "ExclusiveStartKey")):
        if _OURS & item.keys():
            raise Unusable(f"Leave {min(_OURS & item.keys())} out: the site itself uses this attribute.")
        for key in _PARTITION_KEYS & item.keys():
            # An update may make an item, and only those of {scratch} itself are given an end.
            _own(item[key], exact=key == PARTITION_KEY and "UpdateExpression" in part)
    if any(_nesting(part[kind]) > DEEPEST for kind in grammar.EXPRESSIONS if kind in part):
        raise Unusable(f"An expression is nested too deep: use {DEEPEST} levels at most.")
    names = part.get("ExpressionAttributeNames", {})
    if "KeyConditionExpression" in part:
        expression = part["KeyConditionExpression"]
        named = [word for word in _WORD.findall(expression) if names.get(word, word) in _PARTITION_KEYS]
        equal = [value for word, value in _EQUALS.findall(expression) if names.get(word, word) in _PARTITION_KEYS]
        if len(named) != 1 or len(equal) != 1:
            raise Unusable("Query one partition by its key: PK = :partition, where :partition is {scratch}.")
        _own(part.get("ExpressionAttributeValues", {}).get(equal[0]))


def _changes(part: Mapping[str, Any]) -> None:
    """Refuse an update that could bring an item into a list of the site's. One that isn't well formed is never sent:
    DynamoDB's rules refuse it before (``running.ask``)."""
    names, values = (part.get(f"ExpressionAttribute{kind}", {}) for kind in ("Names", "Values"))
    if not all(isinstance(each, str) for each in names.values()):
        raise TypeError(names)
    try:
        changed = Expression("UpdateExpression", part["UpdateExpression"], names, values, set()).update()
    except Refused:
        return
    for section, path, _ in changed:
        if path.parts[0] in _OURS or (path.parts[0] in _PARTITION_KEYS and section != "REMOVE"):
            raise Unusable("An update here must not set an index's partition key, Type or ExpiresAt.")


def _own(partition: Any, *, exact: bool = False) -> None:
    own = r"\{scratch\}" if exact else r"\{scratch\}(#.*)?"
    if not isinstance(partition, str) or not re.fullmatch(own, partition, re.DOTALL):
        raise Unusable("This is another partition: yours is {scratch}.")
