"""Imports of deals from files: the command, what an import does with records, and the plainest format."""

DOES = "`btd import`: deals from JSON Lines, each at most once"
NEEDS = ()
