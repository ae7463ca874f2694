"""A write in words: the item it is of, its condition, what it does and what its refusal means.

Nothing is told that the browser of the table would not show: of other partitions their kind alone, and of people's
items the values of certain attributes alone (``shared/data/partitions.py``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

from shared.data import keys
from shared.data.entities import ROWS, Entity
from shared.data.partitions import PERSONAL, SHOWN_ATTRIBUTES, matches
from shared.dynamodb.attributes import unmarshal
from shared.dynamodb.capacity import size_of
from shared.dynamodb.schema import KEYS, PARTITION_KEY, SORT_KEY
from shared.dynamodb.writes import Write
from shared.html.item_collection import size
from shared.html.page_cost import is_visible

LONGEST = 60
"""Characters of a value that are told."""

MOST_TERMS = 4
"""Parts of a condition that are told one by one."""

_WITHHELD = "…"
_VALUE = re.compile(r":\w+")
_NAME = re.compile(r"#\w+")
_WORD = re.compile(r"[#:]?[A-Za-z_][\w.#]*")
_SYNTAX = {
    *("SET", "ADD", "REMOVE", "DELETE", "AND", "OR", "NOT", "size", "contains", "if_not_exists", "list_append"),
    *("attribute_exists", "attribute_not_exists", "attribute_type"),
}

_TERMS = (
    (re.compile(r"attribute_not_exists\(PK\)"), "{it} is not there yet"),
    (re.compile(r"attribute_exists\(PK\)"), "{it} is there"),
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
"""The parts of our conditions, each with its words."""


def place(write: Write) -> tuple[str, str]:
    """The partition key and the sort key of the item that a write is of."""
    key = write.arguments.get("Key") or write.arguments["Item"]
    return str(unmarshal(key[PARTITION_KEY])), str(unmarshal(key[SORT_KEY]))


def key(write: Write) -> str:
    """The item's key as it is shown; of a partition that is not, its kind."""
    partition, sort = place(write)
    if not is_visible(partition, None):
        return keys.pattern_of(partition).replace("*", _WITHHELD)
    return partition if partition == sort else f"{partition} / {sort}"


def type_of(write: Write) -> str:
    """The type of the item: as it is put, else as its key tells."""
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
    """The condition in words, and as DynamoDB is sent it, with its names and values filled in."""
    expression = write.arguments.get("ConditionExpression")
    if expression is None:
        return "whatever is there", ""
    parts = list(_split(expression, "AND"))
    if len(parts) > MOST_TERMS:
        words = f"all {len(parts)} attributes are still as they were read"
    else:
        words = " and ".join(partial(_in_words, write)(part) for part in parts)
    return f"only if {words}", _filled(write, expression)


def does(write: Write) -> tuple[str, str]:
    """A write in words; and its update expression, filled in, where it has one."""
    match write.operation:
        case "Put":
            item, type_ = write.arguments["Item"], type_of(write)
            article = "an" if type_[:1] in "AEIO" else "a"
            return f"{article} {type_} item of {len(item)} attributes, {size(size_of(item))}", ""
        case "Update":
            return "", _filled(write, write.arguments["UpdateExpression"])
        case "Delete":
            return "takes it away", ""
    return "writes nothing, costs as if it did", ""


def refusal(write: Write) -> str:
    """The meaning of a write's refusal; an error without a text of its own is told by its description."""
    error = write.refused
    if error is None:
        return ""
    text = str(error) if is_visible(place(write)[0], None) else ""
    described = type(error).__doc__ or f"{_spelled(type(error).__name__).capitalize()}."
    return text or f"{described.partition('.')[0]}.".replace("``", "")


def _in_words(write: Write, expression: str) -> str:
    """A part of a condition in words; what has none stands as it is sent."""
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
    """A type's or a class's name in small words: ``brand like``."""
    return re.sub("(?<!^)(?=[A-Z])", " ", name).lower()


def _split(expression: str, word: str) -> Iterator[str]:
    """The parts of an expression between a word that stands in no parentheses."""
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
    """An expression with its names and values in place of their placeholders; ``plain`` texts have no quotes."""
    names = write.arguments.get("ExpressionAttributeNames", {})
    values = write.arguments.get("ExpressionAttributeValues", {})
    withheld = _withheld(write)

    def value(found: re.Match[str]) -> str:
        name = found.group()
        return _WITHHELD if name in withheld else _literal(unmarshal(values[name]), plain=plain)

    named = _NAME.sub(lambda found: str(names[found.group()]), expression)
    return _VALUE.sub(value, named)


def _withheld(write: Write) -> set[str]:
    """The placeholders of the values that are not told."""
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
    """A value as it is told."""
    match value:
        case bytes():
            return f"{len(value):,} bytes"
        case str() if plain:
            text = value
        case set():
            text = json.dumps(sorted(value), ensure_ascii=False, default=str)
        case _:
            text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
