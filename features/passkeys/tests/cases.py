"""Passkeys in tests of all features."""

from __future__ import annotations

from datetime import datetime

from features.passkeys import data, keys
from shared.data import keys as core_keys
from shared.data.members import users
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put
from shared.models.catalog import Deal
from shared.values.times import to_iso
from tests.support.rights import ANY_READ, ANY_WRITE

GOLDEN = (
    (keys.passkey, ("ana", "9f86d081"), {"PK": "PASSKEYS#ana", "SK": "PASSKEY#9f86d081"}),
    (keys.recovery_codes, ("ana",), {"PK": "PASSKEYS#ana", "SK": "CODES"}),
    (keys.passkeys, ("ana",), "PASSKEYS#ana"),
    (keys.half_session, ("9f86d081",), {"PK": "HALFSESSION#9f86d081", "SK": "HALFSESSION#9f86d081"}),
    (keys.challenge, ("9f86d081",), {"PK": "CHALLENGE#9f86d081", "SK": "CHALLENGE#9f86d081"}),
)


def own(table: Table, _deal: Deal, username: str, now: datetime) -> None:
    """A member has a passkey and recovery codes; the account doesn't count it, so signing in takes no second step."""
    item = {"Type": keys.PASSKEY, "Username": username, "Name": "Laptop", "CredentialId": "AAAA", "PublicKey": "AAAA"}
    made = {**keys.passkey(username, "9f86d081"), **item, "SignCount": 0, "CreatedAt": to_iso(now)}
    data.new_codes(table, users.get(table, username, consistent=True), now, bytes(range(data.CODES * data.CODE_BYTES)))
    table.write(put(made, because="a test's own"))  # after the codes, which check the account


OWNS = (own,)

_OWN, _HALF = keys.passkey("ana", "1")["PK"], keys.half_session("9f86d081")["PK"]
RIGHTS = (
    (ANY_READ, core_keys.user("ana")["PK"], "", "passkeys"),
    (ANY_READ, core_keys.session("9f86d081")["PK"], "", "passkeys"),
    (ANY_WRITE, core_keys.session("9f86d081")["PK"], "", "passkeys"),
    (ANY_READ, _OWN, "", "account accounts passkeys remover"),
    (ANY_WRITE, _OWN, "", "account accounts passkeys remover"),
    (ANY_READ, _HALF, "", "passkeys"),
    (ANY_WRITE, _HALF, "", "account passkeys"),
)
ATTRIBUTES = tuple((core_keys.user("ana")["PK"], name, "passkeys") for name in ("SignOuts", "Passkeys"))

MEMBERS = {"passkeys": "/passkeys"}
IMPORTS = {"passkeys": ("minijinja",)}
COMMANDS = {"Passkeys and recovery codes": ("users reset-passkeys ana", ["GetItem", "Query", "TransactWriteItems"])}
