"""The keys of saved deals."""

from __future__ import annotations

from shared.data.keys import Item, Text

SAVED = "Saved"

saved = Item[str, str](PK="SAVED#{username}", SK="DEAL#{deal_id}")
saved_by = Text[str]("SAVED#{username}")
