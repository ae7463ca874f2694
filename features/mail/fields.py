"""Mail's fields in the account's document, and in the body that changes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from features.mail.models import is_stopped, is_verified, settings_of

if TYPE_CHECKING:
    from shared.api.documents import Json
    from shared.dynamodb.table import Table
    from shared.models.members import User

Hour = Annotated[int, Field(ge=0, le=23)]
Verified = Annotated[bool, Field(description="Whether the email address is verified.")]
Stopped = Annotated[
    Literal["bounce", "complaint"] | None, Field(description="Why nothing is mailed to the address any more.")
]
Digest = Annotated[Hour | None, Field(description="The hour in UTC at which the day's messages are mailed.")]
NewHour = Annotated[
    Hour | None,
    Field(default=None, description="When the day's unread messages are mailed, in UTC; null is never."),
]

IN_ANSWERS: Mapping[str, Mapping[str, Any]] = {
    "Account": {"email_verified": Verified, "mail_stopped": Stopped, "digest_hour": Digest}
}
"""By model, the fields that mail adds to answers."""

IN_CHANGES: Mapping[str, Any] = {"digest_hour": NewHour}
"""The field that it adds to the body that changes an account."""


def of_account(_table: Table, user: User) -> Json:
    """Mail's fields of the caller's account."""
    own = settings_of(user)
    return {
        "emailVerified": is_verified(user),
        "mailStopped": own.stopped_because if is_stopped(user) else None,
        "digestHour": own.digest_hour,
    }
