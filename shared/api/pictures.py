"""The answers about uploads of pictures as pydantic models; their routes, apart, start without all of ``schemas``."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from shared.api.fields import Answer, Count
from shared.api.schemas import Picture


class PictureForm(Answer):
    """A form that sends one picture to S3 (multipart/form-data): all ``fields`` first, then the file as ``file``."""

    url: str
    fields: dict[str, str]
    expires_at: datetime
    max_bytes: Count


class PictureState(Answer):
    """A deal's picture, and the outcome of the last file that was sent for it (the ``key`` of its form)."""

    picture: Picture | None
    key: str | None
    refused: str | None


ANSWERS: Mapping[str, type[Answer]] = {"PictureForm": PictureForm, "PictureState": PictureState}
"""The models of answers, by the names that routes use."""
