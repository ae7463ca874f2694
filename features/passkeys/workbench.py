"""The passkeys of the first morning of the model for NoSQL Workbench (``tools/workbench.py``)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime

from features.passkeys import data
from features.passkeys.models import Passkey
from shared.data.members import users
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from shared.models.members import User


def happens(table: Table, _posted: Sequence[Deal], readers: Mapping[str, User], now: datetime) -> None:
    """A reader registers a passkey, gets recovery codes, and begins to sign in."""
    for reader in list(readers.values())[:1]:
        secret = hashlib.sha256(reader.username.encode()).digest()
        own = Passkey(data.passkey_id("AQIDBA"), "Laptop", "AQIDBA", "pQECAyYgASFY", 0, now)
        user = data.add(table, users.get(table, reader.username), own, first=True)
        data.new_codes(table, user, now, secret * 5)
        half = data.half_of(table, data.begin(table, user, now, secret), now)
        data.keep_challenge(table, secret, "sign in", half.half_id, now)
