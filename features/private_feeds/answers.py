"""The API's answers about private feeds."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from shared.api.fields import Answer
from shared.api.schemas import Models


class PrivateFeed(Answer):
    created_at: Annotated[datetime | None, Field(description="When its key was created; null if there is none.")]
    ended: Annotated[
        bool, Field(description="A new password or signing out everywhere has ended the key. Create a new one.")
    ]


class FeedKey(Answer):
    key: Annotated[str, Field(description="The site's /my/messages.atom?key= is the feed. It is shown only once.")]
    created_at: datetime


ANSWERS: Models = {"PrivateFeed": PrivateFeed, "FeedKey": FeedKey}
