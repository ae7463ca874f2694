"""The mails of the first morning of the model for NoSQL Workbench (``tools/workbench.py``)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime

from features.mail.data import digests, mailing
from shared.data.members import users
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from shared.models.members import User


def happens(table: Table, _posted: Sequence[Deal], readers: Mapping[str, User], now: datetime) -> None:
    """The readers want the day's mails, get one, and are mailed a link."""
    for reader in readers.values():
        secret = hashlib.sha256(reader.username.encode()).digest()
        digests.choose_hour(table, reader, 7, secret[: digests.KEY_BYTES], now)
        digests.claim(table, reader, now, "delivery")
        mailing.issue_token(table, users.get(table, reader.username), "verify", now, secret)
