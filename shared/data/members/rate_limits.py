"""Attempts, counted in windows of fifteen minutes by counters with TTL: to sign in, to sign up, to find out addresses.

A stranger must not be able to lock an owner out. So failed sign-ins are counted per user and network first. Where that
allows one, it is also counted per network and, with a higher bound, per user. IPv6 networks are counted in three
widths, because one customer may have thousands of the narrowest. The bound per user, which all networks share, never
refuses a session that is signed in, nor a network (an IPv4 address, a /56) from which the user has signed in within 90
days.

An attempt is counted before its password is checked, so that a thousand at once do not all pass; one that succeeds is
taken back. The window is part of the key: a counter that TTL has not deleted yet counts for nothing.

A counter holds the names of its attempts, not their number: an attempt that is written again after a lost answer is
still counted once. It holds as many as it allows, and grows no more.
"""

from __future__ import annotations

import hashlib
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
from shared.values import networks

WINDOW_SECONDS = int(settings.SIGN_IN_WINDOW.total_seconds())
MOST_PER_USER = settings.SIGN_INS_PER_USER
MOST_PER_NETWORK = settings.SIGN_INS_PER_NETWORK
MOST_FROM_ANYWHERE = settings.SIGN_INS_FROM_ANYWHERE
MOST_SESSIONS = settings.SESSIONS_PER_USER
MOST_TAKEN = settings.TAKEN_PER_NETWORK
MOST_SIGN_UPS = settings.SIGN_UPS_PER_NETWORK
MOST_MOVES = settings.MOVES_PER_USER


_Bound = tuple[Callable[[int], Key], int]
"""A counter, whose key ends with the number of a window, and how many attempts it allows."""


class _Gone(DealsError):
    """The counter no longer exists."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt that was counted: its name, and the counters that have it."""

    name: str
    counters: tuple[Key, ...]


def begin(table: Table, username: str, address: str, now: datetime, *, signed_in: bool = False) -> Attempt:
    """Count an attempt to prove a password, by a session that is ``signed_in`` or to sign in.

    Raises SlowDown where too many were made for the user, or from the network.
    """
    bounds = _around(address, MOST_PER_USER, "USERFROM", username) + _around(address, MOST_PER_NETWORK, "ADDRESS")
    if not (_is_known(table, username, address, now) or signed_in):
        bounds.append((partial(keys.attempts, "USER", username), MOST_FROM_ANYWHERE))
    return _count(table, bounds, now)


def remember(table: Table, username: str, address: str, now: datetime) -> None:
    """Remember that a user has signed in from a network, by a hash of both: neither is kept."""
    write = update(
        keys.known_network(username, _home(address)),
        f"SET {TTL_ATTRIBUTE} = :expires, #type = :type",
        condition=None,  # the first sign-in makes it, the last one counts
        names={"#type": "Type"},
        values={":expires": int((now + settings.NETWORK_REMEMBERED).timestamp()), ":type": item_types.ATTEMPTS},
        refused=None,
    )
    table.write(write)


def _is_known(table: Table, username: str, address: str, now: datetime) -> bool:
    item = table.get(keys.known_network(username, _home(address)))
    return item is not None and bool(item[TTL_ATTRIBUTE] > now.timestamp())


def signed_in(table: Table, username: str, now: datetime) -> None:
    """Count a sign-in that succeeded: each makes a session. Raises SlowDown where a user has made too many."""
    _count(table, [(partial(keys.attempts, "SIGNEDIN", username), MOST_SESSIONS)], now)


def ask(table: Table, address: str, now: datetime) -> Attempt:
    """Count a question whether a username or an email address is taken; if it is free, ``succeed`` takes it back.

    Raises SlowDown where a network has asked for too many that were.
    """
    return _count(table, _around(address, MOST_TAKEN, "TAKEN"), now)


def sign_up(table: Table, address: str, now: datetime) -> None:
    """Count a new account of a network. Raises SlowDown where it has made too many."""
    window, ends = _window(now)
    for key, most in _around(address, MOST_SIGN_UPS, "SIGNUP"):
        counting = update(
            key(window),
            f"ADD Attempts :one SET {TTL_ATTRIBUTE} = :expires, #type = :type",
            # A number and no names, because there may be many. A lost answer counts twice here, at worst.
            condition="attribute_not_exists(Attempts) OR Attempts < :most",
            names={"#type": "Type"},
            values={":one": 1, ":most": most, ":expires": ends, ":type": item_types.ATTEMPTS},
            refused=SlowDown(max(1, ends - int(now.timestamp()))),
        )
        table.write(counting)


def ask_reset(table: Table, email: str, address: str, now: datetime) -> None:
    """Count a request for a link to a new password, whoever has the address. Raises SlowDown after too many."""
    digest = hashlib.sha256(email.encode()).hexdigest()[:32]
    bounds = _around(address, settings.RESETS_PER_NETWORK, "RESETFROM")
    _count(table, [*bounds, (partial(keys.attempts, "RESET", digest), settings.RESETS_PER_EMAIL)], now)


def ask_to_verify(table: Table, username: str, now: datetime) -> None:
    """Count a request for a link that verifies an account's address. Raises SlowDown after too many."""
    _count(table, [(partial(keys.attempts, "VERIFY", username), settings.VERIFICATIONS_PER_USER)], now)


def change_email(table: Table, username: str, now: datetime) -> None:
    """Count a change of an account's email address. Raises SlowDown where it has made too many."""
    _count(table, [(partial(keys.attempts, "EMAIL", username), MOST_MOVES)], now)


def _count(table: Table, bounds: Sequence[_Bound], now: datetime) -> Attempt:
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


def _around(address: str, most: int, *counted: str) -> list[_Bound]:
    """The counters of the networks around an address, the narrowest first; wider ones allow more times ``most``."""
    widths = settings.IPV6_WIDTHS
    around = zip(networks.around(address, widths), widths.values(), strict=False)
    return [(partial(keys.attempts, *counted, network), times * most) for network, times in around]


def _home(address: str) -> str:
    """The network that is remembered for its user: the address itself, or the /56 of an IPv6 one."""
    around = networks.around(address, settings.IPV6_WIDTHS)
    return around[min(1, len(around) - 1)]
