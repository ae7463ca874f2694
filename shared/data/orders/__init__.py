"""The shop: addresses, carts, orders and stock. It imports the catalog; catalog and members do not import it."""
