"""Digests: the day's unread messages by mail, at an hour that each reader chooses.

A digest has the oldest unread messages that no mail had yet. Each is marked once SES has taken its mail, so news that
is delivered late, and what a mail has no room for, comes with the next one. A receipt keeps a user from being mailed
twice a day.
"""

from __future__ import annotations

import base64
import hmac
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from operator import attrgetter

from shared import settings
from shared.data import account_checks
from shared.data import keys as core_keys
from shared.data.mail import keys
from shared.data.mail.mailing import DeadLink, account_named
from shared.data.members import messages
from shared.dynamodb import damage
from shared.dynamodb.schema import GSI1, TTL_ATTRIBUTE
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import delete, put_new, update
from shared.errors import AlreadyExists, NoSuchMessage
from shared.models.mail import settings_of
from shared.models.members import User
from shared.models.messages import Message
from shared.values import identifiers
from shared.values.times import to_iso

COHORT = 25
"""Readers whose mails are one unit of work: SES takes 14 mails a second of a new account, so it is over in seconds."""

MESSAGES = 15
"""Messages that a day's mail shows; it links to the rest."""

TOO_LATE = timedelta(days=1)
"""After this a day's mail is not sent any more: the next one has been. Receipts are kept three times as long."""

KEY_BYTES = 16
"""Bytes of the key that signs an account's links."""

_NAME = Projection.of("GSI1SK")
_DAY = timedelta(days=1)


def choose_hour(table: Table, user: User, hour: int | None, entropy: bytes, now: datetime) -> None:
    """Mail the day's unread messages of an account at an hour in UTC, or never (None). Raises NotSignedIn.

    The account's key is made of the caller's randomness, once: older links go on working. The first mail begins with
    the messages of a day before now. Another hour changes nothing of that.
    """
    expression, values = "REMOVE DigestHour, DigestSince, GSI1PK, GSI1SK", {}
    if hour is not None:
        expression = (
            "SET DigestHour = :hour, GSI1PK = :pk, GSI1SK = :sk, DigestKey = if_not_exists(DigestKey, :key),"
            " DigestSince = if_not_exists(DigestSince, :since)"
        )
        place = keys.user_in_digests(user.username, hour)
        values = {":hour": hour, ":pk": place["GSI1PK"], ":sk": place["GSI1SK"], ":since": to_iso(now - _DAY)}
        values[":key"] = base64.urlsafe_b64encode(entropy).decode()
    table.write(account_checks.change(user.username, expression, user.account_id, values=values))


def readers(table: Table, hour: int, after: str, limit: int) -> list[str]:
    """The names after ``after`` of those who are mailed at an hour. A Query of GSI1."""
    start = keys.user_in_digests(after, hour)["GSI1SK"] if after else None
    found = table.query(keys.digests(hour), index=GSI1, after=start, limit=limit, projection=_NAME)
    return [core_keys.id_in(item["GSI1SK"]) for item in found]


def news(table: Table, user: User, due: datetime) -> tuple[Sequence[Message], int]:
    """The messages of the mail that is due, oldest first, and how many more wait for the next. A Query of GSI1.

    These are all unread messages that no mail had, since the account asked for mails. Those for members who are
    notified once a day are among them, although the inbox may show them some hours later.
    """
    since = settings_of(user).digest_since or due - 2 * _DAY  # an hour that was chosen before its day was kept
    after = identifiers.random(max(since, due - settings.MESSAGE_LIFETIME), bytes(16))
    unread = table.query(core_keys.messages(user.username), index=GSI1, after=core_keys.message_sort_key(after))
    waiting = damage.readable((item for item in unread if "MailedAt" not in item), messages.from_item)
    return waiting[:MESSAGES], max(0, len(waiting) - MESSAGES)


def note_mailed(table: Table, mailed: Sequence[Message], now: datetime) -> None:
    """Note that a mail had these messages. One that fails comes with the next mail again, and is reported."""
    for _ in damage.each(mailed, lambda each: mark(table, each, now), attrgetter("message_id"), failures=[]):
        pass


def mark(table: Table, message: Message, now: datetime) -> None:
    """Note that a message was mailed, if it is still there."""
    key, values = core_keys.message(message.username, message.message_id), {":now": to_iso(now)}
    with suppress(NoSuchMessage):
        refused = NoSuchMessage(message.message_id)
        table.write(update(key, "SET MailedAt = :now", values=values, refused=refused))


def claim(table: Table, user: User, due: datetime, claimant: str) -> bool:
    """Claim an account's mail of a day for one delivery, the ``claimant``; False where another one has claimed it.

    The receipt names no account but by its id.
    """
    item = {
        **keys.digest_receipt(user.account_id, f"{due:%Y-%m-%d}"),
        "Type": keys.DIGEST_RECEIPT,
        "Claimant": claimant,
        TTL_ATTRIBUTE: int((due + 3 * TOO_LATE).timestamp()),
    }
    try:
        table.write(put_new(item, refused=AlreadyExists()))
    except AlreadyExists:
        return False
    return True


def release(table: Table, user: User, due: datetime, claimant: str) -> None:
    """Take back a delivery's own claim, whose mail was not sent. That of another delivery stays."""
    key = keys.digest_receipt(user.account_id, f"{due:%Y-%m-%d}")
    own = delete(key, condition="Claimant = :own", values={":own": claimant}, refused=AlreadyExists())
    with suppress(AlreadyExists):
        table.write(own)


def unsubscribing(user: User) -> str:
    """The token of the link that ends an account's mails: its name, signed with the account's own key.

    It dies with the address that it is mailed to. It outlives a new password: refusing mails needs none.
    """
    return f"{user.username}.{_signature(user)}"


def subscriber(table: Table, token: str) -> User:
    """The account whose link ends its mails, as long as it has the address of the mail. Raises DeadLink."""
    user, signature = account_named(table, token), token.rpartition(".")[2]
    if settings_of(user).digest_key is None or not hmac.compare_digest(signature.encode(), _signature(user).encode()):
        raise DeadLink
    return user


def _signature(user: User) -> str:
    signed = f"no digest {user.username} {user.account_id} {user.email}"
    return hmac.digest((settings_of(user).digest_key or "").encode(), signed.encode(), "sha256").hex()[:32]
