"""A deal's feed: its source, and the fields that editors have taken over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from shared.values.stored import Attribute

if TYPE_CHECKING:
    from shared.models.catalog import Deal

KEPT = ("title", "link", "image", "description", "variant", "ends_at")
"""The fields that a feed no longer changes once an editor has changed them."""


class Source(NamedTuple):
    """The name of the feed's source. A ``source_id`` alone doesn't say where it ends."""

    name: str

    @classmethod
    def parse(cls, text: str) -> Source:
        """Read a source from its text in the table."""
        return cls(text)

    def __str__(self) -> str:
        return self.name


class TakenOver(NamedTuple):
    """The fields of a deal that editors have changed, so that feeds leave them alone.

    A deal whose ``ends_at`` is taken over was ended by an editor, or ends when an editor said.
    """

    fields: frozenset[str] = frozenset()

    @classmethod
    def parse(cls, text: str) -> TakenOver:
        """Read the fields from their text in the table."""
        return cls(frozenset(text.split()) - {"-"})

    def __str__(self) -> str:
        return " ".join(sorted(self.fields)) or "-"


STORED = (
    Attribute("FeedSource", Source, copied=False),
    Attribute("TakenOver", TakenOver, listed=False, copied=False),
)


def edited(old: Deal, new: Deal, changes: Mapping[str, Any]) -> Deal:
    """Note the fields that an edit takes over from the deal's feed. An import says itself what is taken over."""
    if old.source_id is None or TakenOver in changes.get("more", {}):
        return new
    now = {name for name in KEPT if getattr(new, name) != getattr(old, name)}
    if not now:
        return new
    before = old.own(TakenOver) or TakenOver()
    return new.with_own(TakenOver(before.fields | now))
