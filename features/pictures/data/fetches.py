"""Fetches of pictures from other hosts: a queue in the table, with a time for each, in which hosts take turns.

A message can't wait for longer than fifteen minutes, and would make uploads of editors wait behind an import's
thousands. So the orders are items. Each minute the clock claims some of each host and sends them to the queue.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from features.pictures import keys
from features.pictures.fields import FETCHED, LastUpload
from features.pictures.models import Picture
from shared.dynamodb import damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import KEYS_ONLY, Table
from shared.dynamodb.writes import delete, forget, put
from shared.errors import DealsError
from shared.models.catalog import Deal, Status
from shared.values.times import from_iso, to_iso

if TYPE_CHECKING:
    from shared.services import Queue

OF_A_HOST = 10
"""Pictures that are fetched from one host in a minute."""

OF_ALL = 30
"""Pictures that are fetched in a minute: two resizers make as many, even of hosts that are slow."""

HOSTS_A_MINUTE = 30
"""Hosts whose fetches are read in a minute."""

PAUSES = (timedelta(minutes=15), timedelta(hours=1), timedelta(hours=4), timedelta(hours=16))
"""How long after an attempt the next one comes, if the first one's answer was no refusal."""

MOST_ATTEMPTS = len(PAUSES) + 1

_FROM = "0369cfilorux"
"""The hosts are read from one of these letters on, each minute from another, so that none is always last."""

_LATER = "a repeated order is the same item, and a host's picture may be fetched twice"


class _Claimed(DealsError):
    """Another run of the clock has claimed this fetch."""


@dataclass(frozen=True, slots=True)
class Fetch:
    """A scheduled fetch of the picture that a deal names at a host; ``attempts`` have begun."""

    host: str
    due_at: datetime
    deal_id: str
    ordered_at: datetime
    attempts: int = 0

    @property
    def is_last(self) -> bool:
        """Whether its present attempt is the last."""
        return self.attempts >= MOST_ATTEMPTS

    def to_json(self) -> str:
        """As a message of the queue of uploads."""
        return json.dumps({"fetch": _attributes(self)})

    @classmethod
    def from_json(cls, body: str) -> Fetch:
        """Read a message. Raises ValueError for another one."""
        try:
            return from_item(json.loads(body)["fetch"])
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"no fetch of a picture: {body[:200]}") from error


def is_wanted(deal: Deal, now: datetime) -> bool:
    """Whether the picture that a deal names is to be fetched: not for an ended deal, nor over an editor's own."""
    last = deal.own(LastUpload)
    is_free = deal.own(Picture) is None or (last is not None and last.upload_id == FETCHED)
    return bool(deal.image) and is_free and deal.status(now) is Status.ACTIVE


def order(table: Table, host: str, deal_id: str, now: datetime) -> None:
    """Schedule the fetch of the picture that a deal names at a host. One PutItem."""
    table.write(put(to_item(Fetch(host, now, deal_id, now)), because=_LATER))


def sweep(table: Table, queue: Queue, now: datetime, failures: damage.Failures) -> int:
    """Send what is due to the queue, at most ``OF_A_HOST`` of each host and ``OF_ALL``; returns how many.

    What is sent is due again after a pause, unless ``done`` comes first. Two Queries, and two of each host with
    fetches; a transaction of two writes for each fetch.
    """
    claimed = [
        fetch
        for found in damage.each(_due(table, now), lambda item: claim(table, item, now), failures=failures)
        for fetch in found
    ]
    queue.send([fetch.to_json() for fetch in claimed])
    return len(claimed)


def done(table: Table, fetch: Fetch) -> None:
    """Remove a fetch whose outcome is known. One DeleteItem."""
    table.write(forget(_key(fetch), because="a message may come twice"))


def _due(table: Table, now: datetime) -> Iterator[Item]:
    left = OF_ALL
    for number, host in enumerate(_hosts(table, now)):
        if left <= 0 or number == HOSTS_A_MINUTE:
            return
        bound = keys.fetch(host, now, "~")
        due = [*table.query(bound["PK"], prefix=keys.of_host(host), until=bound["SK"], limit=min(left, OF_A_HOST))]
        left -= len(due)
        yield from due


def _hosts(table: Table, now: datetime) -> Iterator[str]:
    """The hosts with fetches. A Query for each finds the first item after all of the one before."""
    partition, start = keys.fetch("", now, "")["PK"], _FROM[now.minute % len(_FROM)]
    after: str | None = start
    wrapped = False
    while True:
        found = next(table.query(partition, after=after, limit=1, projection=KEYS_ONLY), None)
        host = keys.host_in(found["SK"]) if found else None
        if wrapped and (host is None or host >= start):
            return
        wrapped = wrapped or host is None
        after = None if host is None else keys.after_host(host)
        if host is not None:
            yield host


def claim(table: Table, item: Item, now: datetime) -> list[Fetch]:
    """Take a fetch: it is due again after a pause. Empty if another run was faster, or none is left of its attempts."""
    fetch = from_item(item)
    if fetch.is_last:  # its message came to nothing
        done(table, fetch)
        return []
    later = replace(fetch, due_at=now + [*PAUSES, PAUSES[-1]][fetch.attempts], attempts=fetch.attempts + 1)
    try:
        table.transact(delete(_key(fetch), refused=_Claimed()), put(to_item(later), because=_LATER))
    except _Claimed:
        return []
    return [later]


def _key(fetch: Fetch) -> dict[str, str]:
    return dict(keys.fetch(fetch.host, fetch.due_at, fetch.deal_id))


def _attributes(fetch: Fetch) -> Item:
    return {
        "Host": fetch.host,
        "DueAt": to_iso(fetch.due_at),
        "DealId": fetch.deal_id,
        "OrderedAt": to_iso(fetch.ordered_at),
        "Attempts": fetch.attempts,
    }


def from_item(item: Item) -> Fetch:
    """Read a fetch. Raises KeyError, ValueError."""
    due_at, ordered_at = (from_iso(item[name]) for name in ("DueAt", "OrderedAt"))
    return Fetch(item["Host"], due_at, item["DealId"], ordered_at, damage.attribute(item, "Attempts", int))


def to_item(fetch: Fetch) -> Item:
    return {**_key(fetch), "Type": keys.FETCH, **_attributes(fetch)}
