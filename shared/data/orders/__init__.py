"""The shop: addresses, carts, orders and stock. It knows the catalog; neither the catalog nor the members know it."""
