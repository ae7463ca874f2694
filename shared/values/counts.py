"""Numbers of things in words."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """A number and its noun: ``1 deal``, ``2,048 deals``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
