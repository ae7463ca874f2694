"""Drafts: deals that an editor saves, to post them later or at a time."""

DOES = "drafts of deals, which an editor posts later or schedules"
NEEDS = ("desk",)
JOINS = {"editors": "api", "editing": "pages", "expiry": "upkeep"}
