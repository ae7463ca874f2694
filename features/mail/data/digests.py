"""Digests: each day's unread messages in one mail, at an hour that the reader chooses.

A digest has the oldest unread messages that weren't mailed before. Each is marked after SES accepted the mail, so late
messages, and those beyond a mail's limit, come with the next one. A receipt prevents two mails a day.
"""

from __future__ import annotations

import base64
import hmac
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from operator import attrgetter

from features.mail import items as keys
from features.mail.data.mailing import DeadLink, account_named
from features.mail.models import settings_of
from shared import settings
from shared.data import account_checks
from shared.data import keys as core_keys
from shared.data.members import messages
from shared.dynamodb import damage
from shared.dynamodb.schema import GSI1, TTL_ATTRIBUTE
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import delete, put_new, update
from shared.errors import AlreadyExists, NoSuchMessage
from shared.models.members import User
from shared.models.messages import Message
from shared.values import identifiers
from shared.values.times import to_iso

COHORT = 25
"""Readers in one unit of work: few enough that it takes seconds, whatever SES's quota of mails a second."""

ROWS = 15
"""Rows of messages in one mail, as the inbox shows them; it links to the rest."""

MESSAGES = 100
"""Messages in one mail, in all its rows: each is marked as mailed."""

TOO_LATE = timedelta(days=1)
"""After this a mail isn't sent any more, because the next one has been. Receipts are kept three times as long."""

KEY_BYTES = 16
"""Bytes of the key that signs an account's unsubscribe links."""

_NAME = Projection.of("GSI1SK")
_DAY = timedelta(days=1)


def choose_hour(table: Table, user: User, hour: int | None, entropy: bytes, now: datetime) -> None:
    """Set the hour (UTC) of an account's digest, or None for no digest. Raises NotSignedIn.

    The account's signing key is made from ``entropy`` once, so older links stay valid. The first mail begins a day
    before ``now``; another hour doesn't change that.
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
    """The usernames after ``after`` of readers with a digest at an hour. One Query of GSI1."""
    start = keys.user_in_digests(after, hour)["GSI1SK"] if after else None
    found = table.query(keys.digests(hour), index=GSI1, after=start, limit=limit, projection=_NAME)
    return [core_keys.id_in(item["GSI1SK"]) for item in found]


def news(table: Table, user: User, due: datetime) -> tuple[Sequence[Sequence[Message]], int]:
    """The rows of a due digest, oldest first, and how many more wait for the next. One Query of GSI1.

    A row has the messages that the inbox shows as one. They are the unread messages that weren't mailed, since the
    account asked for digests. Messages for daily readers are included, even if the inbox shows them some hours later.
    """
    since = settings_of(user).digest_since or due - 2 * _DAY  # for hours chosen before the date was stored
    after = identifiers.random(max(since, due - settings.MESSAGE_LIFETIME), bytes(16))
    unread = table.query(core_keys.messages(user.username), index=GSI1, after=core_keys.message_sort_key(after))
    waiting = damage.readable((item for item in unread if "MailedAt" not in item), messages.from_item)
    rows = messages.together(waiting[:MESSAGES])
    return rows[:ROWS], len(rows[ROWS:]) + len(messages.together(waiting[MESSAGES:]))


def note_mailed(table: Table, mailed: Sequence[Message], now: datetime) -> None:
    """Mark messages as mailed. A failed one is reported, and comes again with the next mail."""
    for _ in damage.each(mailed, lambda each: mark(table, each, now), attrgetter("message_id"), failures=[]):
        pass


def mark(table: Table, message: Message, now: datetime) -> None:
    """Mark a message as mailed, if it still exists."""
    key, values = core_keys.message(message.username, message.message_id), {":now": to_iso(now)}
    with suppress(NoSuchMessage):
        refused = NoSuchMessage(message.message_id)
        table.write(update(key, "SET MailedAt = :now", values=values, refused=refused))


def claim(table: Table, user: User, due: datetime, claimant: str) -> bool:
    """Claim an account's mail of a day for one delivery (``claimant``); False if another has claimed it.

    The receipt holds the account's id and no name.
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
    """Release a delivery's own claim, because its mail wasn't sent."""
    key = keys.digest_receipt(user.account_id, f"{due:%Y-%m-%d}")
    own = delete(key, condition="Claimant = :own", values={":own": claimant}, refused=AlreadyExists())
    with suppress(AlreadyExists):
        table.write(own)


def unsubscribing(user: User) -> str:
    """The token of an account's unsubscribe link: its name, signed with the account's own key.

    It ends with the address that it was mailed to, but outlives a password change: unsubscribing needs none.
    """
    return f"{user.username}.{_signature(user)}"


def subscriber(table: Table, token: str) -> User:
    """The account of an unsubscribe token, if it still has the mail's address. Raises DeadLink."""
    user, signature = account_named(table, token), token.rpartition(".")[2]
    if settings_of(user).digest_key is None or not hmac.compare_digest(signature.encode(), _signature(user).encode()):
        raise DeadLink
    return user


def _signature(user: User) -> str:
    signed = f"no digest {user.username} {user.account_id} {user.email}"
    return hmac.digest((settings_of(user).digest_key or "").encode(), signed.encode(), "sha256").hex()[:32]
