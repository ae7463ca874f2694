"""The desk's pages that the demo packs."""

PACKED = ("/desk", "/desk/deals/new", "/desk/brands")
