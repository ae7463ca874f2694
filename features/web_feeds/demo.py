"""The feeds that the demo packs."""

PACKED = ("/feed.atom",)
