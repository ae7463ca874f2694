"""Bodies of requests about mailed links (pydantic models)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from shared.api.fields import Body
from shared.api.member_bodies import Email, Password


class PasswordReset(Body):
    """Ask for a link to a new password, to the email address of an account."""

    email: Email


class MailedToken(Body):
    """The token of a link that was mailed, which ends the link."""

    token: Annotated[str, Field(min_length=1, max_length=200)]


class NewPassword(MailedToken):
    """Give an account a new password, by the token of the link that was mailed."""

    password: Password
