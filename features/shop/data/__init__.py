"""The shop: addresses, carts, orders and stock. It imports the catalog and members, which don't import it."""
