"""Those who have an account, their sessions, and where their orders go."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from shared.models.alerts import Pace
from shared.values.stored import stored

Role = Literal["member", "editor"]

Trouble = Literal["bounce", "complaint"]
"""Why nothing is mailed to an address: a mail came back for good, or its reader called it unwanted."""


@dataclass(frozen=True, slots=True)
class User:
    """An account. ``password_hash`` is argon2id's encoded form, and None where it was not asked for.

    ``generation``, as it was read, is that of its sessions: it changes with a new password and a sign-out everywhere.
    ``hot_pace`` is when one is told of hot deals, and None at once. A name may have another owner later, an
    ``account_id`` never has. ``verified_email`` is the address that was proved last: one that took its place is not
    verified. So is ``stopped_email`` the one that nothing is mailed to. ``digest_hour``, in UTC, is when the day's
    unread messages are mailed, those since ``digest_since``; ``digest_key`` signs the links that end that.
    """

    username: str = field(metadata=stored("Username", personal=True))
    email: str = field(metadata=stored("Email", personal=True))
    name: str = field(metadata=stored("Name", personal=True))
    password_hash: str | None = field(compare=False, repr=False)
    role: Role = field(metadata=stored("Role"))
    created_at: datetime = field(metadata=stored("CreatedAt", datetime))
    generation: str = field(default="", compare=False)
    account_id: str = field(default="", compare=False, metadata=stored("AccountId", personal=True))
    verified_email: str | None = field(default=None, metadata=stored("VerifiedEmail", personal=True))
    hot_pace: Pace | None = field(default=None, metadata=stored("HotPace", Pace))
    stopped_email: str | None = field(default=None, metadata=stored("StoppedEmail", personal=True))
    stopped_because: Trouble | None = field(default=None, metadata=stored("StoppedBecause"))
    digest_hour: int | None = field(default=None, metadata=stored("DigestHour", int))
    digest_since: datetime | None = field(default=None, metadata=stored("DigestSince", datetime))
    digest_key: str | None = field(default=None, repr=False, metadata=stored("DigestKey", personal=True))

    @property
    def is_verified(self) -> bool:
        """Whether the email address was proved to be the user's own, by a link that was mailed to it."""
        return self.verified_email == self.email

    @property
    def mail_is_stopped(self) -> bool:
        """Whether nothing is mailed to the address any more: mails to it came back, or its owner complained."""
        return self.stopped_email == self.email


@dataclass(frozen=True, slots=True)
class Session:
    """A signed-in session; its token is known to the client only."""

    username: str = field(metadata=stored("Username"))
    account_id: str
    role: Role
    created_at: datetime = field(metadata=stored("CreatedAt", datetime))
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Address:
    """An address of orders: ``region`` a state or province, if its country has them, ``country`` two letters."""

    recipient: str = field(metadata=stored("Recipient"))
    street: str = field(metadata=stored("Street"))
    city: str = field(metadata=stored("City"))
    region: str | None = field(default=None, metadata=stored("Region"), kw_only=True)
    postal_code: str = field(metadata=stored("PostalCode"))
    country: str = field(metadata=stored("Country"))
