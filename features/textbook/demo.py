"""The textbook in the demo, which needs the files whose text its pages show, and its own table."""

from __future__ import annotations

from features.textbook.lessons import add_table, shown

__all__ = ["PACKED", "PREPARES", "shown"]

PACKED = ("/learn", "/learn/item-collection")
PREPARES = {"learn": add_table}
