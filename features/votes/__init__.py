"""Votes: one for each member and deal, the deals' scores, and the list of popular deals."""
