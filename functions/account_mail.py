"""Mail to accounts, for the API and the pages: bodies of requests about mailed links, and what a change mails."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from shared.api.fields import Body
from shared.api.member_bodies import Email, Password
from shared.data.mail import mailing
from shared.models.members import User
from shared.runtime.mail import mail_queue


class PasswordReset(Body):
    """Ask for a link to a new password, to the email address of an account."""

    email: Email


class MailedToken(Body):
    """The token of a link that was mailed, which ends the link."""

    token: Annotated[str, Field(min_length=1, max_length=200)]


class NewPassword(MailedToken):
    """Give an account a new password, by the token of the link that was mailed."""

    password: Password


def on_account(what: Literal["made", "email", "password"], before: User, after: User) -> None:
    """Mail the address that an account had a notice of a change, and a link to an address that is not proved."""
    if what == "password" or before.email != after.email:
        mailing.notify(mail_queue(), "password" if what == "password" else "email", before)
    if what != "password":
        mailing.ask_to_verify(mail_queue(), after)
