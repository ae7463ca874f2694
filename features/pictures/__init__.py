"""Pictures of deals: editors send them as files, and the site serves them."""

DOES = "pictures of deals, which editors send as files and the site serves"
NEEDS = ("desk", "isolation")
ORDER = -1
JOINS = {"editors": "api", "editing": "desk_pages", "publisher": "upkeep", "expiry": "clock"}
