"""Limits in typed searches: ``shoes under $80`` finds shoes up to 80 dollars."""

DOES = "prices and discounts among the words of a search, as limits"
NEEDS = ()
