"""The keys of drafts."""

from __future__ import annotations

from datetime import datetime

from shared.data.keys import Item, Text

DRAFT = "Draft"
BEGINNING = "Beginning"
"""The note of when a draft is to be posted."""

draft = Item[str, str](PK="DRAFTS#{username}", SK="DEAL#{draft_id}")
drafts = Text[str]("DRAFTS#{username}")
beginning = Item[datetime, str](PK="BEGINNINGS", SK="{starts_at}#{draft_id}")
"""The note that a draft is to be posted at a time; the id ``~`` makes the upper bound of a query."""
