"""The JSON of a deal's picture: the request's body, the answers, and the field of deals."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from shared.api.bodies import DealChange
from shared.api.fields import Answer, Body, Count, DealId, without_defaults
from shared.values.pictures import Picture as StoredPicture


class Picture(Answer):
    """A deal's own picture. ``path`` is relative to the site's address, and its content never changes."""

    path: str
    width: Count
    height: Count
    colour: Annotated[str, Field(pattern="^[0-9a-f]{6}$", description="Its dominant colour, as RGB.")]


class NewPicture(Body):
    """Request a form that uploads a deal's picture."""

    deal_id: DealId


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


class DealPicture(Answer):
    """The field of deals."""

    picture: Picture | None


IN_ANSWERS: Mapping[str, type[Answer]] = {"Deal": DealPicture}
"""The fields of others' answers, by the names of their models."""


class PictureChange(DealChange):
    """The field of the body that changes a deal."""

    model_config = ConfigDict(json_schema_extra=without_defaults)

    picture: Annotated[None, Field(description="Null removes the picture; POST /pictures uploads one.")] = None

    def changes(self, now: datetime) -> dict[str, Any]:
        """The picture is a value of a feature's type."""
        changes = super().changes(now)
        return changes | {"more": {StoredPicture: changes.pop("picture")}} if "picture" in changes else changes
