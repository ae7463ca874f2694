"""The body of requests that keep a draft."""

from __future__ import annotations

from datetime import datetime

from features.drafts.data import NEEDED
from shared.api.bodies import BrandSlug, CategorySlug, OptionalFields, Time, Title, WebAddress
from shared.api.fields import Currency, Price
from shared.models.catalog import Deal


class NewDraft(OptionalFields):
    """Save a deal as a draft. No field is required until it is posted, or scheduled by ``startsAt``."""

    title: Title | None = None
    link: WebAddress | None = None
    price: Price | None = None
    brand: BrandSlug | None = None
    category: CategorySlug | None = None
    currency: Currency = "USD"
    starts_at: Time | None = None

    def to_deal(self, draft_id: str, now: datetime) -> Deal:
        """A draft's deal; missing fields are empty."""
        missing = {name: "" for name in NEEDED if getattr(self, name) is None}
        return Deal(
            **self.model_dump(exclude={"expires_at", "starts_at"}) | missing,
            deal_id=draft_id,
            brand_name=self.brand or "",
            created_at=now,
            ends_at=self.expires_at,
        )
