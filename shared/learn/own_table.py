"""The textbook's own table, with an index whose keys have several attributes, and what was recorded of it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from shared.dynamodb.schema import PARTITION_KEY, SORT_KEY


@cache
def recorded() -> Mapping[str, Any]:
    """A table with an index whose keys have several attributes, its items, and what Queries of the index found."""
    return tomllib.loads(Path(__file__).with_name("multi-attribute.toml").read_text(encoding="utf-8"))


def table_request(name: str) -> dict[str, Any]:
    """The arguments of ``create_table`` for the recorded table."""
    kept = recorded()
    keys = [*((each, "HASH") for each in kept["partition"]), *((each, "RANGE") for each in kept["sort"])]
    index = {
        "IndexName": kept["index"],
        "KeySchema": [{"AttributeName": each, "KeyType": kind} for each, kind in keys],
        "Projection": {"ProjectionType": "ALL"},
    }
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": n, "AttributeType": kind} for n, kind in kept["types"].items()],
        "KeySchema": [
            {"AttributeName": PARTITION_KEY, "KeyType": "HASH"}, {"AttributeName": SORT_KEY, "KeyType": "RANGE"},
        ],
        "GlobalSecondaryIndexes": [index],
    }  # fmt: skip
