"""An item collection in the words of three tools, to copy: the AWS CLI, boto3 and our own command line."""

from __future__ import annotations

import json
import shlex
from typing import Any

from shared.dynamodb.schema import Index, key_names


def of(
    table: str, partition: str, index: Index | None, beginning: str = "", *, backward: bool = False
) -> list[dict[str, Any]]:
    """The tools, each with its name and its lines. All of them read 1 MB at most, or on from page to page."""
    return [
        {"name": "AWS CLI", "text": _aws(table, partition, index, beginning, backward)},
        {"name": "boto3", "text": _boto3(table, partition, index, beginning, backward)},
        {"name": "btd", "text": _btd(partition, index, beginning, backward)},
    ]


def _aws(table: str, partition: str, index: Index | None, beginning: str, backward: bool) -> str:
    partition_key, sort_key = key_names(index)
    condition, values = f"{partition_key} = :pk", {":pk": {"S": partition}}
    if beginning:
        condition, values = f"{condition} AND begins_with({sort_key}, :sk)", values | {":sk": {"S": beginning}}
    words = [f"aws dynamodb query --table-name {shlex.quote(table)}"]
    words += [f"--index-name {index.name}"] if index else []
    words += [
        f"--key-condition-expression {shlex.quote(condition)}",
        f"--expression-attribute-values {shlex.quote(json.dumps(values, ensure_ascii=False))}",
    ]
    words += ["--no-scan-index-forward"] if backward else []
    return " \\\n  ".join(words)


def _boto3(table: str, partition: str, index: Index | None, beginning: str, backward: bool) -> str:
    partition_key, sort_key = key_names(index)
    condition = f"Key({partition_key!r}).eq({partition!r})"
    if beginning:
        condition += f" & Key({sort_key!r}).begins_with({beginning!r})"
    arguments = [f"IndexName={index.name!r}"] if index else []
    arguments += [f"KeyConditionExpression={condition}"]
    arguments += ["ScanIndexForward=False"] if backward else []
    asked = "".join(f"    {each},\n" for each in arguments)
    return (
        "import boto3\nfrom boto3.dynamodb.conditions import Key\n\n"
        f"table = boto3.resource('dynamodb').Table({table!r})\nitems = table.query(\n{asked})['Items']"
    )


def _btd(partition: str, index: Index | None, beginning: str, backward: bool) -> str:
    words = [f"btd query {shlex.quote(partition)}"]
    words += [f"--index {index.name}"] if index else []
    words += [f"--begins-with {shlex.quote(beginning)}"] if beginning else []
    return " ".join([*words, *(["--backward"] if backward else [])])
