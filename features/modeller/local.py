"""The modeller on the laptop."""

from __future__ import annotations

LINKS = (("Model", "model", "a table of one's own, with its price"),)
