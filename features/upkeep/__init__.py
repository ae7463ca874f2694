"""Upkeep of a table: its check and repair, and what existing items need for a new release."""

DOES = "`btd check`, `backfill` and `index`: check a table and repair it, and rewrite existing items"
NEEDS = ()
