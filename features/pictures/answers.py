"""The API's answers about pictures."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from features.pictures.api_fields import Picture
from shared.api.fields import Answer, Count


class PictureForm(Answer):
    """A form that uploads one picture to S3 (multipart/form-data): all ``fields`` first, then the file as ``file``."""

    url: str
    fields: dict[str, str]
    expires_at: datetime
    max_bytes: Count


class PictureState(Answer):
    """A deal's picture, and the outcome of its last upload (``key`` is that of the form)."""

    picture: Picture | None
    key: str | None
    refused: str | None


ANSWERS: Mapping[str, type[Answer]] = {"PictureForm": PictureForm, "PictureState": PictureState}
"""The models of answers, by the names that routes use."""
