"""Bulk edits: end or move several deals at once, or put them on a page."""

DOES = "changes of several deals at once on the desk"
NEEDS = ("desk",)
JOINS = {"editing": "pages", "expiry": "upkeep"}
