"""The requests of a page to DynamoDB, drawn at the page's end on stages that show their work.

A setting of the stage puts ``SHOWS_WORK`` into the environment of page functions. Without it, nothing of
this is imported and no hook is set, so it costs one look into the environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from typing import Any
from urllib.parse import quote

from shared.data.partitions import SESSION, VISIBLE
from shared.dynamodb.tracing import Request, Trace, waves
from shared.html.links import base
from shared.runtime.environment import table

PATTERNS: Mapping[str, str] = {
    "deals.create": "1",
    "deals.find": "12",
    "deals.get": "12",
    "deals.get_many": "12",
    "deals.edit": "26",
    "deals.make_hot": "21",
    "brands.create": "2",
    "brands.names": "11",
    "seeds.plant": "3",
    "picks.set_featured": "4, 6",
    "picks.set_category_featured": "5",
    "picks.read": "9",
    "picks.refresh": "26",
    "page_cache.read": "7, 9",
    "page_cache.read_category": "8",
    "feeds.read": "7, 8, 10",
    "topics.get": "10",
    "topics.get_many": "10",
    "users.create": "13",
    "users.get": "24",
    "accounts.own": "24",
    "users.count": "21",
    "follows.like": "14, 16",
    "follows.unlike": "14, 16",
    "follows.watch": "15, 17",
    "follows.unwatch": "15, 17",
    "follows.watches": "25",
    "follows.likes": "25",
    "follows.is_liked": "25",
    "follows.is_watched": "25",
    "follows.watchers": "22, 23",
    "messages.latest": "18, 19",
    "messages.unread_count": "19",
    "messages.mark_read": "20",
    "messages.mark_all_read": "20",
    "fanout.deliver": "21, 22, 23",
    "fanout_progress.read": "21",
    "sessions.start": "24",
    "sessions.authenticate": "24",
    "sessions.end": "24",
    "sessions.end_all": "24",
    "endings.sweep": "26",
    "addresses.save": "27",
    "addresses.remove": "27",
    "addresses.of": "27",
    "reading.customer": "28",
    "carts.put_in": "29",
    "carts.take_out": "29",
    "carts.view": "29",
    "carts.pieces": "29",
    "placing.place": "30",
    "reading.get": "31",
    "reading.find": "31",
    "reading.latest": "32",
    "reading.closed": "34",
    "reading.filled": "31",
    "steps.advance": "33",
    "steps.undo": "33",
    "open_orders.read": "34",
    "stock.add": "35",
    "stock.leave": "35",
    "stock.of": "35",
    "stock.find": "35",
    "stock.find_many": "35",
    "search.find": "36",
    "deal_pages.read": "37",
    "offers.offers": "37",
    "offers.offers_of": "37",
    "feeds.of_periods": "37",
    "saved.save": "38",
    "saved.unsave": "38",
    "saved.is_saved": "38",
    "saved.latest": "38",
    "clicks.count": "39",
    "clicks.is_first": "39",
    "clicks.of": "39",
    "endings.upcoming": "40",
    "offers.ended": "41",
}
"""The numbers of the access patterns that a function of the data layer serves, as the README's table has them."""

_HELPERS = {
    "endings._due": "feeds.read",
    "endings._notes": "endings.upcoming",
    "feeds._query": "feeds.read",
    "memory.read": "page_cache.read",
    "memory.read_category": "page_cache.read_category",
    "feed_counts._books": "feeds.read",
    "feed_counts._topic": "feeds.read",
    "reading._parts": "reading.get",
    "reading._whole": "reading.get",
    "open_orders._by_day": "open_orders.read",
    "open_orders._open_in": "open_orders.read",
    "search._begun": "search.find",
    "search._counts": "search.find",
    "search._known": "search.find",
    "search._newest": "search.find",
}
"""Functions that run in a thread of their own, or keep what was read, each with the function that it works for."""

_BY_INDEX: Mapping[tuple[str, str | None], str] = {
    ("feeds.read", "GSI1"): "7",
    ("feeds.read", "GSI2"): "10",
    ("feeds.read", "GSI3"): "8",
    ("feeds.of_periods", "GSI1"): "7",
    ("messages.latest", None): "18",
    ("messages.latest", "GSI1"): "19",
}
"""Where the index tells which of several patterns it is."""


@cache
def trace() -> Trace:
    """The trace of this execution environment's table, attached when it is first asked for."""
    return Trace().attach(table())


def begin() -> None:
    """Start over, for a new request."""
    trace().start_over()


def summary() -> dict[str, Any]:
    """The requests since ``begin``, for ``page-cost.html``."""
    requests = sorted(trace().requests, key=lambda request: request.began)
    first = requests[0].began if requests else 0.0
    until = max((request.ended for request in requests), default=first)
    together = waves(requests)
    return {
        "rows": [_row(request, wave, first, until - first) for request, wave in zip(requests, together, strict=True)],
        "requests": len(requests),
        "trips": max(together, default=0),
        "capacity": str(trace().capacity),
        "ms": f"{(until - first) * 1000:.1f}",
    }


def server_timing() -> str:
    """The sum for browsers' own tools: https://www.w3.org/TR/server-timing/."""
    sum_of = summary()
    described = f"{sum_of['requests']} requests, {sum_of['trips']} round trips, {sum_of['capacity']}"
    return f'dynamodb;dur={sum_of["ms"]};desc="{described}"'


def pattern_of(source: str, index: str | None) -> str:
    """The numbers of the access patterns that a request by some function serves; nothing where it has none."""
    function = _function_of(source)
    function = _HELPERS.get(function, function)
    return _BY_INDEX.get((function, index), PATTERNS.get(function, ""))


def _function_of(source: str) -> str:
    module, _, rest = source.partition(":")
    return f"{module.rpartition('.')[2]}.{rest.partition(':')[0]}"


def _row(request: Request, wave: int, first: float, whole: float) -> dict[str, Any]:
    module, _, rest = request.source.partition(":")
    _, _, line = rest.partition(":")
    start = (request.began - first) / whole if whole else 0.0
    width = request.seconds / whole if whole else 0.0
    return {
        "wave": wave,
        "operation": request.operation,
        "index": request.index or "table",
        "keys": [
            {"text": _shown(text, partition), "link": collection(partition, request.index)}
            for text, partition in zip(request.keys, request.partitions, strict=True)
        ][:8],
        "more": max(0, len(request.keys) - 8),
        "items": request.items,
        "capacity": str(request.capacity) if request.capacity else "",
        "ms": f"{request.seconds * 1000:.1f}",
        "refused": request.refused or "",
        "pattern": pattern_of(request.source, request.index),
        "function": _function_of(request.source) if request.source else "",
        "code": f"{base()}/table/code/{module}#l{line}" if request.source else "",
        "start": round(start * 100, 1),
        "width": max(0.6, round(width * 100, 1)),
    }


def _shown(text: str, partition: str) -> str:
    """A key as it is shown; of a session only its kind."""
    if not fnmatchcase(partition, SESSION):
        return text
    return text.replace(partition.removeprefix(SESSION.rstrip("*")), "…")


def is_visible(partition: str, index: str | None) -> bool:
    """Whether an item collection is drawn: those of accounts and sessions are not."""
    return any(fnmatchcase(partition, pattern) for pattern in VISIBLE.get(index, ()))


def collection(partition: str, index: str | None) -> str:
    """The address of the page that draws an item collection, or nothing for one that is not drawn."""
    if not is_visible(partition, index):
        return ""
    of_index = f"&index={index}" if index else ""
    return f"{base()}/table?partition={quote(partition, safe='')}{of_index}"
