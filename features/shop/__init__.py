"""The shop: carts, orders and stock of the deals that the site sells itself."""
