"""Mail's fields in the account's document, and in the body that changes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from shared.api.fields import Answer
from shared.api.member_bodies import AccountChange

Hour = Annotated[int, Field(ge=0, le=23)]
Verified = Annotated[bool, Field(description="Whether the email address is verified.")]
Stopped = Annotated[
    Literal["bounce", "complaint"] | None, Field(description="Why nothing is mailed to the address any more.")
]
Digest = Annotated[Hour | None, Field(description="The hour in UTC at which the day's messages are mailed.")]


class AccountMail(Answer):
    """Mail's fields of the caller's account."""

    email_verified: Verified
    mail_stopped: Stopped
    digest_hour: Digest


ANSWERS: Mapping[str, type[Answer]] = {"Account": AccountMail}


class DigestChange(AccountChange):
    """The field of the body that changes an account."""

    digest_hour: Annotated[
        Hour | None, Field(description="When the day's unread messages are mailed, in UTC; null is never.")
    ] = None


BODIES: Mapping[str, type[AccountChange]] = {"AccountChange": DigestChange}
