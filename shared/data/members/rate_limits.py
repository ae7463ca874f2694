"""Rate limits for sign-in, sign-up and probing of addresses: attempts counted in windows of fifteen minutes, with TTL.

A stranger must not lock an owner out. Failed sign-ins are counted by user and network first, then by network and, with
a higher limit, by user. IPv6 networks are counted in three widths, because one customer may have thousands of the
narrowest. The limit by user never applies to a signed-in session, nor to a network (an IPv4 address, a /56) from which
the user has signed in within 90 days.

An attempt is counted before its password is checked, so that a thousand at once don't all pass; a successful one is
removed. The key includes the window, so a late TTL doesn't matter. A counter holds the names of attempts instead of a
number, so that a retry after a lost answer counts once, and at most as many as it allows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from shared import settings
from shared.data import keys
from shared.dynamodb.schema import TTL_ATTRIBUTE, Key
from shared.dynamodb.table import Table
from shared.dynamodb.writes import Write, update, upsert
from shared.errors import DealsError, SlowDown
from shared.values import links

WINDOW_SECONDS = int(settings.SIGN_IN_WINDOW.total_seconds())

_Bound = tuple[tuple[str, ...], int]
"""A counter (its key's parts without the window), and its limit."""


class _Gone(DealsError):
    """The counter no longer exists."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A counted attempt: its name, and its counters."""

    name: str
    counters: tuple[Key, ...]


def begin(table: Table, username: str, address: str, now: datetime, *, signed_in: bool = False) -> Attempt:
    """Count an attempt to sign in or, if ``signed_in``, to prove a password. Raises SlowDown for too many."""
    bounds = around(address, settings.SIGN_INS_PER_USER, "USERFROM", username)
    bounds += around(address, settings.SIGN_INS_PER_NETWORK, "ADDRESS")
    known = table.get(keys.known_network(username, home_of(address)))
    if not (signed_in or (known is not None and known[TTL_ATTRIBUTE] > now.timestamp())):
        bounds.append((("USER", username), settings.SIGN_INS_FROM_ANYWHERE))
    return count(table, bounds, now)


def remember(table: Table, username: str, address: str, now: datetime) -> None:
    """Remember, by a hash of both, that a user has signed in from a network."""
    left = {"Type": keys.ATTEMPTS, TTL_ATTRIBUTE: int((now + settings.NETWORK_REMEMBERED).timestamp())}
    known = upsert(keys.known_network(username, home_of(address)), left, {}, because="the last sign-in counts")
    table.write(known)


def signed_in(table: Table, username: str, now: datetime) -> None:
    """Count a successful sign-in, which makes a session. Raises SlowDown for too many."""
    count(table, [(("SIGNEDIN", username), settings.SESSIONS_PER_USER)], now)


def ask(table: Table, address: str, now: datetime) -> Attempt:
    """Count a check whether a name or address is taken; if it is free, ``succeed`` removes it. Raises SlowDown."""
    return count(table, around(address, settings.TAKEN_PER_NETWORK, "TAKEN"), now)


def sign_up(table: Table, address: str, now: datetime) -> None:
    """Count a network's new account. Raises SlowDown for too many."""
    add(table, around(address, settings.SIGN_UPS_PER_NETWORK, "SIGNUP"), now)


def add(table: Table, bounds: Sequence[_Bound], now: datetime, *, by: int = 1, seconds: int = WINDOW_SECONDS) -> None:
    """Add a number in each counter. Raises SlowDown where the sum would be too large.

    A number instead of names, because there may be many. A lost answer may count twice here.
    """
    window, ends = _window(now, seconds)
    for parts, most in bounds:
        below = "attribute_not_exists(Attempts) OR Attempts <= :left"
        key = keys.attempts(*parts, window)
        table.write(_counting(key, "ADD Attempts :by", below, {":by": by, ":left": most - by}, ends, now))


def change_email(table: Table, username: str, now: datetime) -> None:
    """Count a change of an account's email address. Raises SlowDown for too many."""
    count(table, [(("EMAIL", username), settings.MOVES_PER_USER)], now)


def count(table: Table, bounds: Sequence[_Bound], now: datetime, seconds: int = WINDOW_SECONDS) -> Attempt:
    """Count an attempt in each counter, in order, up to the first full one."""
    window, ends = _window(now, seconds)
    name = table.token()
    # A window's first attempt creates the counter. The last one may be repeated.
    below = "attribute_not_exists(Counted) OR size(Counted) < :most OR contains(Counted, :it)"
    counters = [(keys.attempts(*parts, window), most) for parts, most in bounds]
    for key, most in counters:
        values = {":name": {name}, ":it": name, ":most": most}
        table.write(_counting(key, "ADD Counted :name", below, values, ends, now))
    return Attempt(name, tuple(key for key, _ in counters))


def _counting(key: Key, add: str, below: str, values: Mapping[str, Any], ends: int, now: datetime) -> Write:
    """The write that counts an attempt in a window, with the window's end as TTL. Refused with SlowDown."""
    return update(
        key,
        f"{add} SET {TTL_ATTRIBUTE} = :expires, #type = :type",
        condition=below,
        names={"#type": "Type"},
        values={**values, ":expires": ends, ":type": keys.ATTEMPTS},
        refused=SlowDown(max(1, ends - int(now.timestamp()))),
    )


def succeed(table: Table, attempt: Attempt) -> None:
    """Remove an attempt that succeeded."""
    for key in attempt.counters:
        with suppress(_Gone):  # TTL has deleted it
            table.write(update(key, "DELETE Counted :name", values={":name": {attempt.name}}, refused=_Gone()))


def _window(now: datetime, seconds: int = WINDOW_SECONDS) -> tuple[int, int]:
    """The number of a time's window, and its end in epoch seconds."""
    window = int(now.timestamp()) // seconds
    return window, (window + 1) * seconds


def around(address: str, most: int, *counted: str) -> list[_Bound]:
    """The counters of an address's networks, narrowest first; wider ones allow more times ``most``."""
    widths = settings.IPV6_WIDTHS
    around = zip(links.networks_around(address, widths), widths.values(), strict=False)
    return [((*counted, network), times * most) for network, times in around]


def home_of(address: str) -> str:
    """The network remembered for a user: an IPv4 address, or an IPv6 address's /56."""
    around = links.networks_around(address, settings.IPV6_WIDTHS)
    return around[min(1, len(around) - 1)]
