"""The page that the demo packs."""

PACKED = ("/my/saved",)
