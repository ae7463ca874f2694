"""The page that the demo packs."""

PACKED = ("/popular",)
