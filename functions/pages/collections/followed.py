"""What followed from posting a deal: what its transaction wrote, and what the stream made of it since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from shared import settings
from shared.data import keys
from shared.data.catalog import deals, feed_counts, page_cache, search
from shared.data.catalog.deal_items import readable
from shared.data.members import announcements, fanout_progress, follows
from shared.dynamodb.schema import PARTITION_KEY
from shared.dynamodb.table import Projection
from shared.html import cookies, pages, views
from shared.html.app import Routes
from shared.html.page_cost import collection
from shared.html.pages import Answer
from shared.html.request import Request
from shared.models.catalog import (
    BRAND,
    CATEGORY,
    EDITORS_CHOICE,
    FRONT_PAGE,
    CuratedPage,
    Deal,
    Topic,
)
from shared.runtime.environment import table
from shared.values import links
from shared.values.counts import counted
from shared.values.times import from_iso

READERS = 100
"""Watchers whose messages are looked for."""

_HERE = Projection.of("PK", "SK")
_MESSAGE = Projection.of("PK", "SK", "CreatedAt")
_COPY = Projection.of("PK", "SK", "BuiltAt")
_PICKS = Projection.of("PK", "SK", "Featured")
_SHARDS = range(1, settings.CACHE_SHARDS + 1)
_FORMS = (page_cache.JSON, page_cache.HTML)

routes = Routes()


@routes.get("/table/followed/<number>")
def followed(request: Request, number: str) -> Answer:
    """All that followed from posting a deal: what its transaction wrote, and what the stream made of it since."""
    cookies.admit(table(), request)
    deal = deals.find(table(), number)
    return pages.page(
        "collections/followed.html",
        here=request.path,
        d=views.card(deal, request.now),
        posted=views.moment(deal.created_at),
        correlation_id=deal.correlation_id or "",
        version=deal.version,
        steps=[_written(deal), _filed(deal), _copied(deal), *_told(deal)],
    )


def _written(deal: Deal) -> dict[str, Any]:
    """The items that the deal's own transaction wrote, as far as the deal still says so."""
    made = [("the deal", keys.deal(deal.deal_id))]
    if deal.number is not None:
        made.append(("its number", keys.deal_number(deal.number)))
    if deal.source_id is not None:
        made.append(("its source", keys.deal_source(deal.source_id)))
    if deal.version == 1:  # an edited deal may have been counted elsewhere when it was posted
        for feed, period in feed_counts.places(deal).items():
            of = feed.topic.kind.label if feed.topic else "all"
            made.append((f"the count of {of} deals", keys.periods(feed, period)))
    remark = f"Posted {_at(deal.created_at)}. All of it was written, or nothing."
    return _step("Written in one transaction", remark, made, done=True)


def _filed(deal: Deal) -> dict[str, Any]:
    """The items that the stream filed for search and for the product's page."""
    wanted = [("its product's offers", keys.product_offer(links.product_hash(deal.link), deal.deal_id))]
    wanted += [(f"the word {word}", keys.word_of_deal(word, deal.deal_id)) for word in search.of_deal(deal)]
    there = {item[PARTITION_KEY] for item in table().get_many([key for _, key in wanted], projection=_HERE)}
    found = [(name, key) for name, key in wanted if key[PARTITION_KEY] in there]
    remark = (
        f"{len(found)} of {len(wanted)} items, by the stream: the product's offer, and each word of title and brand. "
        "They do not say when they were written."
    )
    return _step("Filed for search", remark, found, done=len(found) == len(wanted))


def _copied(deal: Deal) -> dict[str, Any]:
    """The copies that were built since the deal was posted: of the parts of pages that may show it, in both forms."""
    of_feeds = [page_cache.NEWEST, page_cache.CATEGORY_PAGES[deal.category]]
    of_picks = [page_cache.PICKED[page] for page in (FRONT_PAGE, EDITORS_CHOICE) if _is_picked(deal, page)]
    items = table().get_many(
        [part.key(shard, form) for part in of_feeds for form in _FORMS for shard in _SHARDS], projection=_COPY
    )
    for part in of_picks:
        for shard in _SHARDS:
            items += table().query(part.key(shard)[PARTITION_KEY], projection=_COPY)
    built = {str(keys.primary(item)): datetime.fromtimestamp(item["BuiltAt"] / 1000, UTC) for item in items}
    shown = []
    for part in of_feeds + of_picks:
        for form in _FORMS:
            times = [built.get(str(part.key(shard, form))) for shard in _SHARDS]
            since = [when for when in times if when is not None and when >= deal.created_at]
            if since:
                name = f"{part.name}, {form.name}, {len(since)} of {len(_SHARDS)} copies: {_at(max(since))}"
                shown.append((name, part.key(_SHARDS[0], form)))
    whole = len(of_feeds + of_picks) * len(_FORMS)
    remark = (
        f"{len(shown)} of {whole} were built since the deal was posted: the newest deals, its category, and the pages "
        "that it is picked for, each as JSON and as HTML."
    )
    return _step("Copies rebuilt", remark, shown, done=len(shown) == whole)


def _is_picked(deal: Deal, page: CuratedPage) -> bool:
    """Whether editors have picked a deal for a page."""
    found = table().query(keys.featured(page)[PARTITION_KEY], projection=_PICKS)
    return any(copy.deal_id == deal.deal_id for item in found for copy in readable(item.get("Featured", ())))


def _told(deal: Deal) -> list[dict[str, Any]]:
    """The messages that were written to watchers, and to everybody where the deal is hot."""
    steps = []
    for topic in _topics(deal):
        watchers = follows.watchers(table(), topic, READERS)
        news = announcements.of_deal(deal, topic.kind.label)
        places = {name: keys.message(name, announcements.message_id(news, name)) for name in watchers}
        found = table().get_many([*places.values()], projection=_MESSAGE) if places else []
        written = {item[PARTITION_KEY]: from_iso(item["CreatedAt"]) for item in found}
        remark = f"The message is written to {len(found)} of {counted(len(watchers), 'watcher')}."
        shown = [
            (f"{name}: {_at(written[key[PARTITION_KEY]])}", key)
            for name, key in places.items()
            if key[PARTITION_KEY] in written
        ]
        steps.append(_step(f"Watchers of the {topic.kind.label} told", remark, shown, done=len(found) == len(watchers)))
    if deal.hot_at is not None:
        progress = fanout_progress.read(table(), deal.deal_id)
        remark = f"{progress.told:,} readers{', everybody' if progress.finished else ' so far'}."
        shown = [("who was told, by segment", {PARTITION_KEY: keys.fan_out(deal.deal_id)})]
        steps.append(_step("Everybody told", remark, shown, done=progress.finished))
    return steps


def _at(when: datetime) -> str:
    """A time to the second, so that what followed can be put in order: ``31 July 2026, 19:42:05 UTC``."""
    return f"{views.day(when)} {when.year}, {when:%H:%M:%S} UTC"


def _topics(deal: Deal) -> tuple[Topic, Topic]:
    return Topic(BRAND, deal.brand), Topic(CATEGORY, deal.category)


def _step(name: str, remark: str, items: Sequence[tuple[str, Mapping[str, str]]], *, done: bool) -> dict[str, Any]:
    return {
        "name": name,
        "remark": remark,
        "done": done,
        "items": [
            {"name": label, "key": key[PARTITION_KEY], "link": collection(key[PARTITION_KEY], None)}
            for label, key in items
        ],
    }
