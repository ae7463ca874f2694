"""Read page copies: from any shard, kept in memory for a second, with hits and misses counted."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime
from functools import cache

from shared import settings
from shared.data.catalog.page_cache import JSON, Cached, Copy, CopyCache, Rendering
from shared.models.catalog import CountedTopic, Topic
from shared.runtime import metrics
from shared.runtime.environment import table
from shared.runtime.metrics import report


def read(wanted: Sequence[Cached], now: datetime, form: Rendering = JSON) -> list[Copy | None]:
    """The copies of page parts in at most one round trip; None for one to be built from the indexes."""
    copies = memory().read(table(), wanted, shard=_any_shard(), now=now, form=form)
    _count_hits(copies)
    return copies


def read_category(category: Topic, now: datetime, form: Rendering = JSON) -> tuple[CountedTopic, Copy | None]:
    """A category with its counts and its page's copy, in at most one round trip. Raises NoSuchTopic."""
    counts, copy = memory().read_category(table(), category, shard=_any_shard(), now=now, form=form)
    _count_hits([copy])
    return counts, copy


@cache
def memory() -> CopyCache:
    """The copies that this execution environment read a moment ago."""
    return CopyCache()


def _count_hits(copies: Sequence[Copy | None]) -> None:
    misses = copies.count(None)
    if misses:
        report(metrics.CACHE_MISSES, misses)
    if misses < len(copies):
        report(metrics.CACHE_HITS, len(copies) - misses)


def _any_shard() -> int:
    """A random shard, so that readers spread over all."""
    return secrets.randbelow(settings.CACHE_SHARDS) + 1
