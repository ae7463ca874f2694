"""Attempts, counted in windows of fifteen minutes by counters with TTL: to sign in, to sign up, to find out addresses.

A stranger must not be able to lock an owner out. So failed sign-ins are counted per user and network first. Where that
allows one, it is also counted per network and, with a higher bound, per user.

An attempt is counted before its password is checked, so that a thousand at once do not all pass; one that succeeds is
taken back. The window is part of the key: a counter that TTL has not deleted yet counts for nothing.

A counter holds the names of its attempts, not their number: an attempt that is written again after a lost answer is
still counted once. It holds as many as it allows, and grows no more.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from shared import settings
from shared.data import item_types, keys
from shared.dynamodb.schema import TTL_ATTRIBUTE, Key
from shared.dynamodb.table import Table
from shared.dynamodb.writes import update
from shared.errors import DealsError, SlowDown

WINDOW_SECONDS = int(settings.SIGN_IN_WINDOW.total_seconds())
MOST_PER_USER = settings.SIGN_INS_PER_USER
MOST_PER_NETWORK = settings.SIGN_INS_PER_NETWORK
MOST_FROM_ANYWHERE = settings.SIGN_INS_FROM_ANYWHERE
MOST_SESSIONS = settings.SESSIONS_PER_USER
MOST_TAKEN = settings.TAKEN_PER_NETWORK
MOST_SIGN_UPS = settings.SIGN_UPS_PER_NETWORK
MOST_MOVES = settings.MOVES_PER_USER


class _Gone(DealsError):
    """The counter no longer exists."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt that was counted: its name, and the counters that have it."""

    name: str
    counters: tuple[Key, ...]


def begin(table: Table, username: str, address: str, now: datetime) -> Attempt:
    """Count an attempt to sign in. Raises SlowDown where too many were made for the user, or from the network."""
    network = _network(address)
    return _count(
        table,
        [
            (partial(keys.attempts_from, username, network), MOST_PER_USER),
            (partial(keys.attempts, "ADDRESS", network), MOST_PER_NETWORK),
            (partial(keys.attempts, "USER", username), MOST_FROM_ANYWHERE),
        ],
        now,
    )


def signed_in(table: Table, username: str, now: datetime) -> None:
    """Count a sign-in that succeeded: each makes a session. Raises SlowDown where a user has made too many."""
    _count(table, [(partial(keys.attempts, "SIGNEDIN", username), MOST_SESSIONS)], now)


def ask(table: Table, address: str, now: datetime) -> Attempt:
    """Count a question whether a username or an email address is taken; if it is free, ``succeed`` takes it back.

    Raises SlowDown where a network has asked for too many that were.
    """
    return _count(table, [(partial(keys.attempts, "TAKEN", _network(address)), MOST_TAKEN)], now)


def sign_up(table: Table, address: str, now: datetime) -> None:
    """Count a new account of a network. Raises SlowDown where it has made too many."""
    window, ends = _window(now)
    table.write(
        update(
            keys.attempts("SIGNUP", _network(address), window),
            f"ADD Attempts :one SET {TTL_ATTRIBUTE} = :expires, #type = :type",
            # A number and no names, because there may be many. A lost answer counts twice here, at worst.
            condition="attribute_not_exists(Attempts) OR Attempts < :most",
            names={"#type": "Type"},
            values={":one": 1, ":most": MOST_SIGN_UPS, ":expires": ends, ":type": item_types.ATTEMPTS},
            refused=SlowDown(max(1, ends - int(now.timestamp()))),
        )
    )


def change_email(table: Table, username: str, now: datetime) -> None:
    """Count a change of an account's email address. Raises SlowDown where it has made too many."""
    _count(table, [(partial(keys.attempts, "EMAIL", username), MOST_MOVES)], now)


def _count(table: Table, bounds: Sequence[tuple[Callable[[int], Key], int]], now: datetime) -> Attempt:
    """Count an attempt by each of some counters, in this order, up to the first that has as many as it allows."""
    window, ends = _window(now)
    name = table.token()
    counters = [(key(window), most) for key, most in bounds]
    for key, most in counters:
        table.write(
            update(
                key,
                f"ADD Counted :name SET {TTL_ATTRIBUTE} = :expires, #type = :type",
                # The first attempt of a window makes the counter. The last one may be written again.
                condition="attribute_not_exists(Counted) OR size(Counted) < :most OR contains(Counted, :it)",
                names={"#type": "Type"},
                values={":name": {name}, ":it": name, ":most": most, ":expires": ends, ":type": item_types.ATTEMPTS},
                refused=SlowDown(max(1, ends - int(now.timestamp()))),
            )
        )
    return Attempt(name, tuple(key for key, _ in counters))


def succeed(table: Table, attempt: Attempt) -> None:
    """Take back an attempt that succeeded."""
    for key in attempt.counters:
        with suppress(_Gone):  # TTL was first
            table.write(update(key, "DELETE Counted :name", values={":name": {attempt.name}}, refused=_Gone()))


def _window(now: datetime) -> tuple[int, int]:
    """The number of a time's window, and when that ends, in epoch seconds."""
    window = int(now.timestamp()) // WINDOW_SECONDS
    return window, (window + 1) * WINDOW_SECONDS


def _network(address: str) -> str:
    """The address itself, or the /64 network of an IPv6 one: a customer has 2**64 of those."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped  # their /64 would be one and the same for everybody
    return str(ip) if ip.version == 4 else str(ipaddress.ip_network(f"{ip}/64", strict=False).network_address)
