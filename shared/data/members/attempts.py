"""Sign-in attempts, counted per user and per address in windows of fifteen minutes, by counters with TTL.

An attempt is counted before its password is checked, so that a thousand at once do not all pass; one that succeeds is
taken back. The window is part of the key: a counter that TTL has not deleted yet counts for nothing.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from datetime import datetime

from shared import settings
from shared.data import keys
from shared.dynamodb.schema import Key
from shared.dynamodb.table import Table
from shared.dynamodb.writes import update
from shared.errors import SlowDown

WINDOW_SECONDS = int(settings.SIGN_IN_WINDOW.total_seconds())
MOST_PER_USER = settings.SIGN_INS_PER_USER
MOST_PER_ADDRESS = settings.SIGN_INS_PER_ADDRESS


def begin(table: Table, username: str, address: str, now: datetime) -> None:
    """Count an attempt to sign in. Raises SlowDown where a user or an address has made too many."""
    window = int(now.timestamp()) // WINDOW_SECONDS
    ends = (window + 1) * WINDOW_SECONDS
    for kind, who, most in _counters(username, address):
        counted = _add(table, keys.attempts(kind, who, window), 1, ends)
        if counted > most:
            raise SlowDown(max(1, ends - int(now.timestamp())))


def succeed(table: Table, username: str, address: str, now: datetime) -> None:
    """Take back an attempt that succeeded."""
    window = int(now.timestamp()) // WINDOW_SECONDS
    for kind, who, _ in _counters(username, address):
        _add(table, keys.attempts(kind, who, window), -1, (window + 1) * WINDOW_SECONDS)


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


def _add(table: Table, key: Key, by: int, window_ends: int) -> int:
    counted = table.write(
        update(
            key,
            "ADD Attempts :by SET ExpiresAt = :expires, #type = :type",
            condition=None,  # the first attempt of a window makes the counter
            names={"#type": "Type"},
            values={":by": by, ":expires": window_ends, ":type": "Attempts"},
            refused=None,
        ),
        returning="UPDATED_NEW",
    )
    return int(counted["Attempts"])
