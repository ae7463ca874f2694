"""The table's schema, from which the CDK stack and the tests' tables are made.

``docs/data-model.md`` describes names and key formats; ``keys.py`` writes the key values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

Key = dict[str, str]
"""Key attributes and values: an item's primary key, or its key in an index."""


class Index(NamedTuple):
    """A global secondary index. ``sort_key`` is None for an index without one, ``copies`` for one that copies all
    attributes; others copy these and all keys."""

    name: str
    partition_key: str
    sort_key: str | None
    copies: tuple[str, ...] | None = None


PARTITION_KEY = "PK"
SORT_KEY = "SK"
TTL_ATTRIBUTE = "ExpiresAt"
STREAM_VIEW = "NEW_AND_OLD_IMAGES"

GSI1 = Index("GSI1", "GSI1PK", "GSI1SK")
GSI2 = Index("GSI2", "GSI2PK", "GSI2SK")
GSI3 = Index("GSI3", "GSI3PK", "GSI3SK")
USER_INDEX = Index("UserIndex", "UserIndex", None)

INDEXES = (GSI1, GSI2, GSI3, USER_INDEX)
"""Every index projects all attributes, and every key attribute is a string."""

KEYS = (PARTITION_KEY, SORT_KEY, *(k for i in INDEXES for k in (i.partition_key, i.sort_key) if k))
"""The key attributes of the table and of all indexes."""

INDEX_KEYS = frozenset(KEYS[2:])
"""The key attributes of the indexes."""


def without_places(item: Mapping[str, Any]) -> dict[str, Any]:
    """An item without its index keys."""
    return {name: value for name, value in item.items() if name not in INDEX_KEYS}


def key_names(index: Index | None) -> tuple[str, str | None]:
    """The partition and sort key names of an index or, for None, of the table; the sort key may be None."""
    return (index.partition_key, index.sort_key) if index else (PARTITION_KEY, SORT_KEY)


def create_table_request(table_name: str) -> dict[str, object]:
    """The arguments of CreateTable: on demand, with a stream and all four indexes.

    CreateTable has no TTL: enable it on ``TTL_ATTRIBUTE`` afterwards.
    """
    return {
        "TableName": table_name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": key, "AttributeType": "S"} for key in KEYS],
        "KeySchema": _key_schema(PARTITION_KEY, SORT_KEY),
        "GlobalSecondaryIndexes": [
            {
                "IndexName": index.name,
                "KeySchema": _key_schema(index.partition_key, index.sort_key),
                "Projection": {"ProjectionType": "ALL"},
            }
            for index in INDEXES
        ],
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": STREAM_VIEW},
    }


def _key_schema(partition_key: str, sort_key: str | None) -> list[dict[str, str]]:
    schema = [{"AttributeName": partition_key, "KeyType": "HASH"}]
    if sort_key:
        schema.append({"AttributeName": sort_key, "KeyType": "RANGE"})
    return schema
