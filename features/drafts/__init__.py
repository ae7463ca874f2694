"""Drafts: deals that an editor saves, to post them later or at a time."""

DOES = "drafts of deals, which an editor posts later or schedules"
NEEDS = ()
JOINS = {"editors": "api", "desk": "pages", "expiry": "upkeep"}
