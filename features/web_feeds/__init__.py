"""Every list and search as a feed, in Atom and JSON."""

DOES = "every list and search as a feed, in Atom and JSON"
NEEDS = ()
JOINS = {"site": "pages"}
