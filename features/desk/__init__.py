"""The desk: pages where editors post and edit deals, order the lists of picks, and notify all members of a deal."""

DOES = "the pages where editors post and edit deals and order the lists of picks"
NEEDS = ()
ORDER = -3
