"""Saved deals: a member's list of deals to come back to."""

DOES = "deals that members save"
NEEDS = ()
JOINS = {"mine": "pages"}
