"""AWS's rules for requests: what AWS refuses is refused here, in its words, and nothing else is."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from features.scratch import grammar
from features.scratch.expressions import reserved
from features.scratch.running import wire
from shared.dynamodb.table import Table
from tests.support.engines import DYNAMODB_LOCAL_ENGINE

KEY = {"PK": "p", "SK": "s"}
P, S = {":p": "p"}, {":p": "p", ":s": "s"}


def query(condition: str, values: dict[str, Any], **more: Any) -> tuple[str, dict[str, Any]]:
    return "Query", {"KeyConditionExpression": condition, "ExpressionAttributeValues": values, **more}


def update(expression: str, values: dict[str, Any] | None = None, **more: Any) -> tuple[str, dict[str, Any]]:
    given = {"ExpressionAttributeValues": values} if values else {}
    return "UpdateItem", {"Key": KEY, "UpdateExpression": expression, **given, **more}


REFUSED = {
    "a filter on the key": (
        query("PK = :p", S, FilterExpression="SK = :s"),
        "Filter Expression can only contain non-primary key attributes: Primary key attribute: SK",
    ),
    "contains of a key": (
        query("PK = :p AND contains(SK, :s)", S),
        "Invalid operator used in KeyConditionExpression: contains",
    ),
    "OR of keys": (query("PK = :p OR SK = :s", S), "Invalid operator used in KeyConditionExpression: OR"),
    "a range of partitions": (query("PK > :p", P), "Query key condition not supported"),
    "no partition": (query("SK = :p", P), "Query condition missed key schema element: PK"),
    "the table's key of an index": (
        query("PK = :p", P, IndexName="GSI1"),
        "Query condition missed key schema element: GSI1PK",
    ),
    "one key twice": (
        query("PK = :p AND SK > :s AND SK < :t", {**S, ":t": "t"}),
        "KeyConditionExpressions must only contain one condition per key",
    ),
    "a number for a key": (query("PK = :p", {":p": 7}), "Condition parameter type does not match schema type"),
    "two writes in one part of a transaction": (
        ("TransactWriteItems", {"TransactItems": [{"Put": {"Item": KEY}, "Delete": {"Key": KEY}}]}),
        "TransactItems can only contain one of Check, Put, Update or Delete",
    ),
    "bounds in the wrong order": (
        query("PK = :p AND SK BETWEEN :b AND :a", {**P, ":a": "a", ":b": "b"}),
        "The BETWEEN operator requires upper bound to be greater than or equal to lower bound",
    ),
    "one path twice": (
        update("SET Likes = :n, Likes = :m", {":n": 1, ":m": 2}),
        (
            "Two document paths overlap with each other; must remove or rewrite one of these paths; "
            "path one: [Likes], path two: [Likes]"
        ),
    ),
    "a path and a part of it": (update("SET A = :n REMOVE A.B", {":n": 1}), "Two document paths overlap"),
    "three operands": (
        update("SET A = A + :n + :m", {":n": 1, ":m": 2}),
        'Invalid UpdateExpression: Syntax error; token: "+", near: ":n + :m"',
    ),
    "a clause twice": (
        update("SET A = :n SET B = :m", {":n": 1, ":m": 2}),
        'The "SET" section can only be used once in an update expression;',
    ),
    "a comma before a clause": (update("SET A = :n, REMOVE B", {":n": 1}), "Syntax error"),
    "a key updated": (
        update("SET SK = :s", {":s": "s"}),
        "Cannot update attribute SK. This attribute is part of the key",
    ),
    "an index's key updated to another type": (
        update("SET GSI1SK = :no", {":no": False}),
        "The update expression attempted to update the secondary index key to unsupported type",
    ),
    "a number added to an index's key": (update("ADD GSI1SK :n", {":n": 1}), "to unsupported type"),
    "an index's key updated to a sum": (update("SET GSI1SK = A + :n", {":n": 1}), "to unsupported type"),
    "an index's key updated to nothing": (
        update("SET GSI1SK = :s", {":s": ""}),
        "attempted to update a secondary index key to a value that is not supported. The AttributeValue for a key",
    ),
    "an index's key updated to a long text": (
        update("SET GSI1SK = :s", {":s": "s" * 1025}),
        "attempted to update the secondary index key beyond allowed size limits",
    ),
    "a text added": (
        update("ADD Likes :s", {":s": "s"}),
        "Incorrect operand type for operator or function; operator: ADD, operand type: STRING",
    ),
    "a function in capitals": (
        update("SET A = :n", {":n": 1}, ConditionExpression="ATTRIBUTE_NOT_EXISTS(PK)"),
        "Invalid function name; function: ATTRIBUTE_NOT_EXISTS",
    ),
    "a function of conditions in an update": (
        update("SET A = size(B)"),
        "The function is not allowed in an update expression; function: size",
    ),
    "a reserved word": (
        query("PK = :p", P, ProjectionExpression="Name"),
        "Attribute name is a reserved keyword; reserved keyword: Name",
    ),
    "an unknown name": (query("#k = :p", P), "attribute name: #k"),
    "an unknown value": (query("PK = :p AND SK = :s", P), "attribute value: :s"),
    "an unused value": (
        query("PK = :p", S),
        "Value provided in ExpressionAttributeValues unused in expressions: keys: {:s}",
    ),
    "an unused name": (
        query("PK = :p", P, ExpressionAttributeNames={"#k": "SK"}),
        "Value provided in ExpressionAttributeNames unused in expressions: keys: {#k}",
    ),
    "values without an expression": (
        ("GetItem", {"Key": KEY, "ExpressionAttributeNames": {"#k": "SK"}}),
        "ExpressionAttributeNames can only be specified when using expressions",
    ),
    "parentheses twice": (
        query("PK = :p", S, FilterExpression="((A = :s))"),
        "The expression has redundant parentheses;",
    ),
    "an operand compared with itself": (
        query("PK = :p", P, FilterExpression="A = A"),
        (
            "The first operand must be distinct from the remaining operands for this operator or function; "
            "operator: =, first operand: [A]"
        ),
    ),
    "a comparison without an order": (
        query("PK = :p", {**P, ":t": True}, FilterExpression="A > :t"),
        "Incorrect operand type for operator or function",
    ),
    "a function that is no condition": (
        query("PK = :p", P, FilterExpression="size(A)"),
        "The function is not allowed to be used this way in an expression; function: size",
    ),
    "an empty expression": (query("PK = :p", P, FilterExpression=" "), "The expression can not be empty;"),
    "a long expression": (
        query("PK = :p", P, FilterExpression="attribute_exists(A)" + " OR attribute_exists(A)" * 200),
        "Expression size has exceeded the maximum allowed size",
    ),
    "more than a hundred members": (
        query("PK = :p", P, FilterExpression=f"A IN ({', '.join([':p'] * 101)})"),
        "The IN operator is provided with too many operands; number of operands: 101",
    ),
    "more than three hundred operators": (
        query("PK = :p", P, FilterExpression="A = :p" + " OR A = :p" * 150),
        "The expression contains too many operators; operator count: 301",
    ),
    "a deep path": (
        query("PK = :p", P, ProjectionExpression="A" + ".B" * 32),
        "The document path has too many nesting levels; nesting levels: 33",
    ),
    "a name that begins with a low line": (query("PK = :p", P, ProjectionExpression="_A"), 'token: "_"'),
    "a long placeholder": (
        query("PK = :p", P, ExpressionAttributeNames={"#" + "n" * 255: "SK"}),
        "ExpressionAttributeNames contains invalid key: The expression attribute map contains a key that is too long;",
    ),
    "a range that begins with a long sort key": (
        query("PK = :p AND SK > :s", {**P, ":s": "s" * 1025}),
        "Aggregated size of all range keys has exceeded the size limit of 1024 bytes",
    ),
    "a long sort key of an index": (
        ("PutItem", {"Item": {**KEY, "GSI1PK": "p", "GSI1SK": "s" * 1025}}),
        "Size of GSI1SK has exceeded the maximum size limit of 1024 bytes",
    ),
    "no items": (query("PK = :p", P, Limit=0), "Value '0' at 'limit' failed to satisfy constraint"),
    "a consistent read of an index": (
        query("GSI1PK = :p", P, IndexName="GSI1", ConsistentRead=True),
        "Consistent reads are not supported on global secondary indexes",
    ),
    "a number as a key": (
        ("PutItem", {"Item": {"PK": "p", "SK": 7}}),
        "Type mismatch for key SK expected: S actual: N",
    ),
    "an empty key": (("PutItem", {"Item": {"PK": "p", "SK": ""}}), "cannot contain an empty string value. Key: SK"),
    "a long key": (("GetItem", {"Key": {"PK": "p", "SK": "s" * 1025}}), "maximum size limit of 1024 bytes"),
    "a part of a transaction": (
        ("TransactWriteItems", {"TransactItems": [{"Update": {"Key": KEY, "UpdateExpression": "SET A = B + C + D"}}]}),
        "Syntax error",
    ),
}

TAKEN = {
    "keys in parentheses": query("(PK = :p) AND (begins_with(SK, :s))", S),
    "keys in any order, words in any case": query("SK between :s and :t and PK = :p", {**S, ":t": "t"}),
    "a filter on the table's key in an index": query("GSI1PK = :p", S, IndexName="GSI1", FilterExpression="SK = :s"),
    "a key behind its value": query(":p = PK AND :s < SK", S),
    "a hundred members": query("PK = :p", P, FilterExpression=f"A IN ({', '.join([':p'] * 100)})"),
    "three hundred operators": query("PK = :p", P, FilterExpression="NOT A = :p" + " OR A BETWEEN :p AND :p" * 149),
    "two hundred sums, whose = is no operator": update(
        f"SET {', '.join(f'A{n} = B + :n' for n in range(200))}", {":n": 1}
    ),
    "a path of 32 names": query("PK = :p", P, ProjectionExpression="A" + ".B" * 31),
    "a size": query("PK = :p", {**P, ":n": 3}, FilterExpression="NOT size(Tags) >= :n"),
    "a sum of what may be missing": update("SET A = if_not_exists(A, :zero) + :n", {":zero": 0, ":n": 1}),
    "all clauses": update("SET A = :n REMOVE B, C[0] ADD D :n DELETE E :set", {":n": 1, ":set": {"x"}}),
    "a reserved word behind a name": query(
        "PK = :p", P, ProjectionExpression="#n", ExpressionAttributeNames={"#n": "Name"}
    ),
    "an index's key updated to a text, copied, or removed": update(
        "SET GSI1PK = :s, GSI1SK = if_not_exists(A, :n) REMOVE GSI2SK", {":s": "s", ":n": 1}
    ),
    "an update without an expression": ("UpdateItem", {"Key": KEY}),
}


@pytest.mark.parametrize(("request_", "message"), REFUSED.values(), ids=REFUSED)
def test_what_aws_refuses_is_refused_in_its_words(request_: tuple[str, dict[str, Any]], message: str) -> None:
    assert message in grammar.refusal(*request_)


@pytest.mark.parametrize("request_", TAKEN.values(), ids=TAKEN)
def test_what_aws_takes_is_taken(request_: tuple[str, dict[str, Any]]) -> None:
    assert grammar.refusal(*request_) == ""


def test_the_reserved_words_are_all_there() -> None:
    assert len(reserved()) == 573
    assert {"NAME", "STATUS", "TTL", "YEAR"} <= reserved()


# Requests made at random, of which some are wrong.

PATHS = ("A", "B", "A", "L[0]", "M.x", "#n", "PK", "SK", "Name", "A.B", "#gone")
VALUES = {":s": "s", ":t": "t", ":n": 7, ":m": 8, ":yes": True, ":list": ["x"], ":set": {"x"}}
DEFINED = {"#n": "Name"}


class Author:
    """Writes expressions at random."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)

    def one(self, *of: str) -> str:
        return self.dice.choice(of)

    def path(self) -> str:
        return self.one(*PATHS[:6]) if self.dice.random() < 0.85 else self.one(*PATHS)

    def value(self) -> str:
        return self.one(":s", ":n", ":t", ":m") if self.dice.random() < 0.85 else self.one(*VALUES, ":gone")

    def operand(self) -> str:
        return self.one(self.path(), self.value(), self.value(), f"size({self.path()})")

    def condition(self, depth: int = 2) -> str:
        if depth and self.dice.random() < 0.4:
            inner = self.condition(depth - 1), self.condition(depth - 1)
            return self.one(
                f"{inner[0]} AND {inner[1]}", f"({inner[0]}) OR {inner[1]}", f"NOT {inner[0]}", f"({inner[0]})"
            )
        path, value = self.path(), self.value()
        return self.one(
            f"{path} {self.one('=', '<>', '<', '<=', '>', '>=')} {self.operand()}",
            f"{path} BETWEEN {value} AND {self.value()}",
            f"{path} IN ({value}, {self.value()})",
            f"attribute_exists({path})",
            f"attribute_not_exists({path})",
            f"begins_with({path}, {value})",
            f"contains({path}, {value})",
            f"size({path}) > {value}",
            f"Contains({path}, {value})",
            f"{path}",
        )

    def key_condition(self) -> str:
        partition = self.one("PK = :s", "PK = :s", "PK = :s", "PK > :s", "PK = :n", "GSI1PK = :s", ":s = PK")
        sort = self.one("SK = :t", "SK > :t", "begins_with(SK, :t)", "SK BETWEEN :s AND :t", "SK BETWEEN :t AND :s")
        sort = sort if self.dice.random() < 0.7 else self.one("contains(SK, :t)", "SK <> :t", "SK IN (:t)", "A = :t")
        return self.one(partition, f"{partition} AND {sort}", f"{partition} AND {sort}", f"({sort}) and {partition}")

    def update(self) -> str:
        clauses: dict[str, Callable[[], str]] = {
            "SET": lambda: f"{self.path()} = {self.made()}",
            "REMOVE": self.path,
            "ADD": lambda: f"{self.path()} {self.value()}",
            "DELETE": lambda: f"{self.path()} {self.one(':set', ':set', self.value())}",
        }
        chosen = self.dice.sample([*clauses], self.dice.randint(1, 2))
        chosen += [chosen[0]] * (self.dice.random() < 0.1)
        return " ".join(
            f"{name} {', '.join(clauses[name]() for _ in range(self.dice.randint(1, 2)))}" for name in chosen
        )

    def made(self) -> str:
        path, value = self.path(), self.value()
        return self.one(
            value,
            value,
            f"{path} + {value}",
            f"if_not_exists({path}, {value}) + :n",
            f"list_append({path}, :list)",
            f"{path} - {value} + :n",
            f"size({path})",
        )

    def request(self) -> tuple[str, dict[str, Any]]:
        kind = self.one("Query", "Query", "UpdateItem", "UpdateItem", "PutItem", "GetItem", "DeleteItem")
        made: dict[str, Any] = {"Item": {**KEY}} if kind == "PutItem" else {"Key": KEY} if kind != "Query" else {}
        if kind == "Query":
            made["KeyConditionExpression"] = self.key_condition()
            if self.dice.random() < 0.6:
                made["FilterExpression"] = self.condition()
        elif kind == "UpdateItem":
            made["UpdateExpression"] = self.update()
        if kind in {"UpdateItem", "PutItem", "DeleteItem"} and self.dice.random() < 0.8:
            made["ConditionExpression"] = self.condition()
        if kind == "GetItem":
            made["ProjectionExpression"] = ", ".join(self.path() for _ in range(self.dice.randint(1, 3)))
        words = {*re.findall(r"[#:]\w+", " ".join(str(each) for name, each in made.items() if "Expression" in name))}
        for placeholders, known in (("ExpressionAttributeNames", DEFINED), ("ExpressionAttributeValues", VALUES)):
            given = {name: each for name, each in known.items() if name in words or self.dice.random() < 0.01}
            made |= {placeholders: given} if given and (kind != "GetItem" or known is DEFINED) else {}
        return kind, made


OF_AN_ITEM = (
    "The document path provided in the update expression is invalid for update",
    "The provided expression refers to an attribute that does not exist in the item",
    "An operand in the update expression has an incorrect data type",
)
"""Messages that say something of the item, not of the request."""


LOCAL_TAKES = {
    "Cannot update attribute": "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateItem.html",
}
"""What DynamoDB Local takes if a condition is false before it looks, with the page that says that DynamoDB does not."""


def requests(count: int, seed: int) -> Iterator[tuple[str, dict[str, Any]]]:
    author = Author(seed)
    for _ in range(count):
        yield author.request()


def taken_by(table: Table, operation: str, arguments: dict[str, Any]) -> str:
    """The message with which an engine refuses a request, or nothing."""
    send = getattr(table.client, re.sub(r"(?<!^)(?=[A-Z])", "_", operation).lower())
    try:
        send(**wire(table.name, operation, arguments))
    except ClientError as error:
        message = error.response["Error"].get("Message", "")
        refused = error.response["Error"]["Code"] == "ValidationException" and not message.startswith(OF_AN_ITEM)
        return message if refused else ""
    return ""


@pytest.mark.thorough
def test_three_hundred_requests_are_taken_or_refused_as_by_dynamodb_local() -> None:
    with DYNAMODB_LOCAL_ENGINE.table() as table:
        differing = []
        for operation, arguments in requests(300, seed=48):
            ours, theirs = grammar.refusal(operation, arguments), taken_by(table, operation, arguments)
            if bool(ours) != bool(theirs) and not any(each in ours for each in LOCAL_TAKES):
                differing.append((operation, arguments, ours, theirs))

    assert differing == []


def test_the_requests_made_at_random_are_some_right_and_some_wrong() -> None:
    refused = [bool(grammar.refusal(*each)) for each in requests(300, seed=48)]

    assert 90 < sum(refused) < 240
