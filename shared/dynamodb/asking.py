"""Requests that are put together elsewhere, with the refusal as it came.

The data layer never needs this: there a refusal means a domain error (``table.py``). Here it is what is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from botocore import xform_name
from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError
from botocore.validate import validate_parameters

from shared.dynamodb import aws_errors
from shared.dynamodb.attributes import Item, marshal_item, unmarshal_item, unmarshal_items
from shared.dynamodb.table import Table

SHOWN = aws_errors.REFUSED | aws_errors.INVALID | {"TransactionCanceledException"}
"""Codes of refusals that are an answer; every other error is trouble, as anywhere else."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a request: the items that came back, ``examined`` before a filter, and whether there are more.

    ``code`` and ``message`` are those of a refusal, as DynamoDB or boto3 worded them.
    """

    items: Sequence[Item] = ()
    examined: int = 0
    more: bool = False
    code: str = ""
    message: str = ""


def ask(table: Table, operation: str, arguments: Mapping[str, Any]) -> Reply:
    """Make a request whose values are plain Python values; the table's name is added.

    boto3 checks names of arguments before it sends anything. Clients here leave that out, so it is done here.
    Raises Busy, NoAnswer, Unavailable.
    """
    sent = wire(table.name, operation, arguments)
    shape = table.client.meta.service_model.operation_model(operation).input_shape
    try:
        validate_parameters(sent, cast("Any", shape))
    except ParamValidationError as error:
        return Reply(code="ParamValidationError", message=str(error))
    request = getattr(table.client, xform_name(operation))

    def once() -> Reply:
        try:
            return _read(table.name, request(**sent))
        except ClientError as error:
            code = error.response["Error"]["Code"]
            if code not in SHOWN:
                raise aws_errors.domain_error(error, "The table") from error
            return Reply(code=code, message=error.response["Error"].get("Message", ""))
        except BotoCoreError as error:
            raise aws_errors.domain_error(error, "The table") from error

    return table.retry(once, when=aws_errors.AGAIN)


def wire(name: str, operation: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as boto3's client takes them: values with their types, and the table's name."""
    match operation:
        case "BatchGetItem":
            return {"RequestItems": {name: {"Keys": [marshal_item(key) for key in arguments["Keys"]]}}}
        case "BatchWriteItem":
            return {"RequestItems": {name: [_each(write, _marshal_values) for write in arguments["Requests"]]}}
        case "TransactWriteItems" | "TransactGetItems":
            items = [_each(each, lambda asked: _typed(name, asked)) for each in arguments["TransactItems"]]
            return {**arguments, "TransactItems": items}
    return _typed(name, arguments)


def _each(write: Mapping[str, Any], typed: Callable[[Mapping[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """A part of a batch or a transaction: its kind, and what it asks, with typed values."""
    return {kind: typed(asked) for kind, asked in write.items()}


def _typed(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return _marshal_values({"TableName": name, **arguments})


def _marshal_values(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of a request with typed values in place of plain ones."""
    typed = {**arguments}
    for values in ("Item", "Key", "ExclusiveStartKey", "ExpressionAttributeValues"):
        if values in typed:
            typed[values] = marshal_item(typed[values])
    return typed


def _read(name: str, answer: Mapping[str, Any]) -> Reply:
    found = answer.get("Items", [])
    responses = answer.get("Responses")
    if isinstance(responses, list):  # of a transaction: an answer for each part
        found = [each["Item"] for each in responses if "Item" in each]
    elif responses is not None:
        found = responses.get(name, [])
    for one in ("Item", "Attributes"):
        if answer.get(one):
            return Reply([unmarshal_item(answer[one])], examined=1)
    return Reply(unmarshal_items(found), answer.get("ScannedCount", len(found)), bool(answer.get("LastEvaluatedKey")))
