"""The shop: carts, orders and stock of the deals that the site sells itself."""

DOES = "carts, orders and stock of the deals that the site sells itself"
NEEDS = ("desk",)
ORDER = -2
JOINS = {"api": "orders", "accounts": "account", "refresher": "upkeep", "expiry": "clock"}
