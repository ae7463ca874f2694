"""DynamoDB's questions to IAM about a request, and a policy's answers: MiniStack's evaluator, given all condition keys.

MiniStack itself leaves ``dynamodb:LeadingKeys`` out and does not know PartiQL's rights (``tests/e2e/test_privilege.py``
says so by name), so what rests on these is proved here, on the policies as they are synthesized and deployed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from ministack.core.iam_evaluator import (  # type: ignore[import-untyped]  # it has no types
    EvalContext,
    evaluate,
    parse_policy_document,
)

from infra.functions import BY_NAME
from infra.rights import Access
from infra.settings import STAGES
from shared.data import keys
from shared.dynamodb.schema import PARTITION_KEY, SORT_KEY
from tests.support.surroundings import modules_of
from tests.support.wire import watched

READS = ("GetItem", "BatchGetItem", "Query", "Scan")

ANY_READ = ("GetItem", "BatchGetItem", "Query", "PartiQLSelect")
ANY_WRITE = ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "PartiQLInsert", "PartiQLUpdate", "PartiQLDelete")
"""The operations by which a function may read or write a partition."""

DEAL_ID = "3F2VM8KqLdHD6qBOm7B4Q0YD0Fr"
DEAL = keys.deal(DEAL_ID)["PK"]
USER = keys.user("ana")["PK"]
ACCOUNT = keys.account("ana")["PK"]
SESSION = keys.session("9f86d081")["PK"]
MESSAGES = keys.messages("ana")
REMOVERS = "accounts account remover"
"""A partition of some kinds, and the functions that remove an account with all that goes with it."""

INSERTED = re.compile(f"INSERT INTO .* VALUE {{(.*, )?'{PARTITION_KEY}': \\?")
"""PartiQL's INSERT, as the data layer writes it, up to the parameter that is the partition key."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A question to IAM: an operation on the table or an index, with the keys and attributes that it names, and what a
    write asks to be given back (``ReturnValues``)."""

    operation: str
    keys: tuple[str, ...] = ()
    index: str = ""
    attributes: tuple[str, ...] = ()
    returning: str = "NONE"


@dataclass(frozen=True, slots=True)
class Policy:
    """A role's rights to a table: the statements, and the address by which they name the table."""

    statements: Sequence[Mapping[str, Any]]
    table: str

    def allows(self, ask: Ask, *, leading_keys: bool = True) -> bool:
        """IAM's answer; without ``leading_keys``, its answer where the service does not tell of them."""
        keys: dict[str, Any] = {
            "dynamodb:select": "SPECIFIC_ATTRIBUTES" if ask.attributes else "ALL_ATTRIBUTES",
            "dynamodb:attributes": list(ask.attributes) or None,
            "dynamodb:returnvalues": None if ask.operation in READS else ask.returning,
            "dynamodb:leadingkeys": list(ask.keys) if ask.keys and leading_keys else None,
        }
        context = EvalContext(
            principal_arn="arn:aws:sts::000000000000:assumed-role/role/function",
            principal_type="AssumedRole",
            principal_account="000000000000",
            action=f"dynamodb:{ask.operation}",
            resource_arn=f"{self.table}/index/{ask.index}" if ask.index else self.table,
            region="us-east-1",
            service_context=keys,
        )
        answer = evaluate(context, [parse_policy_document({"Statement": list(self.statements)})])
        return bool(answer.decision == "Allow")

    def rights(self) -> Iterator[Ask]:
        """Each right to the table by itself: an operation with one pattern of keys, or the attributes it is cut to."""
        for statement in self.statements:
            actions, resources = _list(statement["Action"]), _list(statement["Resource"])
            conditions = statement.get("Condition", {})
            patterns = conditions.get("ForAllValues:StringLike", {}).get("dynamodb:LeadingKeys")
            attributes = conditions.get("ForAllValues:StringEquals", {}).get("dynamodb:Attributes", ())
            for action in actions:
                for resource in resources:
                    if action.startswith("dynamodb:") and resource.partition("/index/")[0] == self.table:
                        for pattern in _list(patterns) if patterns else [None]:
                            yield Ask(
                                action.removeprefix("dynamodb:"),
                                (pattern,) if pattern else (),
                                resource.partition("/index/")[2],
                                tuple(attributes),
                            )


def policy_of(access: Access) -> Policy:
    """The rights that a function's row grants it, without a stack."""
    table = "arn:aws:dynamodb:us-east-1:000000000000:table/table"
    statements = [
        {
            "Effect": "Allow",
            "Action": f"dynamodb:{right.operation}",
            "Resource": f"{table}/index/{right.index.name}" if right.index else table,
            "Condition": right.conditions,
        }
        for right in access
    ]
    return Policy(statements, table)


@cache
def is_granted(function: str, ask: Ask) -> bool:
    """Whether a function's row grants it something, on a stage that shows its work."""
    return policy_of(BY_NAME[function].access_at(STAGES["dev"])).allows(ask)


def within_rights(function: ModuleType) -> Callable[[Any, Any], Any]:
    """The handler of a function, whose every request to its table must be one that the function's row grants."""
    name = function.__name__.rpartition(".")[2]

    def handler(event: Any, context: Any) -> Any:
        with watched(vars(modules_of(function)[0])["table"]()) as wire:
            answer = function.handler(event, context)
        asked = {ask for request in wire.requests for ask in asks(request.operation, request.body)}
        assert [ask for ask in asked if not is_granted(name, ask)] == [], f"{name} has no right to this"
        return answer

    return handler


def asks(operation: str, request: Mapping[str, Any]) -> Iterator[Ask]:
    """DynamoDB's questions about a request of the data layer. Raises ValueError for an operation it does not make."""
    index, attributes = request.get("IndexName", ""), _names(request)
    match operation:
        case "GetItem":
            yield Ask(operation, (_place(request),), "", attributes)
        case "PutItem" | "UpdateItem" | "DeleteItem":
            yield Ask(operation, (_place(request),), "", _written(request), request.get("ReturnValues", "NONE"))
        case "Query":
            partition = request["ExpressionAttributeValues"][":partition"]["S"]
            yield Ask(operation, (partition,), index, attributes)
        case "Scan":
            yield Ask(operation, (), index, attributes)
        case "BatchGetItem":
            (wanted,) = request["RequestItems"].values()
            yield Ask(operation, tuple(key[PARTITION_KEY]["S"] for key in wanted["Keys"]), "", _names(wanted))
        case "BatchWriteItem":
            (parts,) = request["RequestItems"].values()
            writes = [write for each in parts for write in each.values()]
            written = {name for write in writes for name in (PARTITION_KEY, SORT_KEY, *_written(write))}
            yield Ask(operation, tuple(map(_place, writes)), "", tuple(sorted(written)))
        case "TransactWriteItems" | "TransactGetItems":
            parts = [part for item in request["TransactItems"] for part in item.items()]
            yield from (Ask(f"{name}Item", (_place(part),), "", _written(part) or _names(part)) for name, part in parts)
        case "BatchExecuteStatement":
            for each in request["Statements"]:
                found = INSERTED.match(each["Statement"])
                assert found, each
                place = each["Parameters"][(found[1] or "").count("?")]
                yield Ask("PartiQLInsert", (place["S"],))
        case _:
            raise ValueError(f"the data layer does not ask for {operation}")


def _names(wanted: Mapping[str, Any]) -> tuple[str, ...]:
    """The attributes that a read projects."""
    return tuple(wanted.get("ExpressionAttributeNames", {}).values())


WORD = re.compile(r"(?<![:#\w.])#?[A-Za-z]\w*")
NO_NAMES = {
    *("SET", "ADD", "REMOVE", "DELETE", "AND", "OR", "NOT", "IN", "BETWEEN", "size", "contains", "begins_with"),
    *("attribute_exists", "attribute_not_exists", "attribute_type", "if_not_exists", "list_append"),
}


def _written(request: Mapping[str, Any]) -> tuple[str, ...]:
    """The attributes that a write or its condition names, of an item's top level."""
    if "Item" in request:
        return tuple(sorted(request["Item"]))
    said = f"{request.get('UpdateExpression', '')} {request.get('ConditionExpression', '')}"
    named = request.get("ExpressionAttributeNames", {})
    return tuple(sorted({named.get(word, word) for word in WORD.findall(said)} - NO_NAMES))


def _place(write: Mapping[str, Any]) -> str:
    """The partition key of what is read or written."""
    place = write["Item"] if "Item" in write else write["Key"]
    return str(place[PARTITION_KEY]["S"])


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
