"""An account's settings of mail, and a mail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from shared.values.stored import stored

if TYPE_CHECKING:
    from shared.models.members import User

Trouble = Literal["bounce", "complaint"]
"""Why nothing is mailed to an address: a mail bounced permanently, or its reader called it unwanted."""


@dataclass(frozen=True, slots=True)
class MailSettings:
    """The settings of mail in an account's item.

    ``verified_email`` is the address that was proved last: one that took its place is not verified. So is
    ``stopped_email`` the one that nothing is mailed to. ``digest_hour``, in UTC, is when the day's unread messages are
    mailed, those since ``digest_since``; ``digest_key`` signs the links that end that.
    """

    verified_email: str | None = field(default=None, metadata=stored("VerifiedEmail", personal=True))
    stopped_email: str | None = field(default=None, metadata=stored("StoppedEmail", personal=True))
    stopped_because: Trouble | None = field(default=None, metadata=stored("StoppedBecause"))
    digest_hour: int | None = field(default=None, metadata=stored("DigestHour", int))
    digest_since: datetime | None = field(default=None, metadata=stored("DigestSince", datetime))
    digest_key: str | None = field(default=None, repr=False, metadata=stored("DigestKey", personal=True))


NOTHING = MailSettings()
"""The settings of an account without any."""


def settings_of(user: User) -> MailSettings:
    """The settings of mail of an account."""
    return user.own(MailSettings) or NOTHING


def is_verified(user: User) -> bool:
    """Whether an account's email address was proved to be its owner's, by a link that was mailed to it."""
    return settings_of(user).verified_email == user.email


def is_stopped(user: User) -> bool:
    """Whether nothing is mailed to the address any more: mails to it came back, or its owner complained."""
    return settings_of(user).stopped_email == user.email


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail to one reader: the same in plain text and in HTML, with ``headers`` in addition to the usual."""

    to: str
    subject: str
    text: str = field(repr=False)
    html: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
