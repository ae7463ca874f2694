"""What a file's reader is asked, and what it has found at the end. Both pass between processes as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from features.feeds.formats import Format
from features.feeds.rules import Meaning

if TYPE_CHECKING:
    from features.feeds.reading import Feed


class Asked(NamedTuple):
    """How to read a file: its shop, format and encoding, as an import knows them; ``now`` is ISO 8601."""

    source: str
    address: str
    currency: str
    categories: Mapping[str, str]
    default: str
    form: Format
    encoding: str
    now: str


class End(NamedTuple):
    """What is known of a file once it is read. ``stopped`` says why it isn't read to its end."""

    stopped: str
    form: Format
    encoding: str
    separator: str
    read: int
    doubts: tuple[str, ...]
    currencies: tuple[tuple[str, bool, int], ...]
    faults: tuple[tuple[str, Meaning, int, str, str], ...]
    unknown: Mapping[str, int]

    @classmethod
    def of(cls, feed: Feed, stopped: str) -> End:
        """What a feed has found."""
        return cls(
            stopped=stopped,
            form=feed.form,
            encoding=feed.encoding,
            separator=feed.separator,
            read=feed.read,
            doubts=tuple(feed.doubts[:1]),
            currencies=tuple((*each, count) for each, count in feed.currencies.items()),
            faults=tuple((*each, n.count, n.source_id, n.value) for each, n in feed.faults.found.items()),
            unknown=feed.shop.unknown,
        )
