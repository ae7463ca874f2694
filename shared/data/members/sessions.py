"""Pattern 24: the session store. A token is 256 random bits; the table knows only its SHA-256."""

from __future__ import annotations

import base64
import hashlib
from contextlib import suppress
from datetime import datetime

from shared import settings
from shared.data import keys
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import GSI1
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import forget, put_new, update
from shared.errors import AlreadyExists, NotSignedIn
from shared.models import Role, Session, User
from shared.values.times import from_iso, to_iso

LIFETIME = settings.SESSION_LIFETIME
TOKEN_BYTES = 32

_KEYS = Projection.of("PK", "SK")


def start(table: Table, user: User, now: datetime, entropy: bytes) -> tuple[str, Session]:
    """Sign a user in: a session and its token, made of 32 bytes of the caller's randomness."""
    if len(entropy) != TOKEN_BYTES:
        raise ValueError(f"a token is made of {TOKEN_BYTES} bytes, not {len(entropy)}")
    token = base64.urlsafe_b64encode(entropy).decode().rstrip("=")
    session = Session(user.username, user.role, created_at=now, expires_at=now + LIFETIME)
    item = {
        **keys.session(_hash(token)),
        **keys.session_in_sessions(user.username, now),
        "Type": "Session",
        "Username": user.username,
        "Role": user.role,
        "CreatedAt": to_iso(now),
        "ExpiresAt": int(session.expires_at.timestamp()),
    }
    table.write(put_new(item, refused=AlreadyExists()))
    return token, session


def authenticate(table: Table, token: str, now: datetime) -> Session:
    """The session of a token. One consistent GetItem, so a sign-out counts at once. Raises NotSignedIn.

    TTL deletes late, by days: what has expired is refused here.
    """
    item = table.get(keys.session(_hash(token)), consistent=True)
    if item is None or item["ExpiresAt"] <= now.timestamp():
        raise NotSignedIn
    return _from_item(item)


def end(table: Table, token: str) -> None:
    """Sign out."""
    table.write(forget(keys.session(_hash(token)), because="a session that is gone is signed out"))


def end_all(table: Table, username: str) -> int:
    """Sign a user out everywhere; returns how many sessions ended. Finds them through GSI1."""
    items = list(table.query(keys.sessions(username), index=GSI1, projection=_KEYS))
    for item in items:
        table.write(forget(keys.primary(item), because="a session that is gone is signed out"))
    return len(items)


def set_role(table: Table, username: str, role: Role) -> None:
    """Give a user's running sessions a role."""
    for item in list(table.query(keys.sessions(username), index=GSI1, projection=_KEYS)):
        with suppress(NotSignedIn):  # signed out since it was listed
            table.write(
                update(
                    keys.primary(item),
                    "SET #role = :role",
                    names={"#role": "Role"},
                    values={":role": role},
                    refused=NotSignedIn(),
                )
            )


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _from_item(item: Item) -> Session:
    return Session(
        username=item["Username"],
        role=item["Role"],
        created_at=from_iso(item["CreatedAt"]),
        expires_at=datetime.fromtimestamp(item["ExpiresAt"], from_iso(item["CreatedAt"]).tzinfo),
    )
