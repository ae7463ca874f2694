"""How often readers have followed a deal to its shop: a counter in a partition of its own.

A role is cut to partitions, so the function that counts can write no deal. And the clicks on a deal that many follow
take nothing from those who read it.

Clicks on a deal from one network (an IPv4 address, a /64) count once in an hour of the clock. Who share an address,
as in an office, count as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from shared import settings
from shared.data import keys
from shared.dynamodb import damage
from shared.dynamodb.schema import TTL_ATTRIBUTE
from shared.dynamodb.table import Table
from shared.dynamodb.writes import Write, put_new, update
from shared.errors import DealsError
from shared.values import links

HOUR = 3600  # seconds


class _Repeated(DealsError):
    """A click on the deal from the same network is counted in this hour."""


def is_first(table: Table, deal_id: str, address: str, now: datetime) -> bool:
    """Whether a click is the first on a deal from an address's network in an hour; it is noted, the others are not.

    The note goes before the count, not with it in a transaction: that would cost twice as much, and readers who click
    on one deal at once would refuse each other. Where the count then fails, a click is lost.

    The note is under a hash: it holds no address. The hash is keyed with the table's name, so the notes don't show
    anything who does not know it, and those of two stages cannot be compared. It is no secret: who knows the name and
    reads the table, which no function's role may do here, could try all addresses until TTL has deleted the note.
    """
    try:
        table.write(noting(table.name, deal_id, address, now))
    except _Repeated:
        return False
    return True


def noting(salt: str, deal_id: str, address: str, now: datetime) -> Write:
    """The write that notes a click, refused where one is noted. The hour is in the key: no late TTL counts."""
    hour = int(now.timestamp()) // HOUR
    network = links.networks_around(address, settings.IPV6_WIDTHS)[0]
    note = {
        **keys.counted_click(salt, network, deal_id, hour),
        "Type": keys.COUNTED_CLICK,
        TTL_ATTRIBUTE: (hour + 1) * HOUR,
    }
    return put_new(note, refused=_Repeated())


def count(table: Table, deal_id: str) -> None:
    """Count one click. A retry after a lost answer may count it twice, which does no harm."""
    table.write(
        update(
            keys.clicks(deal_id),
            "SET #type = :type ADD Clicks :one",
            condition=None,
            names={"#type": "Type"},
            values={":type": keys.CLICKS, ":one": 1},
            refused=None,
        )
    )


def of(table: Table, deal_ids: Sequence[str]) -> dict[str, int]:
    """The clicks of some deals, by id; 0 for those without clicks. BatchGetItem, 100 a request."""
    wanted = {keys.clicks(deal_id)["PK"]: deal_id for deal_id in deal_ids}
    items = table.get_many([keys.clicks(i) for i in deal_ids])
    found = damage.readable(items, lambda item: (wanted[item["PK"]], damage.attribute(item, "Clicks", int)))
    return dict.fromkeys(deal_ids, 0) | dict(found)
