"""Shops' feeds: read in their formats, kept up to date, and ended where a shop no longer has a deal."""

DOES = "imports of shops' feeds in their formats, with updates and ends of existing deals"
NEEDS = ("imports", "isolation")
