"""Clicks: how often readers follow deals to their shops."""

DOES = "counts of the clicks that lead readers to shops"
NEEDS = ("desk",)
JOINS = {"editing": "desk"}
