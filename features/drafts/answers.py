"""The API's answers about drafts."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar

from pydantic import Field

from features.drafts.data import NEEDED
from shared.api.fields import Answer, Money
from shared.api.schemas import CategorySlug, Models, list_of


class Draft(Answer):
    """A deal that isn't posted yet. Missing fields are null; ``refused`` says why its schedule couldn't be kept."""

    typed_before: ClassVar = "startsAt"

    draft_id: str
    title: str | None
    link: str | None
    image: str | None
    price: Money | None
    list_price: Money | None
    currency: str | None
    brand: str | None
    category: CategorySlug | None
    expires_at: datetime | None
    starts_at: datetime | None
    missing: list[Annotated[str, Field(json_schema_extra={"enum": list(NEEDED)})]]
    refused: str | None
    saved_at: datetime


ANSWERS: Models = {"Draft": Draft, "DraftList": list_of(Draft)}

OPENAPI = {"located": {("post", "/me/drafts/{draftId}"): "DealLocation"}}
