"""Private feeds: a member's messages at a secret address, for a feed reader."""

DOES = "members' messages as a feed at a secret address"
NEEDS = ()
JOINS = {"members": "api", "mine": "pages"}
