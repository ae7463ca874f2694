"""The key of a checkpoint."""

from __future__ import annotations

from shared.data.keys import Item

BACKFILL = "Backfill"

backfill = Item[str, int, int]("BACKFILL#{item_type}#{segments}#{segment}")
"""The checkpoint of one segment of a scan for items of a type."""
