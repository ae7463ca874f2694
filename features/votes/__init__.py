"""Votes: one for each member and deal, the deals' scores, and the list of popular deals."""

DOES = "votes on deals, their scores, and the list of popular deals"
NEEDS = ()
JOINS = {"members": "api", "mine": "pages", "refresher": "upkeep"}
