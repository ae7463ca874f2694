"""Drawings of items (a table with columns for each type) and of writes (in words).

``drawn`` makes the values of the macro ``collection`` (``collections/parts.html``) from any items of this table: a row
an item, with columns for the attributes of its type. ``query_lines`` gives a query to copy for the AWS CLI, boto3 and
our command line.

A write's description has its item, condition, effect and the meaning of its refusal. It omits what the table browser
wouldn't show: hidden partitions have only their kind, people's items only some attributes' values
(``shared/data/partitions.py``).
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fnmatch import fnmatchcase
from functools import cache, partial
from itertools import groupby
from typing import Any

from features.workings.page_cost import collection as address
from features.workings.page_cost import is_visible
from shared import features, hooks
from shared.data import keys
from shared.data.catalog import feed_counts
from shared.data.entities import ROWS, SCRATCH_ITEM
from shared.data.entity import Entity
from shared.data.partitions import HIDDEN_ATTRIBUTES, PERSONAL, SHOWN_ATTRIBUTES, matches
from shared.dynamodb.attributes import Item, marshal, unmarshal
from shared.dynamodb.capacity import Capacity, size_of, units_read
from shared.dynamodb.schema import INDEXES, KEYS, PARTITION_KEY, SORT_KEY, TTL_ATTRIBUTE, Index, key_names
from shared.dynamodb.writes import Write
from shared.models.catalog import ALL_DEALS, feed_of
from shared.values.times import ago

LONGEST = 120
"""The most characters of a value in a table."""

FIRST = ("Title", "Name", "Username", "Status", "Price", "ListPrice", "Brand", "Category", "Quantity", "Left", "Total")
"""Attributes whose columns come first, in this order; the others follow alphabetically."""

MINUTE = timedelta(minutes=1)

Json = dict[str, Any]
Hidden = Mapping[str, Mapping[str, str]]


def drawn(
    items: Sequence[Item], now: datetime, *, index: Index | None = None, hidden: Hidden = HIDDEN_ATTRIBUTES
) -> Json:
    """The values to draw items of one collection, in order; consecutive items of one type are a group.

    ``hidden`` are attributes to omit, by item type, each with the reason. ``size`` is the items' total as text;
    ``capacity`` and ``dollars`` (a million times) are for one Query that reads them all.
    """
    whole = sum(size_of(_wire(item)["M"]) for item in items)
    capacity = Capacity(units_read(whole))
    return {
        "sort_key": _sort_key(index),
        "groups": [
            _group(list(found), type_, now, index, hidden.get(type_, {}))
            for type_, found in groupby(items, lambda item: str(item.get("Type", "")))
        ],
        "count": len(items),
        "size": size(whole),
        "least": any(item.get("Type") in hidden for item in items),
        "capacity": str(capacity),
        "dollars": f"${capacity.dollars:,.2f}",
    }


def size(number: int) -> str:
    """A number of bytes in words: ``412 B``, ``2.0 KB``."""
    return f"{number} B" if number < 1024 else f"{number / 1024:,.1f} KB"


def _sort_key(index: Index | None) -> str:
    return key_names(index)[1] or SORT_KEY


def _group(items: Sequence[Item], type_: str, now: datetime, index: Index | None, hidden: Mapping[str, str]) -> Json:
    names = {name for item in items for name in item} - {*KEYS, "Type", *hidden}
    columns = sorted(names, key=lambda name: (FIRST.index(name) if name in FIRST else len(FIRST), name))
    kinds = {name: sorted({_kind(item[name]) for item in items if name in item}) for name in columns}
    kinds.get(TTL_ATTRIBUTE, []).append("TTL")
    rows = [_row(item, columns, now, index, hidden) for item in items]
    return {
        "type": type_ or (SCRATCH_ITEM.type if _is_scratch(items[0]) else "Item"),
        "has_places": any(row["places"] for row in rows),
        "columns": [
            *({"name": name, "kinds": " ".join(kinds[name]), "because": ""} for name in columns),
            *({"name": name, "kinds": "", "because": because} for name, because in hidden.items()),
        ],
        "rows": rows,
    }


def _row(item: Item, columns: Sequence[str], now: datetime, index: Index | None, hidden: Mapping[str, str]) -> Json:
    sort_key, whole = str(item.get(_sort_key(index), "")), size(size_of(_wire(item)["M"]))
    periods = _periods(item)
    return {
        "sort_key": sort_key,
        "link": _leads_to(sort_key, item, index),
        "places": [
            {"name": other.name if other else "table", "link": address(str(item[key]), other.name if other else None)}
            for other in (None, *INDEXES)
            if other != index and (key := key_names(other)[0]) in item
        ],
        "size": f"≥ {whole}" if hidden else whole,
        "cells": [_cell(name, item[name], now, periods.get(name, "")) if name in item else None for name in columns],
    }


def _leads_to(sort_key: str, item: Item, index: Index | None) -> str:
    """The address that a sort key links to: an index's links to the item in the table, a table's to a partition.

    Scratch items' sort keys name no partition.
    """
    if index is not None:
        return address(str(item[PARTITION_KEY]), None)
    if _is_scratch(item):
        return ""
    if noted := _noted().get(str(item.get("Type"))):
        return address(*noted(item))
    is_other = sort_key != item[PARTITION_KEY] and is_visible(sort_key, None)
    return address(sort_key, None) if is_other else ""


@cache
def _noted() -> dict[str, Callable[[Item], tuple[str, str]]]:
    """By features' types of notes, the partition that a note points to, and its index."""
    return features.merged(hooks.Items, lambda each: each.NOTES)


def _is_scratch(item: Item) -> bool:
    return str(item[PARTITION_KEY]).startswith(keys.scratches())


def _periods(item: Item) -> dict[str, str]:
    """The addresses for a Periods item's counts: the partitions whose deals they count."""
    if item.get("Type") != keys.PERIODS:
        return {}
    place = str(item[PARTITION_KEY])
    try:
        feed = ALL_DEALS if place == keys.counts(ALL_DEALS) else feed_of(keys.topic_named(place))
        return {
            feed_counts.attribute(feed, period): address(keys.feed_partition(feed, period), feed.index)
            for period in feed_counts.contents(feed, item)
        }
    except (KeyError, ValueError):  # a damaged item
        return {}


def _cell(name: str, value: Any, now: datetime, link: str) -> Json:
    if name == TTL_ATTRIBUTE and isinstance(value, int):
        return {"text": _expiry(datetime.fromtimestamp(value, UTC), now), "remark": str(value), "link": ""}
    return {"text": _text(value), "remark": "", "link": link}


def _expiry(when: datetime, now: datetime) -> str:
    """When an item expires, in words; DynamoDB deletes it within days of that.

    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/TTL.html
    """
    if when <= now:
        return f"expired {ago(when, now)}"
    return f"in {ago(now, when).removesuffix(' ago')}" if when - now >= MINUTE else "in less than a minute"


def _text(value: Any) -> str:
    """A value as text: whole if it is short, else its beginning or its size."""
    if isinstance(value, bytes):
        return f"{len(value):,} bytes"
    if isinstance(value, set):
        value = sorted(value)
    text = str(value) if isinstance(value, str | Decimal) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text):,} characters)"


def _kind(value: Any) -> str:
    return next(iter(_wire(value)))


def _wire(value: Any) -> Json:
    """A value in DynamoDB's form, also of types that we never write."""
    match value:
        case None:
            return {"NULL": True}
        case Mapping():
            return {"M": {name: _wire(each) for name, each in value.items()}}
        case list():
            return {"L": [_wire(each) for each in value]}
        case set() if not all(isinstance(each, str) for each in value):
            kinds = {_kind(each) for each in value}
            return {f"{kinds.pop()}S": [next(iter(_wire(each).values())) for each in value]}
    return marshal(value)


def query_lines(
    table: str, partition: str, index: Index | None, beginning: str = "", *, backward: bool = False
) -> list[dict[str, Any]]:
    """The tools' names, each with its lines. All read at most 1 MB, or page by page."""
    partition_key, sort_key = key_names(index)
    name, quote = index.name if index else "", shlex.quote
    condition, values = f"{partition_key} = :pk", {":pk": {"S": partition}}
    python = f"Key({partition_key!r}).eq({partition!r})"
    if beginning:
        condition, values = f"{condition} AND begins_with({sort_key}, :sk)", values | {":sk": {"S": beginning}}
        python += f" & Key({sort_key!r}).begins_with({beginning!r})"
    aws = [
        f"aws dynamodb query --table-name {quote(table)}",
        f"--index-name {name}" if name else "",
        f"--key-condition-expression {quote(condition)}",
        f"--expression-attribute-values {quote(json.dumps(values, ensure_ascii=False))}",
        "--no-scan-index-forward" if backward else "",
    ]
    boto3 = [
        "import boto3\nfrom boto3.dynamodb.conditions import Key\n",
        f"table = boto3.resource('dynamodb').Table({table!r})\nitems = table.query(",
        f"    IndexName={name!r}," if name else "",
        f"    KeyConditionExpression={python},",
        "    ScanIndexForward=False," if backward else "",
        ")['Items']",
    ]
    btd = [
        f"btd query {quote(partition)}",
        f"--index {name}" if name else "",
        f"--begins-with {quote(beginning)}" if beginning else "",
        "--backward" if backward else "",
    ]
    tools = (("AWS CLI", " \\\n  ", aws), ("boto3", "\n", boto3), ("btd", " ", btd))
    return [{"name": tool, "text": between.join(filter(None, lines))} for tool, between, lines in tools]


LONGEST_VALUE = 60
"""The most characters of a value in a description."""

MOST_TERMS = 4
"""The most parts of a condition that are explained one by one."""

_WITHHELD = "…"
_VALUE = re.compile(r":\w+")
_NAME = re.compile(r"#\w+")
_WORD = re.compile(r"[#:]?[A-Za-z_][\w.#]*")
_SYNTAX = {
    *("SET", "ADD", "REMOVE", "DELETE", "AND", "OR", "NOT", "size", "contains", "if_not_exists", "list_append"),
    *("attribute_exists", "attribute_not_exists", "attribute_type"),
}

_TERMS = (
    (re.compile(r"attribute_not_exists\(PK\)"), "{it} does not exist yet"),
    (re.compile(r"attribute_exists\(PK\)"), "{it} exists"),
    (re.compile(r"attribute_not_exists\((.+)\)"), "it has no {0}"),
    (re.compile(r"attribute_exists\((.+)\)"), "it has {0}"),
    (re.compile(r"NOT attribute_type\((.+), .+\)"), "{0} is damaged"),
    (re.compile(r"size\((.+)\) < (.+)"), "{0} holds fewer than {1}"),
    (re.compile(r"contains\((.+), (.+)\)"), "{0} holds {1}"),
    (re.compile(r"(\S+) = (\S+)"), "{0} is still {1}"),
    (re.compile(r"(\S+) >= (\S+)"), "{0} is at least {1}"),
    (re.compile(r"(\S+) <= (\S+)"), "{0} is at most {1}"),
    (re.compile(r"(\S+) > (\S+)"), "{0} is more than {1}"),
    (re.compile(r"(\S+) < (\S+)"), "{0} is less than {1}"),
)
"""The terms of our conditions, each in words."""


def place(write: Write) -> tuple[str, str]:
    """The partition and sort key of a write's item."""
    key = write.arguments.get("Key") or write.arguments["Item"]
    return str(unmarshal(key[PARTITION_KEY])), str(unmarshal(key[SORT_KEY]))


def key(write: Write) -> str:
    """The item's key for display; for a hidden partition, its kind."""
    partition, sort = place(write)
    if not is_visible(partition, None):
        return keys.pattern_of(partition).replace("*", _WITHHELD)
    return partition if partition == sort else f"{partition} / {sort}"


def type_of(write: Write) -> str:
    """The item's type: from its content in a Put, else by its key."""
    item = write.arguments.get("Item")
    if item is not None and "Type" in item:
        return str(unmarshal(item["Type"]))
    partition, sort = place(write)
    return next((each.type for each in ROWS if _is_of(each, partition, sort)), "")


def _is_of(entity: Entity, partition: str, sort: str) -> bool:
    own_partition, own_sort = entity.key[PARTITION_KEY], entity.key[SORT_KEY]
    alone = (own_partition == own_sort) == (partition == sort)
    return (
        alone
        and fnmatchcase(partition, keys.pattern_of(own_partition))
        and (partition == sort or fnmatchcase(sort, keys.pattern_of(own_sort)) or own_sort.startswith("<"))
    )


def condition(write: Write) -> tuple[str, str]:
    """The condition in words, and as DynamoDB gets it, with names and values filled in."""
    expression = write.arguments.get("ConditionExpression")
    if expression is None:
        return "whether or not it exists", ""
    parts = list(_split(expression, "AND"))
    if len(parts) > MOST_TERMS:
        words = f"all {len(parts)} attributes are still as they were read"
    else:
        words = " and ".join(partial(_in_words, write)(part) for part in parts)
    return f"only if {words}", _filled(write, expression)


def does(write: Write) -> tuple[str, str]:
    """A write in words, and its update expression, if any, filled in."""
    match write.operation:
        case "Put":
            item, type_ = write.arguments["Item"], type_of(write)
            article = "an" if type_[:1] in "AEIO" else "a"
            return f"{article} {type_} item of {len(item)} attributes, {size(size_of(item))}", ""
        case "Update":
            return "", _filled(write, write.arguments["UpdateExpression"])
        case "Delete":
            return "deletes it", ""
    return "writes nothing, but costs as much as a write", ""


def refusal(write: Write) -> str:
    """The meaning of a write's refusal; an error without its own text uses its docstring."""
    error = write.refused
    if error is None:
        return ""
    text = str(error) if is_visible(place(write)[0], None) else ""
    described = type(error).__doc__ or f"{_spelled(type(error).__name__).capitalize()}."
    return text or f"{described.partition('.')[0]}.".replace("``", "")


def _in_words(write: Write, expression: str) -> str:
    """A part of a condition in words, or else as sent."""
    if expression.startswith("(") and expression.endswith(")"):
        expression = expression[1:-1]
    choices = list(_split(expression, "OR"))
    if len(choices) > 1:
        return " or ".join(_in_words(write, each) for each in choices)
    type_ = type_of(write)
    it = f"the {_spelled(type_)}" if type_ else "it"
    for pattern, words in _TERMS:
        found = pattern.fullmatch(expression)
        if found:
            return words.format(*(_filled(write, each, plain=True) for each in found.groups()), it=it)
    return _filled(write, expression)


def _spelled(name: str) -> str:
    """A type's or a class's name in lower-case words: ``brand like``."""
    return re.sub("(?<!^)(?=[A-Z])", " ", name).lower()


def _split(expression: str, word: str) -> Iterator[str]:
    """Split an expression at a word outside parentheses."""
    depth, part = 0, ""
    for each in re.split(rf"([()]| {word} )", expression):
        depth += (each == "(") - (each == ")")
        if each == f" {word} " and depth == 0:
            yield part
            part = ""
        else:
            part += each
    yield part


def _filled(write: Write, expression: str, *, plain: bool = False) -> str:
    """An expression with placeholders replaced by names and values; ``plain`` texts have no quotes."""
    names = write.arguments.get("ExpressionAttributeNames", {})
    values = write.arguments.get("ExpressionAttributeValues", {})
    withheld = _withheld(write)

    def value(found: re.Match[str]) -> str:
        name = found.group()
        return _WITHHELD if name in withheld else _literal(unmarshal(values[name]), plain=plain)

    named = _NAME.sub(lambda found: str(names[found.group()]), expression)
    return _VALUE.sub(value, named)


def _withheld(write: Write) -> set[str]:
    """The placeholders of values to omit."""
    partition, _ = place(write)
    values = write.arguments.get("ExpressionAttributeValues", {})
    if not is_visible(partition, None):
        return set(values)
    if not matches(partition, PERSONAL[None]):
        return set()
    names: Mapping[str, str] = write.arguments.get("ExpressionAttributeNames", {})
    withheld, attribute = set(), ""
    for expression in ("ConditionExpression", "UpdateExpression"):
        for word in _WORD.findall(write.arguments.get(expression, "")):
            if word.startswith(":"):
                if attribute not in (*KEYS, *SHOWN_ATTRIBUTES):
                    withheld.add(word)
            elif word not in _SYNTAX:
                first = word.partition(".")[0]
                attribute = names.get(first, first)
    return withheld


def _literal(value: Any, *, plain: bool) -> str:
    """A value for display."""
    match value:
        case bytes():
            return f"{len(value):,} bytes"
        case str() if plain:
            text = value
        case set():
            text = json.dumps(sorted(value), ensure_ascii=False, default=str)
        case _:
            text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"
