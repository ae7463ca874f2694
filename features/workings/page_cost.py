"""A page's DynamoDB requests, drawn at its end on stages that show their work, and faults to try.

The variable ``SHOWS_WORK`` enables it for page functions. Otherwise none of this is imported and no hook is set.

A page can be tried with a fault in its address (``?fault=throttle``): the page's requests meet it, and the panel says
how the site handled it. It is in the address because public pages read no cookie; a form sends it in its ``Referer``.
Only the laptop makes faults, and imports ``features.workings.faults``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from features.workings.patterns import PATTERNS, function_of, patterns_of
from shared.data.partitions import SESSION, VISIBLE, matches
from shared.dynamodb.attributes import unmarshal
from shared.dynamodb.capacity import Basis, Capacity, meanings
from shared.dynamodb.schema import KEYS
from shared.dynamodb.tracing import Request, Trace, waves
from shared.html.links import base
from shared.http import cached_pages
from shared.http.requests import Event, header, on_laptop
from shared.runtime.environment import table
from shared.values.prices import READ, WRITE

if TYPE_CHECKING:
    from features.workings.faults import Faults


SHOWN_KEYS = 8
"""Keys of one request that are shown at once; the others take a click."""

_remembered: list[str] = []
"""The copies that this page took from the function's memory."""

_measured: dict[str, Any] = {}
"""The current request's summary, once made; later requests aren't in it."""


@cache
def trace() -> Trace:
    """The trace of this execution environment's table, attached at first use."""
    return Trace().attach(table())


def begin() -> None:
    """Reset for a new request."""
    trace().start_over()
    _remembered.clear()
    _measured.clear()
    cached_pages.memory().used = lambda name, form: _remembered.append(f"{name}, {form.name}")


def measured() -> dict[str, Any]:
    """The current request's summary, made at the first call."""
    if not _measured:
        _measured.update(summary())
    return _measured


def summary() -> dict[str, Any]:
    """The requests since ``begin``, for ``page-cost.html``."""
    fault = fault_met(trace())  # first, because it records the lost answer
    requests = sorted(trace().requests, key=attrgetter("round_trip", "began"))
    first = requests[0].began if requests else 0.0
    until = max((request.ended for request in requests), default=first)
    together = waves(requests)
    rows = [_row(request, wave, first, until - first) for request, wave in zip(requests, together, strict=True)]
    capacity = trace().capacity
    return {
        "rows": rows,
        "requests": len(requests),
        "trips": max(together, default=0),
        "capacity": str(capacity),
        "marks": meanings(request.capacity for request in requests),
        "ms": f"{(until - first) * 1000:.1f}",
        "memory": sorted(_remembered),
        "memory_code": code("shared.data.catalog.page_cache::1"),
        "retries": _retries(requests),
        "patterns": _patterns(rows),
        "million": million(capacity),
        "fault": fault,
        "on_laptop": on_laptop(),
        "prices": f"${READ.dollars} for a million read units (RRU), ${WRITE.dollars} for a million write units (WRU)",
    }


def server_timing() -> str:
    """The totals for browsers' tools: https://www.w3.org/TR/server-timing/. Headers are ASCII."""
    sum_of = measured()
    capacity = sum_of["capacity"].replace("≥", "at least ")
    again = f", {len(sum_of['retries'])} tried again" if sum_of["retries"] else ""
    described = f"{sum_of['requests']} requests, {sum_of['trips']} round trips, {capacity}{again}"
    return f'dynamodb;dur={sum_of["ms"]};desc="{described}"'


def million(capacity: Capacity) -> str:
    """Dollars for a million pages or requests of this capacity."""
    dollars = capacity.dollars + 1e-9  # round half a cent up
    return f"{'at least ' if capacity.basis is Basis.AT_LEAST else ''}${dollars:,.2f}"


def _patterns(rows: Sequence[dict[str, Any]]) -> list[dict[str, str]]:
    """The distinct patterns of rows, each with its sentence."""
    numbers = sorted({number for row in rows for number in row["patterns"]}, key=int)
    return [{"number": each, "name": PATTERNS[each].name, "how": PATTERNS[each].sentence} for each in numbers]


def _retries(requests: Sequence[Request]) -> list[dict[str, str]]:
    """Each retried request: its error and the wait."""
    found = []
    for place, request in enumerate(requests):
        later = (each for each in requests[place + 1 :] if _again(request) == _again(each))
        following = next(later, None) if request.refused else None
        if following is not None:
            waited = f"{(following.began - request.ended) * 1000:.1f}"
            found.append({"operation": request.operation, "met": request.refused or "", "ms": waited})
    return found


def _again(request: Request) -> tuple[str, str | None, tuple[str, ...]]:
    return request.operation, request.index, request.keys


def _row(request: Request, wave: int, first: float, whole: float) -> dict[str, Any]:
    start = (request.began - first) / whole if whole else 0.0
    width = request.seconds / whole if whole else 0.0
    keys = [
        {"text": _shown(text, partition), "link": _address(partition, request.index)}
        for text, partition in zip(request.keys, request.partitions, strict=True)
    ]
    return {
        "wave": wave,
        "operation": request.operation,
        "index": request.index or "table",
        "how": _how(request),
        "projection": request.projection,
        "keys": keys[:SHOWN_KEYS],
        "more": keys[SHOWN_KEYS:],
        "items": request.items,
        "capacity": str(request.capacity) if request.capacity else "",
        "ms": f"{request.seconds * 1000:.1f}",
        "refused": request.refused or "",
        "patterns": patterns_of(request.source, request.index),
        "function": function_of(request.source),
        "code": code(request.source),
        "start": round(start * 100, 1),
        "width": max(0.6, round(width * 100, 1)),
    }


def _how(request: Request) -> list[str]:
    """How a read asks: its consistency, limit and filter."""
    how = []
    if request.consistent is not None:
        how.append("consistent" if request.consistent else "eventual")
    if request.limit is not None:
        how.append(f"limit {request.limit}")
    if request.filter:
        how.append(f"filter {request.filter}")
    return how


def code(source: str) -> str:
    """The link to a line of the data layer, from a ``Request.source``; empty without one."""
    if not source:
        return ""
    module, _, line = source.split(":")
    return f"{base()}/table/code/{module}#l{line}"


def _shown(text: str, partition: str) -> str:
    """A key for display; for a session only its kind."""
    if not matches(partition, [SESSION]):
        return text
    return text.replace(partition.removeprefix(SESSION.rstrip("*")), "…")


def is_visible(partition: str, index: str | None) -> bool:
    """Whether an item collection is drawn: those of accounts and sessions aren't."""
    return matches(partition, VISIBLE.get(index, ()))


def collection(partition: str, index: str | None) -> str:
    """The address of the page that draws an item collection; empty for one that isn't drawn."""
    return _address(partition, index) if is_visible(partition, index) else ""


def _address(partition: str, index: str | None) -> str:
    """As ``collection``, also for hidden ones, whose page says why; but no session's key."""
    if not partition or matches(partition, [SESSION]):
        return ""
    of_index = f"&index={index}" if index else ""
    return f"{base()}/table?partition={quote(partition, safe='')}{of_index}"


CHOICES = {
    "throttle": "a throttle",
    "conflict": "a conflict",
    "lost": "a lost answer",
    "stale": "a stale index",
}
"""The possible faults, in words."""

_current: dict[str, str] = {}
"""The fault in the current request's address, and the rest of its query."""


def begin_fault(event: Event) -> None:
    """Note the fault that a request asks for, and make it on stages that make faults."""
    query = event.get("queryStringParameters") or {}
    is_form = event["httpMethod"] == "POST"
    asking = dict(parse_qsl(urlsplit(header(event, "referer") or "").query)) if is_form else query
    fault = asking.get("fault", "")
    rest = urlencode({name: value for name, value in query.items() if name not in ("fault", "notice", "trace")})
    _current.update(fault=fault, rest=rest, is_form="yes" if is_form else "")
    if on_laptop():
        _faults().ask(fault if fault in CHOICES else "", writes_only=is_form)
        if fault in CHOICES:
            cached_pages.memory.cache_clear()  # a page from memory wouldn't meet the fault


def fault_met(trace: Trace) -> dict[str, Any] | None:
    """For the panel: the possible faults, and how the requested one was met. None if there is neither."""
    fault, made = _current.get("fault", ""), on_laptop()
    if not fault and not made:
        return None
    faults = _faults() if made and fault in CHOICES else None
    if faults and faults.met and fault == "lost":
        trace.lose(faults.lost)
    left_out = faults.left_out if faults else {}
    rest = _current.get("rest")
    again = f"?{rest}&fault=" if rest else "?fault="
    return {
        "asked": fault,
        "made": made,
        "name": CHOICES.get(fault, ""),
        "known": list(CHOICES),
        "met": faults.met if faults else "",
        # One of the item's keys, as far as the projection has any.
        "left_out": next((str(unmarshal(left_out[name])) for name in KEYS if name in left_out), "an item"),
        "choices": [
            # Only reads meet a stale index, so forms don't.
            {"name": name, "link": f"{again}{each}#took", "form": f"{again}{each}" if each != "stale" else ""}
            for each, name in CHOICES.items()
            if made and not _current.get("is_form")
        ],
    }


@cache
def _faults() -> Faults:
    """The faults of this execution environment's table."""
    from features.workings.faults import Faults  # noqa: PLC0415  # imported on the laptop alone

    return Faults().attach(table())
