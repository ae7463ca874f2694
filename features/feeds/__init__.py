"""Shops' feeds: read in their formats, kept up to date, and ended where a shop no longer has a deal."""
