"""Links that were mailed to members of a sample site."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import quote

from shared.data.mail import mailing
from shared.data.mail.mailing import Purpose
from shared.data.members import users
from shared.dynamodb.table import Table
from shared.values import identifiers


def unsubscribing(table: Table, username: str, now: datetime) -> str:
    """The token of the link that ends the mails of a member, who gets them at seven from then on."""
    mailing.choose_hour(table, users.get(table, username), 7, bytes(mailing.KEY_BYTES), now)
    return quote(mailing.unsubscribing(users.get(table, username)))


def token(table: Table, username: str, purpose: Purpose, now: datetime) -> str:
    """The token of another link."""
    return quote(mailing.issue_token(table, users.get(table, username), purpose, now, bytes(identifiers.BYTES)))
