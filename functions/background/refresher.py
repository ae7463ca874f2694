"""From the stream: rebuild caches once per batch, and update picked deals' copies.

It also files features' lists, once for a batch, and records changes of accounts for the audit. A batch has a second's
records, unless a shard has 500 in less time. A schedule sends an event each minute, so that pages without writes are
rebuilt before they become stale.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.utilities.batch import EventType

from shared import features, hooks, settings
from shared.api import documents
from shared.data.catalog import bargains, feed_counts, page_cache, picks
from shared.data.catalog.bargains import Counts
from shared.data.catalog.changes import DealChange, PicksChange, change_of
from shared.data.catalog.page_cache import FRONT_PAGE_PICKS, HTML, JSON, PARTS, PICKED, Cached, Copy, Rendering, Today
from shared.data.members import account_changes
from shared.dynamodb import damage
from shared.dynamodb.damage import Failures, raise_last
from shared.errors import DamagedDeal
from shared.html import fragments as rendered
from shared.models.catalog import Deal, Mark, Page, Status
from shared.runtime import audit, metrics
from shared.runtime.batches import each_record
from shared.runtime.environment import each_task, logger, table
from shared.runtime.metrics import measured, report

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.data_classes.dynamo_db_stream_event import DynamoDBRecord
    from aws_lambda_powertools.utilities.typing import LambdaContext


Written = tuple[str, str]
"""A written deal, and a category that it is or was in."""


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Rebuild what a batch of the stream, or the passing of time, has outdated; failed records are reported."""
    if "Records" not in event:
        refresh(stale(datetime.now(UTC)), set(), set())
        return {}
    effects = Effects()
    answer = each_record(event, context, EventType.DynamoDBStreams, effects.add)

    def rebuild(_failures: Failures) -> None:
        parts = effects.parts | page_cache.touched(table(), effects.changes)
        refresh([part for part in PARTS if part in parts], effects.deals, effects.requests)

    raise_last(each_task(*(other.settle for other in effects.others), rebuild))
    return dict(answer)


@dataclass(frozen=True, slots=True)
class Effects:
    """The effects of records: outdated parts, changes of deals, written deals, and the requests that caused them.

    ``others`` collect features' effects.
    """

    parts: set[Cached] = field(default_factory=set)
    changes: list[DealChange] = field(default_factory=list)
    deals: set[Written] = field(default_factory=set)
    requests: set[str] = field(default_factory=set)
    others: list[hooks.Follower] = field(
        default_factory=lambda: [each.Follower() for each in features.roles(hooks.Refresher)]
    )

    def add(self, record: DynamoDBRecord) -> None:
        """Collect one record's effects. A damaged deal leaves the copies; its repair has its own record."""
        raw = record.raw_event
        if account_changes.is_account(raw):
            for event, account_id, about in account_changes.events_of(raw):
                audit.record(event, account_id, **about)
            return
        if any(other.takes(raw) for other in self.others):
            return
        try:
            change = change_of(raw)
        except DamagedDeal as error:
            damage.note(error.name)
            self.parts.update(PARTS)
            logger().exception("unreadable stream record", exc_info=error)
            return
        match change:
            case PicksChange():
                if change.of in PICKED:
                    self.parts.add(PICKED[change.of])
            case DealChange():
                self._add_deal(change)

    def _add_deal(self, change: DealChange) -> None:
        self.changes.append(change)
        self.deals.update((deal.deal_id, deal.category) for deal in change.deals)
        if change.after is not None and change.after.correlation_id is not None:
            self.requests.add(change.after.correlation_id)
        over = any(deal.status(change.at) is not Status.ACTIVE for deal in change.deals)
        for other in self.others:
            other.add(change, over=over)


def stale(now: datetime) -> list[Cached]:
    """The parts that weren't built within half a copy's lifetime, and the front page if its counts are too old."""
    limit = settings.CACHE_LIFETIME.total_seconds() / 2
    found: list[Cached] = []
    for part in PARTS:
        is_front = part is FRONT_PAGE_PICKS
        age, copy = page_cache.age(table(), part, now, HTML if is_front else JSON)
        if age is not None:
            report(metrics.CACHE_AGE, round(age, 3))
        counts = _counts_in(copy) if is_front else None
        if age is None or age > limit or (is_front and not (counts and counts.holds(now))):
            found.append(part)
    return found


def refresh(parts: Iterable[Cached], written: Collection[Written], requests: set[str]) -> None:
    """Rebuild parts because of some requests; ``written`` are deals that the indexes may not show yet.

    A failing part doesn't stop the others. Raises the last failure, so that all are retried.
    """
    failures: Failures = []
    rebuilt = list(
        damage.each(parts, partial(_rebuild, written=written), attrgetter("name"), failures=failures, noted=())
    )
    logger().info("refreshed", parts=rebuilt, deals=len(dict(written)), correlation_ids=sorted(requests), **measured())
    raise_last(failures)


def _rebuild(part: Cached, written: Collection[Written]) -> str:
    """Rebuild a part; returns its name."""
    began = datetime.now(UTC)
    built = build(part, written, began.replace(microsecond=0))
    expires = page_cache.expiry(built.shown, began)
    last = built.latest.items[-1].deal_id if built.latest is not None and built.latest.next is not None else None
    beside = {deal.deal_id for deal in built.today.deals} if built.today else ()
    for form, render in RENDERED.items():
        page_cache.write(
            table(),
            part,
            render(built),
            began=began,
            expires=expires,
            form=form,
            last=last,
            beside=beside if form is HTML else (),
        )
    return part.name


@dataclass(frozen=True, slots=True)
class Built:
    """A part's content: its picks and its feed's newest page, each None if the part has none."""

    part: Cached
    now: datetime
    picked: Sequence[Deal] | None
    latest: Page[Deal] | None
    today: Today | None = None
    """The front page's other lists."""
    bargains: Counts | None = None
    """How many deals the front page's bargains have, if that is known."""
    marks: Mapping[str, tuple[Mark, ...]] = field(default_factory=dict)
    """Marks on the cards of the newest deals, by id."""

    @property
    def shown(self) -> list[Deal]:
        """All deals that the part shows."""
        return [*(self.picked or ()), *(self.latest.items if self.latest else ())]


def build(part: Cached, written: Collection[Written], now: datetime) -> Built:
    """Build a part's content as of now."""
    picked = None if part.picks is None else picks.refresh(table(), part.picks, now)
    latest = None
    if part.feed is not None:
        (previous,) = page_cache.read(table(), [part], shard=1, now=now)
        topic = part.feed.topic
        also = {deal_id for deal_id, category in written if topic is None or topic.slug == category}
        latest = page_cache.newest(table(), part.feed, now, also, previous, size=settings.READ_FOR_CARDS)
    if part is not FRONT_PAGE_PICKS:
        marks = rendered.marks_of(table(), latest.items, now) if latest else {}
        return Built(part, now, picked, latest, marks=marks)
    counted = _bargains(now, anew=not written)
    return Built(part, now, picked, latest, page_cache.read_today(table(), now), counted)


def _bargains(now: datetime, *, anew: bool) -> Counts | None:
    """How many deals the bargains have. The clock has them counted ``anew`` once an hour: no change waits for that."""
    (copy,) = page_cache.read(table(), [FRONT_PAGE_PICKS], shard=1, now=now, form=HTML)
    kept = _counts_in(copy)
    if kept is not None and kept.holds(now):
        return kept
    return bargains.count(table(), now) if anew else kept


def _counts_in(copy: Copy | None) -> Counts | None:
    return rendered.Front.of(copy.picks).counts() if copy and copy.picks else None


def as_json(built: Built) -> Copy:
    """Render a part for the API."""
    picks = latest = None
    if built.picked is not None:
        picks = documents.compact(documents.deals(built.picked, built.now))
    if built.latest is not None and built.part.feed is not None:
        page = page_cache.first(built.latest, built.part.feed, settings.CACHED_PAGE)
        latest = documents.compact(documents.feed(page, built.now))
    return Copy(picks, latest)


def as_html(built: Built) -> Copy:
    """Render a part for the site's pages."""
    picks = latest = None
    if built.picked is not None:
        picks = (
            rendered.front(built.picked, built.today, built.now, built.bargains).text
            if built.today is not None
            else rendered.picks(built.picked, built.now)
        )
    if built.latest is not None and built.part.feed is not None:
        counts = feed_counts.counts(table(), built.part.feed, most=settings.READ_FOR_CARDS)
        latest = rendered.latest(built.latest, built.part.feed, built.now, counts, built.marks)
    return Copy(picks, latest)


RENDERED: Mapping[Rendering, Callable[[Built], Copy]] = {JSON: as_json, HTML: as_html}
"""The forms of copies, each with its renderer."""
