"""Pattern 26, by the clock: deals whose offer has ended leave the feeds.

A listed deal that will end has a note under the day it ends (written with the deal, in ``deals.py``). The sweep follows
the notes that are due, so its cost grows with the deals that end and not with those that exist.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import date, datetime, timedelta

from shared.data import keys
from shared.data.catalog import deals
from shared.dynamodb.table import Table
from shared.dynamodb.writes import forget, put
from shared.errors import NoSuchDeal, NotSeeded
from shared.models import Period

SETTLING = timedelta(hours=1)
"""How long after a day a sweep still looks at it: a note decided on before midnight may be written after it."""


def sweep(table: Table, now: datetime, *, most: int = 500) -> int:
    """Take the deals that have ended by a time out of the feeds, ``most`` of them; returns how many it looked at.

    Deals beyond ``most`` are for the next sweep; an interrupted sweep is repeated without harm.
    """
    today = Period.DAY.start_of(now)
    settled = Period.DAY.start_of(now - SETTLING)
    progress = table.get(keys.endings(), consistent=True)
    if progress is None:
        raise NotSeeded
    day = progress["SweptBefore"]
    swept = 0
    while day <= today:
        partition, bound = keys.endings_until(day, now)
        for note in list(table.query(partition, until=bound, limit=most - swept, consistent=True)):
            _follow(table, note, now)
            swept += 1
        if swept >= most:
            return swept
        day = (date.fromisoformat(day) + timedelta(days=1)).isoformat()
        if day <= settled:
            _remember(table, day)
    return swept


def _follow(table: Table, note: dict[str, str], now: datetime) -> None:
    with suppress(NoSuchDeal):  # a note outlives a deal that was removed by hand
        deals.relist(table, note["DealId"], now)
    table.write(forget(keys.primary(note), because="relisting mostly removed it; a stale note goes here"))


def _remember(table: Table, day: str) -> None:
    item = {**keys.endings(), "Type": "Endings", "SweptBefore": day}
    table.write(put(item, because="sweeps only move forward, and one too early is only repeated work"))
