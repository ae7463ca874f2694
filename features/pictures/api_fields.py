"""The picture in others' JSON: in a deal's, and in the body that changes a deal."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from features.pictures.models import Picture as StoredPicture
from shared.api.bodies import DealChange
from shared.api.fields import Answer, Body, Count, without_defaults


class Picture(Answer):
    """A deal's own picture. ``path`` is relative to the site's address, and its content never changes."""

    path: str
    width: Count
    height: Count
    colour: Annotated[str, Field(pattern="^[0-9a-f]{6}$", description="Its dominant colour, as RGB.")]


class DealPicture(Answer):
    """The field of deals."""

    picture: Picture | None


ANSWERS: Mapping[str, type[Answer]] = {"Deal": DealPicture}
"""The fields of others' answers, by the names of their models."""


class PictureChange(DealChange):
    """The field of the body that changes a deal."""

    model_config = ConfigDict(json_schema_extra=without_defaults)

    picture: Annotated[None, Field(description="Null removes the picture; POST /pictures uploads one.")] = None

    def changes(self, now: datetime) -> dict[str, Any]:
        """The picture is a value of a feature's type."""
        changes = super().changes(now)
        return changes | {"more": {StoredPicture: changes.pop("picture")}} if "picture" in changes else changes


BODIES: Mapping[str, type[Body]] = {"DealChange": PictureChange}
"""The bodies with fields that pictures add."""
