"""The actions of passkeys, for ``tests/interleave``: those of Bo, an editor with two."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from features.passkeys import data
from features.passkeys.models import Passkey
from shared.data.members import users
from shared.values import identifiers
from tests.interleave.beginning import LATER
from tests.support.factories import NOW

if TYPE_CHECKING:
    from shared.dynamodb.table import Table
    from shared.models.members import User
    from tests.interleave.processes import Process

CODES = bytes(range(data.CODES * data.CODE_BYTES))
CHALLENGE = b"a challenge"
HALF = f"bo.{identifiers.token(b'h' * 32)}"
"""The token of Bo's half-session."""


FIRST_CODE = base64.b32encode(CODES[: data.CODE_BYTES]).decode()


def a_passkey(name: str) -> Passkey:
    return Passkey(data.passkey_id(name), name, name, "AAAA", 0, NOW)


def bo(table: Table) -> User:
    return users.get(table, "bo", consistent=True)


def prepare(at: Process) -> None:
    """Bo has two passkeys and recovery codes, and is about to sign in."""
    for name in ("laptop", "phone"):
        data.add(at.table, bo(at.table), a_passkey(name), first=name == "laptop")
    data.new_codes(at.table, bo(at.table), NOW, CODES)
    data.begin(at.table, bo(at.table), NOW, b"h" * 32)
    data.keep_challenge(at.table, CHALLENGE, "sign in", "half", NOW)


def add(at: Process, name: str) -> None:
    data.add(at.table, bo(at.table), a_passkey(name), first=False)


def remove(at: Process, name: str) -> None:
    data.remove(at.table, bo(at.table), data.passkey_id(name))


def use(at: Process) -> None:
    data.used(at.table, "bo", data.get(at.table, "bo", "laptop"), 1, LATER)


def new_codes(at: Process) -> None:
    data.new_codes(at.table, bo(at.table), LATER, at.entropy(len(CODES)))


def spend_code(at: Process) -> None:
    data.spend_code(at.table, bo(at.table), FIRST_CODE)


def begin(at: Process) -> None:
    data.begin(at.table, bo(at.table), LATER, at.entropy(32))


def finish(at: Process) -> None:
    half = data.half_of(at.table, HALF, LATER)
    data.count_try(at.table, half)
    data.finish(at.table, half)


WRITES = {
    "add passkey": lambda at: add(at, "tablet"),
    "remove passkey": lambda at: remove(at, "laptop"),
    "remove other passkey": lambda at: remove(at, "phone"),
    "reset passkeys": lambda at: data.reset(at.table, "bo"),
    "use passkey": use,
    "new codes": new_codes,
    "spend code": spend_code,
    "begin second step": begin,
    "finish second step": finish,
    "keep challenge": lambda at: data.keep_challenge(at.table, at.entropy(), "sign in", "half", LATER),
    "spend challenge": lambda at: data.spend_challenge(at.table, CHALLENGE, "sign in", "half", LATER),
}
BEFORE_WRITES = (prepare,)
REFUSED_WRITES = ("NotProved",)
"""A passkey that is used twice at once is taken once: the other may be a copy of its key."""
WRITES_ONCE_FAILED = (("add passkey", "reset passkeys"), ("remove passkey", "remove other passkey"))
