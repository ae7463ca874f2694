"""Where pages link to the textbook."""

from __future__ import annotations

EXPLAINS = "/learn/pattern-"
