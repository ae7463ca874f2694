"""The shop: addresses, carts, orders and stock. It imports the catalog; neither the catalog nor the members import
it."""
