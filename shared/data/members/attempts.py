"""Sign-in attempts, counted per user and per address in windows of fifteen minutes, by counters with TTL.

An attempt is counted before its password is checked, so that a thousand at once do not all pass; one that succeeds is
taken back. The window is part of the key: a counter that TTL has not deleted yet counts for nothing.

A counter holds the names of its attempts, not their number: an attempt whose answer was lost and that is told again is
the same one. It holds as many as it allows, and grows no more.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from shared import settings
from shared.data import keys
from shared.dynamodb.schema import Key
from shared.dynamodb.table import Table
from shared.dynamodb.writes import update
from shared.errors import DealsError, SlowDown

WINDOW_SECONDS = int(settings.SIGN_IN_WINDOW.total_seconds())
MOST_PER_USER = settings.SIGN_INS_PER_USER
MOST_PER_ADDRESS = settings.SIGN_INS_PER_ADDRESS


class _Gone(DealsError):
    """The counter is not there any more."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt that was counted: its name, and the counters that have it."""

    name: str
    counters: tuple[Key, ...]


def begin(table: Table, username: str, address: str, now: datetime) -> Attempt:
    """Count an attempt to sign in. Raises SlowDown where a user or an address has made too many."""
    window = int(now.timestamp()) // WINDOW_SECONDS
    ends = (window + 1) * WINDOW_SECONDS
    name = table.token()
    counters = [(keys.attempts(kind, who, window), most) for kind, who, most in _counters(username, address)]
    for key, most in counters:
        table.write(
            update(
                key,
                "ADD Counted :name SET ExpiresAt = :expires, #type = :type",
                # The first attempt of a window makes the counter. The last one may be told again.
                condition="attribute_not_exists(Counted) OR size(Counted) < :most OR contains(Counted, :it)",
                names={"#type": "Type"},
                values={":name": {name}, ":it": name, ":most": most, ":expires": ends, ":type": "Attempts"},
                refused=SlowDown(max(1, ends - int(now.timestamp()))),
            )
        )
    return Attempt(name, tuple(key for key, _ in counters))


def succeed(table: Table, attempt: Attempt) -> None:
    """Take back an attempt that succeeded."""
    for key in attempt.counters:
        with suppress(_Gone):  # TTL was first
            table.write(update(key, "DELETE Counted :name", values={":name": {attempt.name}}, refused=_Gone()))


def _counters(username: str, address: str) -> Iterator[tuple[str, str, int]]:
    yield "USER", username, MOST_PER_USER
    yield "ADDRESS", _network(address), MOST_PER_ADDRESS


def _network(address: str) -> str:
    """The address itself, or the /64 network of an IPv6 one: a customer has 2**64 of those."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped  # their /64 would be one and the same for everybody
    return str(ip) if ip.version == 4 else str(ipaddress.ip_network(f"{ip}/64", strict=False).network_address)
