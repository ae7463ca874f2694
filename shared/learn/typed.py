"""What a reader of an exercise types, made into a request or into keys, or refused in one sentence.

A request is JSON: one operation with its arguments, values written plainly, a set as ``{"set": […]}``. It may name the
reader's own partitions alone, ``{scratch}`` and those that begin with ``{scratch}#``. IAM's leading keys hold the
function to scratch partitions, too (``infra/other_rights.py``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from shared.data import keys
from shared.dynamodb.asking import wire
from shared.dynamodb.schema import GSI1, GSI2, GSI3, INDEXES, PARTITION_KEY, SORT_KEY, TTL_ATTRIBUTE
from shared.learn import running
from shared.learn.lessons import Lesson, Step

LONGEST = 4000
"""Characters of a request that is typed in."""

OPERATIONS = ("Query", "GetItem", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems")

_PARTITION_KEYS = {PARTITION_KEY, *(index.partition_key for index in INDEXES)}
_OURS = {"Type", TTL_ATTRIBUTE, *(index.partition_key for index in INDEXES if not index.sort_key)}
"""Attributes that have a meaning for the whole site: the stream, TTL, and the list of all members go by them."""

_LEGACY = {"KeyConditions", "QueryFilter", "AttributeUpdates", "Expected", "ConditionalOperator", "AttributesToGet"}
"""Arguments that name keys and attributes in ways of their own, which DynamoDB keeps for old programs."""

_WORD = re.compile(r"[#:]?\w+")
_EQUALS = re.compile(r"(#?\w+)\s*=\s*(:\w+)")
_CLAUSE = re.compile(r"\b(SET|REMOVE|ADD|DELETE)\b", re.IGNORECASE)
_FIELD = re.compile(r"\{(\w+)(?::0([1-9][0-9]?))?\}")

_NO_LESSON = Lesson("", "", "", "", "")


class Unusable(Exception):  # it is no error, but a sentence for the reader
    """What was typed cannot be sent. Its text is the one sentence that says why."""


def keys_of(items: Sequence[Mapping[str, Any]], key: str, text: str) -> list[dict[str, Any]]:
    """Items with the values that a template makes of one key attribute; of two with the same key, the last one stays.

    Raises Unusable.
    """
    template = text.strip()
    plain = _FIELD.sub("", template)
    if not template or len(template) > 100 or not re.fullmatch(r"[\w#:. -]*", plain, re.ASCII):
        raise Unusable("Use letters, digits, #, -, _, : and names of attributes in braces, 100 characters at most.")
    if key in _PARTITION_KEYS and not re.match(r"\{scratch\}(#|$)", template):
        raise Unusable("A partition key begins with {scratch}, your own partition, and then #.")
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
    if not isinstance(read, dict) or len(read) != 1:
        raise Unusable('Write one operation and its arguments: {"Query": {…}}.')
    ((operation, arguments),) = read.items()
    if operation not in OPERATIONS:
        raise Unusable(f"{operation[:40]} is not allowed here. Use one of {', '.join(OPERATIONS)}.")
    given = running.names(_NO_LESSON, "", keys.scratch("you", "run"), datetime(2000, 1, 1, tzinfo=UTC))
    try:
        for part in _parts(operation, arguments):
            _bounds(part)
        filled = running.fill(arguments, dict(send))
        wire("", operation, running.arguments_of(Step(operation, filled), given))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Unusable(f"An argument of {operation} is missing, or is not of the kind that DynamoDB takes.") from error
    if not isinstance(filled.get("Limit", 1), int):
        raise Unusable("Limit is a number.")
    left = re.search(r"\{(?!scratch\}|long\})\w*\}", json.dumps(filled, default=str))
    if left:
        raise Unusable(f"There is no value {left[0]} in this exercise.")
    return operation, filled


def _no_fraction(_text: str) -> None:
    raise Unusable("Use whole numbers: this table has no others.")


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
        raise Unusable("Leave TableName out: the table is this site's, and no other can be named.")
    if _LEGACY & part.keys():
        raise Unusable(f"{min(_LEGACY & part.keys())} is a legacy parameter: use expressions.")
    if part.get("IndexName", GSI1.name) not in {index.name for index in (GSI1, GSI2, GSI3)}:
        raise Unusable("IndexName is GSI1, GSI2 or GSI3.")
    for item in (part.get(name, {}) for name in ("Key", "Item", "ExclusiveStartKey")):
        if _OURS & item.keys():
            raise Unusable(f"Leave {min(_OURS & item.keys())} out: the site itself uses it.")
        for key in _PARTITION_KEYS & item.keys():
            # An update may make an item, and only those of {scratch} itself are given an end.
            _own(item[key], exact=key == PARTITION_KEY and "UpdateExpression" in part)
    names = part.get("ExpressionAttributeNames", {})
    if "KeyConditionExpression" in part:
        expression = part["KeyConditionExpression"]
        named = [word for word in _WORD.findall(expression) if names.get(word, word) in _PARTITION_KEYS]
        equal = [value for word, value in _EQUALS.findall(expression) if names.get(word, word) in _PARTITION_KEYS]
        if len(named) != 1 or len(equal) != 1:
            raise Unusable("Ask one partition by its key: PK = :partition, where :partition is {scratch}.")
        _own(part.get("ExpressionAttributeValues", {}).get(equal[0]))
    _clauses(part.get("UpdateExpression", ""), names)


def _clauses(update: str, names: Mapping[str, str]) -> None:
    """Refuse an update that could bring an item into a list of the site's."""
    first, *clauses = _CLAUSE.split(update)
    for clause, text in [("", first), *zip(clauses[::2], clauses[1::2], strict=True)]:
        if text.rstrip().endswith(","):
            raise Unusable("DynamoDB refuses a comma before a clause of an update, which the local cloud lets pass.")
        changed = {names.get(word, word) for word in _WORD.findall(text)}
        if changed & _OURS or (changed & _PARTITION_KEYS and clause.upper() != "REMOVE"):
            raise Unusable("An update here sets no partition key of an index, and leaves Type and ExpiresAt alone.")


def _own(partition: Any, *, exact: bool = False) -> None:
    if not isinstance(partition, str) or not re.match(r"\{scratch\}$" if exact else r"\{scratch\}(#|$)", partition):
        raise Unusable("This names another partition: yours is {scratch}.")
