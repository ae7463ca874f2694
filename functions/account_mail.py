"""What mail does when an account is made or changed: a link that proves its address, and notices of changes."""

from __future__ import annotations

from typing import Literal

from shared.data.mail import mailing
from shared.models.members import User
from shared.runtime.mail import mail_queue


def on_account(what: Literal["made", "email", "password"], before: User, after: User) -> None:
    """Mail the address that an account had a notice of a change, and a link to an address that is not proved."""
    if what == "password" or before.email != after.email:
        mailing.notify(mail_queue(), "password" if what == "password" else "email", before)
    if what != "password":
        mailing.ask_to_verify(mail_queue(), after)
