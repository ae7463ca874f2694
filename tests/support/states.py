"""How a page gets into a state, and what it may weigh: for the core's tests of pages, and features' cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class State:
    """How a page gets into a state: its address, who asks for it (nobody, if empty), and the form that they send.

    ``status`` is that of the answer. ``table`` is the name of one that the functions find instead of the site's own.
    Names in braces stand for what ``usual`` and ``rare`` know (``tests/site/states.py``).
    """

    path: str
    status: int = 200
    who: str = ""
    form: Mapping[str, str] | None = None
    table: str = ""

    def filled(self, known: Mapping[str, Any]) -> State:
        form = None if self.form is None else {name: text.format_map(known) for name, text in self.form.items()}
        return replace(self, path=self.path.format_map(known), form=form, table=self.table.format_map(known))


@dataclass(frozen=True, slots=True)
class Budget:
    """How many bytes a page may have, how many with all that it asks for, heads included, and how often it may ask."""

    page: int
    all: int
    requests: int = 6


PUBLIC = Budget(7 * 1024, 30 * 1024, requests=7)
"""A compressed page, its style, scripts, face, mark and glyphs."""

MEMBERS = Budget(9 * 1024, 31 * 1024, requests=8)
"""Only public pages are compressed. On all others the script also asks for what is unread."""
