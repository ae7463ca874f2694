"""The day's unread messages by mail: who wants them and when, and the receipt that nobody is mailed twice a day.

It also keeps whom nothing is mailed to any more.
"""

from __future__ import annotations

import base64
import hmac
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from shared import settings
from shared.data import account_checks, item_types, keys
from shared.data.members import messages, users
from shared.data.members.email_tokens import account_named
from shared.dynamodb.schema import GSI1, TTL_ATTRIBUTE
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import forget, put_new, update
from shared.errors import AlreadyExists, DeadLink, NoSuchUser
from shared.models.members import Trouble, User
from shared.models.messages import Message
from shared.values.usernames import normalise_email

KEY_BYTES = 16
"""Bytes of the key that signs an account's links."""

_NAME = Projection.of("GSI1SK")


def choose_hour(table: Table, user: User, hour: int | None, entropy: bytes) -> None:
    """Mail the day's unread messages of an account at an hour in UTC, or never (None). Raises NotSignedIn.

    The account's key is made of the caller's randomness, once: older links go on working.
    """
    expression, values = "REMOVE DigestHour, GSI1PK, GSI1SK", {}
    if hour is not None:
        expression = "SET DigestHour = :hour, GSI1PK = :pk, GSI1SK = :sk, DigestKey = if_not_exists(DigestKey, :key)"
        place = keys.user_in_digests(user.username, hour)
        values = {":hour": hour, ":pk": place["GSI1PK"], ":sk": place["GSI1SK"]}
        values[":key"] = base64.urlsafe_b64encode(entropy).decode()
    table.write(account_checks.change(user.username, expression, user.account_id, values=values))


def readers(table: Table, hour: int, after: str, limit: int) -> list[str]:
    """Names of those who are mailed at an hour, of which the last one before was ``after``. A Query of GSI1."""
    start = keys.user_in_digests(after, hour)["GSI1SK"] if after else None
    found = table.query(keys.digests(hour), index=GSI1, after=start, limit=limit, projection=_NAME)
    return [keys.id_in(item["GSI1SK"]) for item in found]


def news(table: Table, user: User, due: datetime) -> Sequence[Message]:
    """The unread messages of the day before a time, newest first, not more than a mail shows. A Query of GSI1."""
    # Those for whoever is told once a day are among them, although the inbox may show them some hours later.
    day, most = timedelta(days=1), settings.DIGEST_MESSAGES
    found = messages.latest(table, user.username, limit=most, now=due + day, unread=True).items
    return [each for each in found if due - day <= each.created_at < due]


def claim(table: Table, user: User, due: datetime) -> bool:
    """Note that an account is mailed on a day; False where it was noted before. The note names nobody."""
    key, ends = keys.digest_receipt(user.account_id, f"{due:%Y-%m-%d}"), due + 3 * settings.DIGEST_TOO_LATE
    item = {**key, "Type": item_types.DIGEST_RECEIPT, TTL_ATTRIBUTE: int(ends.timestamp())}
    try:
        table.write(put_new(item, refused=AlreadyExists()))
    except AlreadyExists:
        return False
    return True


def release(table: Table, user: User, due: datetime) -> None:
    """Take back a note of a mail that was not sent."""
    key = keys.digest_receipt(user.account_id, f"{due:%Y-%m-%d}")
    table.write(forget(key, because="nothing was mailed, so nothing is noted"))


def unsubscribing(user: User) -> str:
    """The token of the link that ends an account's mails: its name, signed with the account's own key."""
    return f"{user.username}.{_signature(user)}"


def owner(table: Table, token: str) -> User:
    """The account whose link ends its mails. It works as long as the account does. Raises DeadLink."""
    user, signature = account_named(table, token), token.rpartition(".")[2]
    if user.digest_key is None or not hmac.compare_digest(signature.encode(), _signature(user).encode()):
        raise DeadLink
    return user


def stop(table: Table, address: str, because: Trouble) -> None:
    """Mail nothing to an address any more, if an account has it. Its owner may change the address."""
    with suppress(NoSuchUser, ValueError):
        user = users.of_email(table, normalise_email(address))
        stopping = update(
            keys.user(user.username),
            "SET StoppedEmail = :email, StoppedBecause = :because",
            condition="Email = :email",
            values={":email": user.email, ":because": because},
            refused=NoSuchUser(user.username),
        )
        table.write(stopping)


def resume(table: Table, username: str) -> None:
    """Mail to an account's address again, once its owner says that it works. Raises NoSuchUser."""
    table.write(account_checks.change(username, "REMOVE StoppedEmail, StoppedBecause"))


def _signature(user: User) -> str:
    return hmac.digest((user.digest_key or "").encode(), f"no digest {user.username}".encode(), "sha256").hex()[:32]
