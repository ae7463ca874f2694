"""Deals that an editor has begun, and has not posted yet."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from shared.models.catalog import Deal

NEEDED = ("title", "link", "price", "currency", "brand", "category")
"""The fields that a deal must have to be posted: empty while they are missing, and named alike in the API."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft, which is its editor's alone. Of its ``deal`` what is still missing is empty.

    The deal's id is the draft's and its times are the draft's own; what is posted gets new ones.
    ``starts_at`` is when it is to be posted, None where nothing is planned. ``refused`` says why it could not be posted
    when it was due.
    """

    deal: Deal
    username: str
    account_id: str
    starts_at: datetime | None = None
    refused: str | None = None

    @property
    def draft_id(self) -> str:
        return self.deal.deal_id

    @property
    def missing(self) -> list[str]:
        """The fields that it needs before it can be posted."""
        return [name for name in NEEDED if not getattr(self.deal, name)]
