"""Whether DynamoDB refuses a request, by AWS's rules, before an engine sees it.

An engine on a laptop or in a tab accepts requests that AWS refuses, and the other way round: a run would teach the
engine. These rules come first, so a request is refused everywhere as on AWS, with a message of its kind. Sources are
the pages in ``expressions.py`` and
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.KeyConditionExpressions.html
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from features.scratch.expressions import Expression, Node, Operand, Path, Refused, Value, paths_in
from shared.dynamodb.attributes import marshal
from shared.dynamodb.schema import INDEXES, KEYS, PARTITION_KEY, SORT_KEY, key_names

EXPRESSIONS = (
    "KeyConditionExpression",
    "ConditionExpression",
    "FilterExpression",
    "ProjectionExpression",
    "UpdateExpression",
)
_PLACEHOLDERS = ("ExpressionAttributeNames", "ExpressionAttributeValues")
_OF_TABLE = (PARTITION_KEY, SORT_KEY)
_LONGEST = dict.fromkeys(KEYS, 2048) | {each: 1024 for _, each in map(key_names, (None, *INDEXES)) if each}
"""Bytes of a partition key and of a sort key, in the table and in each index, and of a placeholder:
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html"""
_LONGEST_NAME = 255

_ONE_OF = "One or more parameter values were invalid"
_BY_RANGE = {"=", "<", "<=", ">", ">=", "BETWEEN", "begins_with"}


def refusal(operation: str, arguments: Mapping[str, Any]) -> str:
    """The message with which DynamoDB refuses a request with plain Python values, or nothing."""
    try:
        for part in _parts(arguments):
            _check(operation, part)
    except Refused as refused:
        return str(refused)
    return ""


def _parts(arguments: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A request, and each part of a transaction or a batch."""
    yield arguments
    yield from ({"Key": key} for key in arguments.get("Keys", ()))
    if any(len(each) != 1 for each in arguments.get("TransactItems", ())):
        raise Refused("TransactItems can only contain one of Check, Put, Update or Delete")
    for each in (*arguments.get("TransactItems", ()), *arguments.get("Requests", ())):
        yield from each.values()


def _check(operation: str, part: Mapping[str, Any]) -> None:
    _placeholders(part)
    _bounds(operation, part)
    index = next((each for each in INDEXES if each.name == part.get("IndexName")), None)
    partition, sort = key_names(index)
    used: set[str] = set()
    for kind in EXPRESSIONS:
        if kind not in part:
            continue
        read = Expression(kind, str(part[kind]), part.get(_PLACEHOLDERS[0], {}), part.get(_PLACEHOLDERS[1], {}), used)
        if kind == "UpdateExpression":
            for changed in read.update():
                _changed_key(str(changed.path.parts[0]), changed.value)
        elif kind == "ProjectionExpression":
            read.projection()
        elif kind == "KeyConditionExpression":
            _key_condition(read, partition, sort)
        else:
            condition = read.condition()
            if kind == "FilterExpression" and operation == "Query":
                _no_filter_on_keys(condition, {partition, sort})
    for kind in _PLACEHOLDERS:
        if unused := sorted(part.get(kind, {}).keys() - used):
            raise Refused(f"Value provided in {kind} unused in expressions: keys: {{{', '.join(unused)}}}")
    _keys(part)


def _placeholders(part: Mapping[str, Any]) -> None:
    """Names and values of expressions: not without an expression, not empty, each with its sign."""
    for kind, sign in zip(_PLACEHOLDERS, "#:", strict=True):
        if kind not in part:
            continue
        if not any(each in part for each in EXPRESSIONS):
            raise Refused(f"{kind} can only be specified when using expressions")
        if not part[kind]:
            raise Refused(f"{kind} must not be empty")
        for name in part[kind]:
            if not (name.startswith(sign) and name[1:].replace("_", "a").isalnum()):
                raise Refused(f'{kind} contains invalid key: Syntax error; key: "{name}"')
            if len(name) > _LONGEST_NAME:
                why = "The expression attribute map contains a key that is too long"
                raise Refused(f"{kind} contains invalid key: {why};")


def _bounds(operation: str, part: Mapping[str, Any]) -> None:
    """Limits and reads that an operation or an index does not have."""
    if isinstance(limit := part.get("Limit", 1), int) and limit < 1:
        why = "failed to satisfy constraint: Member must have value greater than or equal to 1"
        raise Refused(f"1 validation error detected: Value '{limit}' at 'limit' {why}")
    if part.get("IndexName") and part.get("ConsistentRead"):
        raise Refused("Consistent reads are not supported on global secondary indexes")
    if operation == "Query" and "KeyConditionExpression" not in part:
        raise Refused("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")


def _key_condition(read: Expression, partition: str, sort: str | None) -> None:
    by_key = _by_key(read, [*_terms(read.condition())])
    if len(by_key) > 2:
        raise Refused("Conditions can be of length 1 or 2 only")
    if partition not in by_key:
        raise Refused(f"Query condition missed key schema element: {partition}")
    if by_key.keys() - {partition, sort}:
        raise Refused(f"Query condition missed key schema element: {sort or partition}")
    if by_key[partition].operator != "=":
        raise Refused("Query key condition not supported")
    for name, term in by_key.items():
        for value in term.operands:
            if isinstance(value, Value):
                _text(name, value)


def _by_key(read: Expression, terms: Sequence[Node]) -> dict[str, Node]:
    """The conditions by the attribute that each compares with values."""
    by_key: dict[str, Node] = {}
    for term in terms:
        first, *rest = term.operands
        if isinstance(first, Value) and len(rest) == 1:  # a comparison may begin with the value
            first, rest = rest[0], [first]
        if not isinstance(first, Path) or not all(isinstance(each, Value) for each in rest):
            raise read.invalid("Key conditions compare one key attribute with values")
        name = str(first.parts[0])
        if len(first.parts) > 1:
            raise read.invalid(f"KeyConditionExpressions cannot have conditions on nested attributes: {first}")
        if name in by_key:
            raise Refused("KeyConditionExpressions must only contain one condition per key")
        by_key[name] = term
    return by_key


def _terms(node: Operand) -> Iterator[Node]:
    """The conditions that AND joins."""
    if not isinstance(node, Node):
        return
    if node.operator == "AND":
        for each in node.operands:
            yield from _terms(each)
        return
    if node.operator not in _BY_RANGE:
        raise Refused(f"Invalid operator used in KeyConditionExpression: {node.operator}")
    yield node


def _text(name: str, value: Value) -> None:
    """A value that a key is compared with: each key of this table is a text."""
    if value.kind != "S":
        raise Refused(f"{_ONE_OF}: Condition parameter type does not match schema type")
    if not value.typed["S"]:
        raise Refused(_empty(name))
    size = len(value.typed["S"].encode())
    if _LONGEST[name] == _LONGEST[SORT_KEY] and size > _LONGEST[name]:
        raise Refused(f"{_ONE_OF}: Aggregated size of all range keys has exceeded the size limit of 1024 bytes")


def _empty(name: str, of: str = "") -> str:
    why = f"{of}The AttributeValue for a key attribute cannot contain an empty string value"
    return f"One or more parameter values are not valid. {why}. Key: {name}"


def _no_filter_on_keys(condition: Node, keys: set[str | None]) -> None:
    for path in paths_in(condition):
        if path.parts[0] in keys:
            why = "Filter Expression can only contain non-primary key attributes"
            raise Refused(f"{why}: Primary key attribute: {path.parts[0]}")


def _changed_key(name: str, value: Operand | None) -> None:
    """An update changes no key of the table, and those of indexes to texts of some length. DynamoDB Local takes any
    other value, too, and leaves the item out of the index. DynamoDB refuses it, here in this page's words:
    https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html"""
    if name in _OF_TABLE:
        raise Refused(f"{_ONE_OF}: Cannot update attribute {name}. This attribute is part of the key")
    if name not in KEYS or value is None or isinstance(value, Path):
        return
    kind = value.kind if isinstance(value, Value) else {"+": "N", "-": "N", "list_append": "L"}.get(value.operator, "S")
    if kind != "S":
        raise Refused("The update expression attempted to update the secondary index key to unsupported type")
    if isinstance(value, Value):
        if not (text := value.typed["S"]):
            why = "The update expression attempted to update a secondary index key to a value that is not supported"
            raise Refused(_empty(name, f"{why}. "))
        if len(text.encode()) > _LONGEST[name]:
            raise Refused(
                "The update expression attempted to update the secondary index key beyond allowed size limits"
            )


def _keys(part: Mapping[str, Any]) -> None:
    """The keys of an item, or those that name one: texts of some length."""
    if "Key" in part and part["Key"].keys() != {*_OF_TABLE}:
        raise Refused("The provided key element does not match the schema")
    item = part.get("Item", {})
    for name in _OF_TABLE:
        if "Item" in part and name not in item:
            raise Refused(f"{_ONE_OF}: Missing the key {name} in the item")
    for name, content in {**part.get("Key", {}), **item}.items():
        if name not in KEYS:
            continue
        kind = next(iter(marshal(content)))
        if kind != "S":
            of = f"key {name} expected" if name in _OF_TABLE else f"Index Key {name} Expected"
            actual = "actual" if name in _OF_TABLE else "Actual"
            raise Refused(f"{_ONE_OF}: Type mismatch for {of}: S {actual}: {kind}")
        if not content:
            raise Refused(_empty(name))
        if len(content.encode()) > (longest := _LONGEST[name]):
            raise Refused(f"{_ONE_OF}: Size of {name} has exceeded the maximum size limit of {longest} bytes")
