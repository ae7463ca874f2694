"""Pictures of deals: editors send them as files, and the site serves them."""

DOES = "pictures of deals, which editors send as files and the site serves"
NEEDS = ("isolation",)
ORDER = -1
JOINS = {"editors": "api", "desk": "desk_pages", "publisher": "upkeep", "expiry": "clock"}
