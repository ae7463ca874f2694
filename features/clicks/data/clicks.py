"""Count readers' clicks from a deal to its shop, in a partition of each deal's own.

The separate partition lets the counting function's role write no deal, and popular clicks take no capacity from reads
of the deal. Clicks on a deal from one network (an IPv4 address, a /64) count once an hour, so people who share an
address, as in an office, count as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from features.clicks.data import keys
from shared import settings
from shared.dynamodb import damage
from shared.dynamodb.schema import TTL_ATTRIBUTE
from shared.dynamodb.table import Table
from shared.dynamodb.writes import Write, put_new, upsert
from shared.errors import DealsError
from shared.values import links

HOUR = 3600  # seconds


class _Repeated(DealsError):
    """A click on the deal from the same network has been counted this hour."""


def is_first(table: Table, deal_id: str, address: str, now: datetime) -> bool:
    """Whether a click is the first on a deal from its network in this hour; the first one is noted.

    The note is written before the count, not with it: a transaction would cost twice as much, and simultaneous readers
    of a deal would conflict. If the count then fails, the click is lost.

    The key holds no address, only a hash keyed with the table's name, so notes of two stages can't be compared. The
    name is no secret: someone who knows it and can read the table (no function's role can read notes) could try all
    addresses until TTL deletes the note.
    """
    try:
        table.write(noting(table.name, deal_id, address, now))
    except _Repeated:
        return False
    return True


def noting(salt: str, deal_id: str, address: str, now: datetime) -> Write:
    """The write that notes a click, refused if one is noted. The key has the hour, so a late TTL doesn't matter."""
    hour = int(now.timestamp()) // HOUR
    network = links.networks_around(address, settings.IPV6_WIDTHS)[0]
    note = {
        **keys.counted_click(salt, network, deal_id, hour),
        "Type": keys.COUNTED_CLICK,
        TTL_ATTRIBUTE: (hour + 1) * HOUR,
    }
    return put_new(note, refused=_Repeated())


def count(table: Table, deal_id: str) -> None:
    """Count one click. A retry after a lost answer may count it twice, which is harmless."""
    table.write(
        upsert(keys.clicks(deal_id), {"Type": keys.CLICKS}, {"Clicks": 1}, because="the first click creates it")
    )


def of(table: Table, deal_ids: Sequence[str]) -> dict[str, int]:
    """The clicks on deals, by id; 0 for deals without any. BatchGetItem, 100 a request."""
    wanted = {keys.clicks(deal_id)["PK"]: deal_id for deal_id in deal_ids}
    items = table.get_many([keys.clicks(i) for i in deal_ids])
    found = damage.readable(items, lambda item: (wanted[item["PK"]], damage.attribute(item, "Clicks", int)))
    return dict.fromkeys(deal_ids, 0) | dict(found)
