"""Drafts as the API's answers."""

from __future__ import annotations

from features.drafts.data import Draft
from shared.api.documents import Json, time, typed
from shared.values.times import to_iso


def draft(draft: Draft) -> Json:
    """A draft. Missing fields are null; ``missing`` names those that it needs to be posted."""
    of = draft.deal
    return {
        "draftId": draft.draft_id,
        "title": of.title or None,
        "link": of.link or None,
        "image": of.image,
        "price": of.price or None,
        "listPrice": of.list_price,
        "currency": of.currency or None,
        "brand": of.brand or None,
        "category": of.category or None,
        "expiresAt": time(of.ends_at),
        **typed(of),
        "startsAt": time(draft.starts_at),
        "missing": draft.missing,
        "refused": draft.refused,
        "savedAt": to_iso(of.changed_at),
    }
