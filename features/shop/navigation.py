"""The shop's links, and the paths that crawlers leave out."""

TABS = {
    "sections": (("/sold-here", "Sold here"),),
    "desk": (("/desk/shop/orders", "Orders"),),
    "mine": (("/shop/cart", "Cart"), ("/shop/orders", "Orders"), ("/shop/addresses", "Addresses")),
}
PRIVATE_PATHS = ("/shop/",)
