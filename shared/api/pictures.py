"""The JSON of a deal's picture: the body that asks for a form, what is answered, and what deals have in addition."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from shared.api.fields import Answer, Body, Count, DealId


class Picture(Answer):
    """A deal's own picture. ``path`` is below the site's address, and its content never changes."""

    path: str
    width: Count
    height: Count
    colour: Annotated[str, Field(pattern="^[0-9a-f]{6}$", description="The colour of most of it, as RGB.")]


class NewPicture(Body):
    """Ask for a form that sends a picture for a deal."""

    deal_id: DealId


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

IN_ANSWERS: Mapping[str, Mapping[str, Any]] = {"Deal": {"picture": Picture | None}}
"""By a model's name, the fields that it has in addition to its own."""

_GONE = Field(default=None, description="Takes the picture away; POST /pictures sends one.")

IN_CHANGES: Mapping[str, Any] = {"picture": Annotated[None, _GONE]}
"""The same, of the body that changes a deal."""
