"""The keys of bulk edits."""

from __future__ import annotations

from shared.data.keys import Item, Text

BULK_EDIT = "BulkEdit"
UNFINISHED = "UnfinishedEdit"
"""The note of a bulk edit that the clock goes on with."""

bulk_edit = Item[str, str](PK="BULKEDITS#{username}", SK="EDIT#{edit_id}")
bulk_edits = Text[str]("BULKEDITS#{username}")
unfinished = Item[str](PK="UNFINISHEDEDITS", SK="EDIT#{edit_id}")
