"""The textbook on the laptop."""

from __future__ import annotations

LINKS = (("Learn", "learn", "the textbook that runs"),)
