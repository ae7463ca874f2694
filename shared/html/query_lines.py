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
