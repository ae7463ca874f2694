"""Copies that a function has read, kept for a second: under load, an environment reads each of them once a second.

There are few of them (``page_cache.PARTS``, in two forms), so what is kept stays small.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from datetime import datetime

from shared import settings
from shared.data.catalog import page_cache
from shared.data.catalog.page_cache import JSON, Cached, Copy, Rendering
from shared.dynamodb.table import Table
from shared.models.catalog import CountedTopic, Topic


class CopyCache:
    """Copies that were read, each with the time of reading. A copy that was not usable is not kept.

    ``used`` is called with the name and form of each copy that needed no request, for those who tell what a page took.
    """

    used: Callable[[str, Rendering], None]

    def __init__(self) -> None:
        self.used = lambda _name, _form: None
        self._copies: dict[Hashable, tuple[datetime, Copy]] = {}
        self._counts: dict[Hashable, CountedTopic] = {}

    def read(
        self, table: Table, wanted: Sequence[Cached], *, shard: int, now: datetime, form: Rendering = JSON
    ) -> list[Copy | None]:
        """As ``page_cache.read`` does, reusing copies read a moment ago."""
        found: dict[Cached, Copy | None] = {part: self._still(part, form, now) for part in wanted}
        unknown = [part for part, copy in found.items() if copy is None]
        for part in found.keys() - unknown:
            self.used(part.name, form)
        copies = page_cache.read(table, unknown, shard=shard, now=now, form=form) if unknown else []
        for part, copy in zip(unknown, copies, strict=True):
            found[part] = self._keep(part, form, copy, now)
        return [found[part] for part in wanted]

    def read_category(
        self, table: Table, category: Topic, *, shard: int, now: datetime, form: Rendering = JSON
    ) -> tuple[CountedTopic, Copy | None]:
        """As ``page_cache.read_category`` does, reusing copies and counts read a moment ago."""
        place = (category, form)  # apart from the page's copy alone, which was not read with the counts
        copy = self._still(*place, now)
        if copy is not None:
            self.used(category.slug, form)
            return self._counts[place], copy
        counts, copy = page_cache.read_category(table, category, shard=shard, now=now, form=form)
        if self._keep(*place, copy, now) is not None:
            self._counts[place] = counts
        return counts, copy

    def _still(self, what: Hashable, form: Rendering, now: datetime) -> Copy | None:
        read_at, copy = self._copies.get((what, form), (now, None))
        if copy is None or copy.expires_at <= now.timestamp():
            return None
        return copy if read_at <= now < read_at + settings.COPIES_ARE_KEPT else None

    def _keep(self, what: Hashable, form: Rendering, copy: Copy | None, now: datetime) -> Copy | None:
        if copy is not None:
            self._copies[what, form] = (now, copy)
        return copy
