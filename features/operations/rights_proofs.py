"""The proofs about IAM and the table: each uses a role of its own, and checks which requests are allowed.

A request names an item that doesn't exist, and a write also a condition that fails then, so nothing is changed. Only
PartiQL's INSERT writes, an item of the proof's own that expires, and is removed at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from botocore.exceptions import ClientError

from cli import proofs
from cli.proofs import Deployed, Fails, NotAsked, Proof
from features.operations.roles import PATIENT, REFUSED, allow, policy, remove_all, roles, session
from infra.functions import of_stage
from infra.rights import Right, Scan
from shared.data import keys
from shared.dynamodb.schema import INDEXES, PARTITION_KEY, SORT_KEY, TTL_ATTRIBUTE, Index, key_names
from shared.values import times

_OPERATIONS = (
    "GetItem", "BatchGetItem", "Query", "Scan", "ConditionCheckItem", "PutItem", "UpdateItem", "DeleteItem",
    "PartiQLInsert",
)  # fmt: skip

PROBED = "Version"
"""The attribute that a request names if its right names none."""


class Request(NamedTuple):
    """A request to DynamoDB: the client's method, and its arguments."""

    method: str
    arguments: Mapping[str, Any]

    def is_allowed(self, client: Any) -> bool:
        """Whether IAM lets a client send it. A condition that fails is an answer of the table, so it is allowed."""
        try:
            answer = getattr(client, self.method)(**self.arguments)
        except ClientError as error:
            code = error.response["Error"]["Code"]
            if code not in (*REFUSED, "ConditionalCheckFailedException", "TransactionCanceledException"):
                raise
            return code not in REFUSED
        refused = [each.get("Error", {}).get("Code") for each in answer.get("Responses", ()) if isinstance(each, dict)]
        return not any(code in REFUSED for code in refused)


def request(site: Deployed, right: Right | Scan, *partitions: str, **more: Any) -> Request:
    """A request that needs one right, about partitions (an index's for a query of one)."""
    places = [{PARTITION_KEY: {"S": each}, SORT_KEY: {"S": _sort_key(site)}} for each in partitions]
    if right.operation in ("GetItem", "BatchGetItem", "Query", "Scan"):
        return _read(site.outputs["TableName"], right, places, more)
    return _write(site.outputs["TableName"], right, places[0], more)


def _read(table: str, right: Right | Scan, places: Sequence[Mapping[str, Any]], more: Mapping[str, Any]) -> Request:
    some: dict[str, Any] = dict(more)
    if right.attributes:
        some |= {"ProjectionExpression": "#name", "ExpressionAttributeNames": {"#name": right.attributes[0]}}
    place = {"TableName": table, **({"IndexName": right.index.name} if right.index else {})}
    match right.operation:
        case "GetItem":
            return Request("get_item", {**place, "Key": places[0], **some})
        case "BatchGetItem":
            return Request("batch_get_item", {"RequestItems": {table: {"Keys": places, **some}}})
        case "Scan":
            return Request("scan", {**place, "Limit": 1, **some})
    where = {"KeyConditionExpression": f"{key_names(right.index)[0]} = :partition"}
    values = {":partition": places[0][PARTITION_KEY]}
    return Request("query", {**place, **where, "ExpressionAttributeValues": values, **some})


def _write(table: str, right: Right | Scan, key: Mapping[str, Any], more: Mapping[str, Any]) -> Request:
    names = {"#name": right.attributes[0] if right.attributes else PROBED}
    if_there = {"TableName": table, "ConditionExpression": f"attribute_exists({PARTITION_KEY})", **more}
    match right.operation:
        case "ConditionCheckItem":
            check = {"ConditionExpression": "attribute_exists(#name)", "ExpressionAttributeNames": names}
            part = {"ConditionCheck": {"TableName": table, "Key": key, **check}}
            return Request("transact_write_items", {"TransactItems": [part]})
        case "PutItem":
            return Request("put_item", {"Item": {**key, names["#name"]: {"S": "probe"}}, **if_there})
        case "UpdateItem":
            change = {"UpdateExpression": "SET #name = :probe", "ExpressionAttributeNames": names}
            values = {"ExpressionAttributeValues": {":probe": {"S": "probe"}}}
            return Request("update_item", {"Key": key, **change, **values, **if_there})
        case "DeleteItem":
            return Request("delete_item", {"Key": key, **if_there})
        case "BatchWriteItem":
            return Request("batch_write_item", {"RequestItems": {table: [{"DeleteRequest": {"Key": key}}]}})
        case "PartiQLInsert":
            item = {**key, TTL_ATTRIBUTE: {"N": str(int((times.now() + timedelta(hours=1)).timestamp()))}}
            statement = f'INSERT INTO "{table}" VALUE {{{", ".join(f"{name!r}: ?" for name in item)}}}'
            asked = {"Statement": statement, "Parameters": [*item.values()]}
            return Request("batch_execute_statement", {"Statements": [asked]})
    raise ValueError(f"no request is made of {right.operation}")


def _sort_key(site: Deployed) -> str:
    """The sort key of this run's items: no other item has it, in whatever partition."""
    return keys.scratch("probe", site.run)


class Asked(NamedTuple):
    """A question: its name, a role's rights, the request, and whether it must be allowed."""

    called: str
    statement: Any
    request: Request
    allowed: bool


def _decide(site: Deployed, *questions: Asked) -> str:
    """Ask each question as a role with no more than its rights. Raises Fails with the wrong answers."""
    table = _table(site)
    whole = policy(allow(_OPERATIONS, [table, f"{table}/index/*"]))
    with roles(site, {"probe": [whole]}) as made:
        arn = made["probe"]
        anything = request(site, Right("Query", (_mine(site),)), _mine(site))
        # IAM knows a new role after some seconds; only then does a refusal mean anything.
        everything = session(site, arn)
        if not proofs.wait(30, lambda: anything.is_allowed(everything)):
            raise NotAsked("the new role is refused what it is allowed")
        wrong = [
            f"{each.called}: {'refused' if each.allowed else 'allowed'}"
            for each in questions
            if each.request.is_allowed(session(site, arn, policy(each.statement))) != each.allowed
        ]
        _forget(site, _mine(site), _others(site))
    if wrong:
        raise Fails("; ".join(wrong))
    return f"{len(questions)} requests: {', '.join(each.called for each in questions)}"


def _table(site: Deployed) -> str:
    described = site.client("dynamodb").describe_table(TableName=site.outputs["TableName"])
    return str(described["Table"]["TableArn"])


def _mine(site: Deployed) -> str:
    return keys.scratch("probe", site.run)


def _others(site: Deployed) -> str:
    return keys.scratch("probe", f"{site.run}-others")


def _forget(site: Deployed, *partitions: str) -> None:
    """Remove what PartiQL's INSERT may have written."""
    for each in partitions:
        where = {PARTITION_KEY: {"S": each}, SORT_KEY: {"S": _sort_key(site)}}
        site.client("dynamodb").delete_item(TableName=site.outputs["TableName"], Key=where)


def _both(site: Deployed, right: Right, called: str) -> Iterator[Asked]:
    """A right to a partition allows the partition's key, and refuses another."""
    table = _table(site)
    where = f"{table}/index/{right.index.name}" if right.index else table
    statement = allow([right.operation], [where], right.conditions)
    yield Asked(f"{called}'s own key", statement, request(site, right, *right.partitions), allowed=True)
    yield Asked(f"{called}'s other key", statement, request(site, right, _others(site)), allowed=False)


def keys_of_indexes(site: Deployed) -> str:
    """A role that may query one partition of an index can query that one and no other."""
    places: tuple[Index | None, ...] = (None, *INDEXES)
    rights = {each.name if each else "the table": Right("Query", (_mine(site),), each) for each in places}
    return _decide(site, *(each for called, right in rights.items() for each in _both(site, right, called)))


def without_keys(site: Deployed) -> str:
    """A scan has no keys: ``ForAllValues`` alone allows it, and ``Null`` refuses it."""
    table, scan = _table(site), request(site, Scan((PROBED,)))
    both = dict(Right("Query", (_mine(site),)).conditions)
    alone = {name: each for name, each in both.items() if name != "Null"}
    return _decide(
        site,
        Asked("a scan under ForAllValues", allow(["Scan"], [table], alone), scan, allowed=True),
        Asked("a scan under Null", allow(["Scan"], [table], both), scan, allowed=False),
    )


def operations(site: Deployed) -> str:
    """Batches, checks of transactions and PartiQL's INSERT are authorized by operation and by every key."""
    mine, table = _mine(site), _table(site)
    rights = [Right(each, (mine,)) for each in ("BatchGetItem", "ConditionCheckItem", "UpdateItem", "PartiQLInsert")]
    batch = rights[0]
    one_too_many = request(site, batch, mine, _others(site))
    return _decide(
        site,
        *(each for right in rights for each in _both(site, right, right.operation)),
        Asked("a batch of both", allow(["BatchGetItem"], [table], batch.conditions), one_too_many, allowed=False),
    )


def writes(site: Deployed) -> str:
    """A role that may write some attributes can write only those, and can't get the previous item back."""
    some = Right("UpdateItem", (_mine(site),), attributes=(PROBED,))
    other = Right("UpdateItem", (_mine(site),), attributes=("Link",))
    statement = allow(["UpdateItem"], [_table(site)], some.conditions)
    returned = request(site, some, *some.partitions, ReturnValues="ALL_OLD")
    return _decide(
        site,
        Asked("its attribute", statement, request(site, some, *some.partitions), allowed=True),
        Asked("another attribute", statement, request(site, other, *other.partitions), allowed=False),
        Asked("the item returned", statement, returned, allowed=False),
    )


def returned(site: Deployed) -> str:
    """A role that may write some attributes can send our writes, which return the item if their condition fails."""
    right = Right("UpdateItem", (_mine(site),), attributes=(PROBED,))
    asked = request(site, right, *right.partitions, ReturnValuesOnConditionCheckFailure="ALL_OLD")
    statement = allow(["UpdateItem"], [_table(site)], right.conditions)
    return _decide(site, Asked("a write that returns what its condition met", statement, asked, allowed=True))


def projections(site: Deployed) -> str:
    """A role that may read some attributes can project only those, in the table and an index, and no whole items."""
    return _decide(site, *(asked for index in (None, INDEXES[0]) for asked in _projected(site, index)))


def _projected(site: Deployed, index: Index | None) -> Iterator[Asked]:
    table, called, mine = _table(site), index.name if index else "the table", _mine(site)
    some = Right("Query", (mine,), index, attributes=(PROBED,))
    statement = allow(["Query"], [f"{table}/index/{index.name}" if index else table], some.conditions)
    for what, right, more, allowed in (
        ("its attribute", some, {}, True),
        ("another attribute", Right("Query", (mine,), index, attributes=("Email",)), {}, False),
        ("whole items", Right("Query", (mine,), index), {}, False),
        ("Select=ALL_ATTRIBUTES", Right("Query", (mine,), index), {"Select": "ALL_ATTRIBUTES"}, False),
    ):
        yield Asked(f"{called}'s {what}", statement, request(site, right, mine, **more), allowed=allowed)


def rights_of_functions(site: Deployed) -> str:
    """Each function's deployed policies allow each request that its rights are for, and refuse it on another key.

    Only Lambda can assume a function's role, so the requests are sent as a copy of it: a role with the same policies.
    """
    rows = {row.name: row.access_at(site.stage) for row in of_stage(site.stage) if row.access}
    policies = _deployed(site)
    if missing := sorted({*rows} - {*policies}):
        raise NotAsked(f"the stack has no function {', '.join(missing)}")
    wrong, sent = [], Counter[str]()
    with roles(site, {name: policies[name] for name in rows}) as made:
        for name, access in rows.items():
            client = session(site, made[name])
            first = _usual(site, access[0])
            if not proofs.wait(30, lambda first=first, client=client: first.is_allowed(client)):  # type: ignore[misc]
                wrong.append(f"{name}: {access[0].operation} refused")
            for right in access:
                sent["allowed"] += 1
                if not _usual(site, right).is_allowed(client):
                    wrong.append(f"{name}: {right.operation} of {_of(right)} refused")
            for right in {(each.operation, each.index): each for each in access if isinstance(each, Right)}.values():
                sent["refused"] += 1
                by_partition = not (site.stage.rights_by_index and right.index)
                if by_partition and request(site, right, _nobodys(site)).is_allowed(client):
                    wrong.append(f"{name}: {right.operation} of any key allowed")
            inserts = [each for each in access if isinstance(each, Right) and each.operation == "PartiQLInsert"]
            _forget(site, *(_partition(site, each) for each in inserts), *([_nobodys(site)] if inserts else []))
    if wrong:
        raise Fails("; ".join(wrong))
    return f"{len(rows)} functions: {sent['allowed']} requests are allowed, {sent['refused']} with another key refused"


def _nobodys(site: Deployed) -> str:
    """A partition that no right names."""
    return f"PROBE-{site.run}"


def _partition(site: Deployed, right: Right) -> str:
    """A partition that a right is for."""
    return right.partitions[0].replace("*", site.run)


def _usual(site: Deployed, right: Right | Scan) -> Request:
    """A request that a right is for, about an item that doesn't exist."""
    return request(site, right, *([_partition(site, right)] if isinstance(right, Right) else []))


def _of(right: Right | Scan) -> str:
    place = f" in {right.index.name}" if right.index else ""
    return f"{' '.join(right.partitions) if isinstance(right, Right) else 'all keys'}{place}"


def _deployed(site: Deployed) -> dict[str, list[str]]:
    """The policies of the stack's functions, by the functions' names."""
    functions, iam, found = site.client("lambda"), site.client("iam", config=PATIENT), dict[str, list[str]]()
    for page in functions.get_paginator("list_functions").paginate():
        for each in page["Functions"]:
            variables = each.get("Environment", {}).get("Variables", {})
            if variables.get("TABLE_NAME") == site.outputs["TableName"]:
                role = each["Role"].rpartition("/")[2]
                found[variables["POWERTOOLS_SERVICE_NAME"]] = _policies(iam, role)
    return found


def _policies(iam: Any, role: str) -> list[str]:
    """A role's own policies. Lambda's functions have no others."""
    names = iam.list_role_policies(RoleName=role)["PolicyNames"]
    documents = (iam.get_role_policy(RoleName=role, PolicyName=each)["PolicyDocument"] for each in names)
    return [policy(*each["Statement"]) for each in documents]


_NO_KEYS = "MiniStack passes no keys to IAM"
_NO_ATTRIBUTES = "MiniStack passes attributes to IAM only for some requests"

PROOFS = {
    "keys": Proof(keys_of_indexes, 40, _NO_KEYS, blind=True, tidy=remove_all),
    "nokeys": Proof(without_keys, 40, _NO_KEYS, blind=True),
    "operations": Proof(operations, 40, _NO_KEYS, blind=True),
    "writes": Proof(writes, 40, _NO_ATTRIBUTES, blind=True),
    "returned": Proof(returned, 40, _NO_ATTRIBUTES, blind=True),
    "projections": Proof(projections, 40, _NO_ATTRIBUTES, blind=True),
    "rights": Proof(rights_of_functions, 180, _NO_KEYS, blind=True),
}
