"""Attempts, counted in windows of fifteen minutes by counters with TTL: to sign in, to sign up, to find out addresses.

A stranger must not be able to lock an owner out. So failed sign-ins are counted per user and network first, then per
network and, with a higher bound, per user. IPv6 networks are counted in three widths, because one customer may have
thousands of the narrowest. The bound per user never refuses a session that is signed in, nor a network (an IPv4
address, a /56) from which the user has signed in within 90 days.

An attempt is counted before its password is checked, so that a thousand at once do not all pass; one that succeeds is
taken back. The window is part of the key: a counter that TTL has not deleted yet counts for nothing.

A counter holds the names of its attempts, not their number: an attempt that is written again after a lost answer is
still counted once. It holds as many as it allows, and grows no more.
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
"""A counter, by the parts of its key but the number of a window, and how many attempts it allows."""


class _Gone(DealsError):
    """The counter no longer exists."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt that was counted: its name, and the counters that have it."""

    name: str
    counters: tuple[Key, ...]


def begin(table: Table, username: str, address: str, now: datetime, *, signed_in: bool = False) -> Attempt:
    """Count an attempt to sign in or, ``signed_in``, to prove a password. Raises SlowDown after too many."""
    bounds = around(address, settings.SIGN_INS_PER_USER, "USERFROM", username)
    bounds += around(address, settings.SIGN_INS_PER_NETWORK, "ADDRESS")
    known = table.get(keys.known_network(username, _home(address)))
    if not (signed_in or (known is not None and known[TTL_ATTRIBUTE] > now.timestamp())):
        bounds.append((("USER", username), settings.SIGN_INS_FROM_ANYWHERE))
    return count(table, bounds, now)


def remember(table: Table, username: str, address: str, now: datetime) -> None:
    """Remember that a user has signed in from a network, by a hash of both: neither is kept."""
    left = {"Type": keys.ATTEMPTS, TTL_ATTRIBUTE: int((now + settings.NETWORK_REMEMBERED).timestamp())}
    known = upsert(keys.known_network(username, _home(address)), left, {}, because="the last sign-in counts")
    table.write(known)


def signed_in(table: Table, username: str, now: datetime) -> None:
    """Count a sign-in that succeeded: each makes a session. Raises SlowDown where a user has made too many."""
    count(table, [(("SIGNEDIN", username), settings.SESSIONS_PER_USER)], now)


def ask(table: Table, address: str, now: datetime) -> Attempt:
    """Count a question whether a name or an address is taken; if it is free, let it ``succeed``. Raises SlowDown."""
    return count(table, around(address, settings.TAKEN_PER_NETWORK, "TAKEN"), now)


def sign_up(table: Table, address: str, now: datetime) -> None:
    """Count a new account of a network. Raises SlowDown where it has made too many."""
    window, ends = _window(now)
    for parts, most in around(address, settings.SIGN_UPS_PER_NETWORK, "SIGNUP"):
        # A number and no names, because there may be many. A lost answer counts twice here, at worst.
        below = "attribute_not_exists(Attempts) OR Attempts < :most"
        key = keys.attempts(*parts, window)
        table.write(_counting(key, "ADD Attempts :one", below, {":one": 1, ":most": most}, ends, now))


def change_email(table: Table, username: str, now: datetime) -> None:
    """Count a change of an account's email address. Raises SlowDown where it has made too many."""
    count(table, [(("EMAIL", username), settings.MOVES_PER_USER)], now)


def count(table: Table, bounds: Sequence[_Bound], now: datetime, seconds: int = WINDOW_SECONDS) -> Attempt:
    """Count an attempt by each of some counters, in this order, up to the first that has as many as it allows."""
    window, ends = _window(now, seconds)
    name = table.token()
    # The first attempt of a window makes the counter. The last one may be written again.
    below = "attribute_not_exists(Counted) OR size(Counted) < :most OR contains(Counted, :it)"
    counters = [(keys.attempts(*parts, window), most) for parts, most in bounds]
    for key, most in counters:
        values = {":name": {name}, ":it": name, ":most": most}
        table.write(_counting(key, "ADD Counted :name", below, values, ends, now))
    return Attempt(name, tuple(key for key, _ in counters))


def _counting(key: Key, add: str, below: str, values: Mapping[str, Any], ends: int, now: datetime) -> Write:
    """The write that counts an attempt in a window, until that ends. Refused with SlowDown."""
    return update(
        key,
        f"{add} SET {TTL_ATTRIBUTE} = :expires, #type = :type",
        condition=below,
        names={"#type": "Type"},
        values={**values, ":expires": ends, ":type": keys.ATTEMPTS},
        refused=SlowDown(max(1, ends - int(now.timestamp()))),
    )


def succeed(table: Table, attempt: Attempt) -> None:
    """Take back an attempt that succeeded."""
    for key in attempt.counters:
        with suppress(_Gone):  # TTL was first
            table.write(update(key, "DELETE Counted :name", values={":name": {attempt.name}}, refused=_Gone()))


def _window(now: datetime, seconds: int = WINDOW_SECONDS) -> tuple[int, int]:
    """The number of a time's window, and when that ends, in epoch seconds."""
    window = int(now.timestamp()) // seconds
    return window, (window + 1) * seconds


def around(address: str, most: int, *counted: str) -> list[_Bound]:
    """The counters of the networks around an address, the narrowest first; wider ones allow more times ``most``."""
    widths = settings.IPV6_WIDTHS
    around = zip(links.networks_around(address, widths), widths.values(), strict=False)
    return [((*counted, network), times * most) for network, times in around]


def _home(address: str) -> str:
    """The network that is remembered for its user: the address itself, or the /56 of an IPv6 one."""
    around = links.networks_around(address, settings.IPV6_WIDTHS)
    return around[min(1, len(around) - 1)]
