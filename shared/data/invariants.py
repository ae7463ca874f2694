"""Invariants of the table: the rules' names, what breaks one, and how a feature says what must hold of its own items.

The rows (``entities.py``) give an item's attributes, index places and partners. Counts, notes of times, words, offers
and accounts depend on several items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import Key

DAMAGE = "damaged item"
UNKNOWN = "types of items"
ATTRIBUTES = "attributes that a key says"
INDEX = "places in indexes"
PARTNERS = "items that others need"
FOLLOWERS = "likes and watches"
FEEDS = "counts of feeds"
NOTES = "notes of times"
WORDS = "words of deals"
WORD_COUNTS = "counts of words"
OFFERS = "offers of products"
VERDICTS = "verdicts of prices"
BRANDS = "list of brands"
NUMBERS = "sequences of numbers"
ACCOUNTS = "accounts"


@dataclass(frozen=True, slots=True)
class Count:
    """What an item adds to a count of a feature: the count's type and key, the attribute, and how much."""

    type: str
    key: Key
    attribute: str
    by: int


@dataclass(frozen=True, slots=True)
class Fault:
    """An item that breaks a rule, as found and as it should be (None: no item). A ``derived`` one can be repaired."""

    rule: str
    key: Key
    found: Item | None
    due: Item | None
    derived: bool = True

    @property
    def attributes(self) -> list[str]:
        """The attributes that differ."""
        found, due = self.found or {}, self.due or {}
        return sorted(name for name in found.keys() | due.keys() if found.get(name) != due.get(name))


class Others:
    """What one scan has seen of a feature's items; a feature says what differs."""

    READ: Mapping[str, Callable[[Item], object]] = {}
    DERIVED: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {}
    SEQUENCES: Mapping[str, Key] = {}
    NEEDED: frozenset[str] = frozenset()
    FOLLOW: frozenset[str] = frozenset()
    COUNTS: Mapping[str, str] = {}
    """The types of items that are counts, each with its rule's name."""

    FROM: Mapping[str, frozenset[str]] = {}
    """The types of items that a rule depends on. While one of these can't be read, none of it is repaired."""

    def add(self, item: Item, kind: str) -> None:
        """Record an item."""

    def add_deal(self, item: Item) -> None:
        """Record a deal."""

    def counted(self, _item: Item, _kind: str) -> Count | None:
        """What an item adds to a count, or None."""
        return None

    def count_due(self, _key: Key, _item: Item | None, _counted: Mapping[str, int]) -> Item | None:
        """A count's item as the counted items require it."""
        return None

    def of_account(self, _name: str) -> Mapping[str, int]:
        """Counts that an account holds."""
        return {}

    def compared(self, _of: Callable[[str], list[Item]]) -> Iterator[Fault]:
        """The faults that are only known at the end of the scan."""
        yield from ()
