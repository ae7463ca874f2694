"""From the stream to the copies: caches are rebuilt once per batch, and picked deals' copies follow their deals.

A schedule sends an event of its own each minute, so that a page that nobody writes to is rebuilt before it grows stale.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from shared import settings
from shared.api import documents
from shared.data.catalog import caches, featured
from shared.data.catalog.caches import NEWEST, Cached
from shared.data.catalog.changes import DealChange, PicksChange, change_of
from shared.models import CATEGORIES, CATEGORY, EDITORS_CHOICE, FRONT_PAGE, Deal, Topic
from shared.runtime import metrics
from shared.runtime.environment import logger, table
from shared.runtime.reporting import measured, report

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

CURATED = (Cached(FRONT_PAGE), Cached(EDITORS_CHOICE))
CATEGORY_PAGES = tuple(Cached(Topic(CATEGORY, slug)) for slug in CATEGORIES)
EVERYTHING = (NEWEST, *CURATED, *CATEGORY_PAGES)


def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Rebuild what a batch of the stream, or the passing of time, has made wrong."""
    if "Records" not in event:
        refresh(stale(datetime.now(UTC)), set(), set())
        return {}
    effects = affected(event["Records"])
    refresh(effects.parts, effects.deals, effects.requests)
    return {"batchItemFailures": effects.failures}


@dataclass(frozen=True, slots=True)
class Effects:
    """What follows from some records: parts made wrong, deals written, for which requests, and records that failed."""

    parts: list[Cached]
    deals: set[str]
    requests: set[str]
    failures: list[dict[str, str]]


def affected(records: Iterable[dict[str, Any]]) -> Effects:
    """What follows from some records."""
    parts: set[Cached] = set()
    written: set[str] = set()
    requests: set[str] = set()
    failures = []
    for record in records:
        try:
            change = change_of(record)
        except (KeyError, ValueError, TypeError) as error:
            logger().exception("unreadable stream record", exc_info=error)
            failures.append({"itemIdentifier": record["dynamodb"]["SequenceNumber"]})
            continue
        match change:
            case PicksChange():
                parts.add(Cached(change.of))
            case DealChange():
                deals = [deal for deal in (change.before, change.after) if deal is not None]
                written |= {deal.deal_id for deal in deals}
                if change.after is not None and change.after.correlation_id is not None:
                    requests.add(change.after.correlation_id)
                parts |= {NEWEST, *(Cached(Topic(CATEGORY, deal.category)) for deal in deals)}
                if change.before is not None:  # a deal that was there may have been picked, for any page
                    parts |= {*CURATED, *CATEGORY_PAGES}
    return Effects([part for part in EVERYTHING if part in parts], written, requests, failures)


def stale(now: datetime) -> list[Cached]:
    """The parts that have not been built, or not for half a copy's lifetime."""
    limit = settings.CACHE_LIFETIME.total_seconds() / 2
    ages = {part: caches.age(table(), part, now) for part in EVERYTHING}
    for age in ages.values():
        if age is not None:
            report(metrics.CACHE_AGE, round(age, 3))
    return [part for part, age in ages.items() if age is None or age > limit]


def refresh(parts: Iterable[Cached], written: set[str], requests: set[str]) -> None:
    """Rebuild some parts, because of some requests; ``written`` are deals that the indexes may not show yet."""
    rebuilt = []
    for part in parts:
        began = datetime.now(UTC)
        text, shown = build(part, written, began.replace(microsecond=0))
        caches.write(table(), part, text, began=began, expires=caches.expiry(shown, began))
        rebuilt.append(part.name)
    logger().info("refreshed", parts=rebuilt, deals=len(written), correlation_ids=sorted(requests), **measured())


def build(part: Cached, written: set[str], now: datetime) -> tuple[str, list[Deal]]:
    """A part's text as of now, and the deals it shows."""
    shown: list[Deal] = []
    lines = []
    if part.of is not None:
        picked = featured.follow(table(), part.of, now)
        shown += picked
        lines.append(documents.compact(documents.deals(picked, now)))
    if part.feed is not None:
        (previous,) = caches.read(table(), [part], shard=1, now=now)
        page = caches.newest(table(), part.feed, now, written, previous)
        shown += page.items
        lines.append(documents.compact(documents.feed(page, now)))
    return caches.SEPARATOR.join(lines), shown
