"""How often readers have followed a deal to its shop: a counter in a partition of its own.

A role is cut to partitions, so the function that counts can write no deal. And the clicks on a deal that many follow
take nothing from those who read it.
"""

from __future__ import annotations

from collections.abc import Sequence

from shared.data import item_types, keys
from shared.dynamodb import damage
from shared.dynamodb.schema import TTL_ATTRIBUTE
from shared.dynamodb.table import Table
from shared.dynamodb.writes import update


def count(table: Table, deal_id: str) -> None:
    """Count one click. A retry after a lost answer may count it twice, which does no harm."""
    table.write(
        update(
            keys.clicks(deal_id),
            "SET #type = :type ADD Clicks :one",
            condition=None,
            names={"#type": "Type"},
            values={":type": item_types.CLICKS, ":one": 1},
            refused=None,
        )
    )


def of(table: Table, deal_ids: Sequence[str]) -> dict[str, int]:
    """The clicks of some deals, by id; 0 for those that nobody followed. BatchGetItem, 100 a request."""
    wanted = {keys.clicks(deal_id)["PK"]: deal_id for deal_id in deal_ids}
    items = table.get_many([keys.clicks(i) for i in deal_ids])
    found = damage.readable(items, lambda item: (wanted[item["PK"]], damage.attribute(item, "Clicks", int)))
    return dict.fromkeys(deal_ids, 0) | dict(found)
