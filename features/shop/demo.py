"""The shop's pages that the demo packs."""

PACKED = ("/shop", "/shop/cart", "/desk/shop")
