"""The table as it is, for editors: item collections drawn as people draw single tables, code, and what followed a deal.

Only stages that show their work have this function. Its role reads no account; of sessions it reads the one whose token
it is shown.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from shared import settings
from shared.data import keys
from shared.data.catalog import deals, feed_counts, page_cache, search
from shared.data.catalog.deal_items import readable
from shared.data.members import announcements, fanout_progress, follows
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import INDEXES, KEYS, PARTITION_KEY, SORT_KEY, Index
from shared.dynamodb.table import Projection
from shared.errors import Forbidden, NoSuchPath
from shared.html import cookies, pages, views
from shared.html.app import Routes, serve
from shared.html.page_cost import collection, is_visible
from shared.html.pages import Answer
from shared.html.request import Request
from shared.models.catalog import (
    ALL_DEALS,
    BRAND,
    CATEGORIES,
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

MOST = 50
"""Items of a collection that are drawn."""

LONGEST = 160
"""Characters of a value that are drawn."""

READERS = 100
"""Watchers whose messages are looked for."""

SHOWN = "shared.data."
"""The modules whose code is shown: the data layer, which requests come from."""

_INDEXES = {index.name: index for index in INDEXES}
_SECRET = {"PasswordHash"}
_HERE = Projection.of("PK", "SK")
_MESSAGE = Projection.of("PK", "SK", "CreatedAt")
_COPY = Projection.of("PK", "SK", "BuiltAt")
_PICKS = Projection.of("PK", "SK", "Featured")
_SHARDS = range(1, settings.CACHE_SHARDS + 1)
_FORMS = (page_cache.JSON, page_cache.HTML)

routes = Routes()


@routes.get("/table")
def item_collection(request: Request) -> Answer:
    """One item collection, of the table or of an index; without a partition, where one can begin."""
    _editor(request)
    partition, name = request.query.get("partition", "").strip(), request.query.get("index") or None
    if not partition:
        return _page(request, "collections/start.html", partition="", starts=_starts())
    if not is_visible(partition, name):
        raise Forbidden("This collection is not shown: accounts, sessions and attempts are left out.")
    index = _INDEXES.get(name) if name else None
    items = list(table().query(partition, index=index, newest_first=index is not None, limit=MOST + 1))
    return _page(
        request,
        "collections/collection.html",
        partition=partition,
        index=name or "table",
        partition_key=index.partition_key if index else PARTITION_KEY,
        sort_key=(index.sort_key if index else SORT_KEY) or "",
        rows=[_row(item, index) for item in items[:MOST]],
        more=len(items) > MOST,
        most=MOST,
    )


@routes.get("/table/code/<module>")
def code(request: Request, module: str) -> Answer:
    """The source of a module of the data layer, line by line."""
    _editor(request)
    ours = module.startswith(SHOWN) and module.replace(".", "").isidentifier()
    try:
        found = importlib.util.find_spec(module) if ours else None
    except ModuleNotFoundError:
        found = None
    if found is None or found.origin is None:
        raise NoSuchPath
    lines = Path(found.origin).read_text(encoding="utf-8").splitlines()
    return _page(request, "collections/code.html", module=module, path=f"{module.replace('.', '/')}.py", lines=lines)


@routes.get("/table/followed/<number>")
def followed(request: Request, number: str) -> Answer:
    """All that followed from posting a deal: what its transaction wrote, and what the stream made of it since."""
    _editor(request)
    deal = deals.find(table(), number)
    return _page(
        request,
        "collections/followed.html",
        d=views.card(deal, request.now),
        posted=views.moment(deal.created_at),
        correlation_id=deal.correlation_id or "",
        version=deal.version,
        steps=[_written(deal), _filed(deal), _copied(deal), *_told(deal)],
    )


def _editor(request: Request) -> None:
    cookies.editor_of(table(), request, "The table is for editors.")


def _page(request: Request, template: str, **values: Any) -> Answer:
    return pages.page(template, here=request.path, **values)


def _starts() -> list[dict[str, Any]]:
    """Collections to begin with."""
    named = {
        "The counts of all deals": keys.counts(ALL_DEALS),
        "All brands": keys.brands()[PARTITION_KEY],
        **{name: keys.topic(Topic(CATEGORY, slug))[PARTITION_KEY] for slug, name in CATEGORIES.items()},
    }
    return [{"name": name, "key": key, "link": collection(key, None)} for name, key in named.items()]


def _row(item: Item, index: Index | None) -> dict[str, Any]:
    """One item: its sort key, its type, where else it can be found, and its attributes."""
    sort_key = (index.sort_key if index else SORT_KEY) or SORT_KEY
    places = []
    for other in (None, *INDEXES):
        key = other.partition_key if other else PARTITION_KEY
        if key in item and other != index:
            name = other.name if other else None
            places.append({"index": name or "table", "key": item[key], "link": collection(item[key], name)})
    return {
        "sort": str(item.get(sort_key, "")),
        "type": item.get("Type", ""),
        "places": places,
        "attributes": [
            {"name": name, "value": _drawn(value)}
            for name, value in sorted(item.items())
            if name not in {*KEYS} | _SECRET | {"Type"}
        ],
    }


def _drawn(value: Any) -> str:
    """A value as it is drawn: whole where it is short, else its beginning or its size."""
    if isinstance(value, bytes):
        return f"{len(value):,} bytes"
    if isinstance(value, set):
        value = sorted(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=_drawn)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text):,} characters)"


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


handler = serve(routes)
