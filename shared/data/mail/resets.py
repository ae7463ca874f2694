"""New passwords by a mailed link: apart from other mail, as the function that sends mail has no library of hashes."""

from __future__ import annotations

from datetime import datetime

from shared.data.mail import mailing
from shared.data.members import sessions
from shared.dynamodb.table import Table
from shared.models.members import User
from shared.services import Queue
from shared.values.passwords import hash_password


def reset_password(table: Table, token: str, password: str, now: datetime, queue: Queue | None = None) -> User:
    """Give the account that a token was mailed to a new password. That also proves its address. Raises DeadLink."""
    user = mailing.token_owner(table, token, "reset", now)
    hashed = hash_password(password)
    expression, values = "SET Generation = :new, VerifiedEmail = :email", {":new": sessions.first_generation(hashed)}
    kept = sessions.changed_password(user.username, hashed, proved=None)
    mailing.spend_token(table, token, "reset", user, expression, kept, values=values)
    mailing.notify(queue, "password", user)
    return user
