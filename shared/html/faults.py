"""Try a page with a fault: the address asks for it, the page's requests meet it, and the panel tells how it was met.

The fault stands in the address (``?fault=throttle``), because public pages read no cookie; a form that is sent from
such a page brings it by its ``Referer``. Only the laptop makes faults: elsewhere ``shared.dynamodb.faults`` is not
imported.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from shared.dynamodb.attributes import unmarshal
from shared.dynamodb.schema import KEYS
from shared.dynamodb.tracing import Trace
from shared.http import cached_pages
from shared.http.requests import Event, header, on_laptop
from shared.runtime.environment import table

if TYPE_CHECKING:
    from shared.dynamodb.faults import Faults

CHOICES = {
    "throttle": "a throttle",
    "conflict": "a conflict",
    "lost": "a lost answer",
    "stale": "a stale index",
}
"""The faults that can be asked for, in words."""

_asked: dict[str, str] = {}
"""Of the present request: the fault that its address asks for, and the rest of its query."""


def begin(event: Event) -> None:
    """Note the fault that a request asks for, and have it met where this stage makes faults."""
    query = event.get("queryStringParameters") or {}
    is_form = event["httpMethod"] == "POST"
    asking = dict(parse_qsl(urlsplit(header(event, "referer") or "").query)) if is_form else query
    fault = asking.get("fault", "")
    rest = urlencode({name: value for name, value in query.items() if name not in ("fault", "said", "trace")})
    _asked.update(fault=fault, rest=rest, is_form="yes" if is_form else "")
    if on_laptop():
        _faults().ask(fault if fault in CHOICES else "", writes_only=is_form)
        if fault in CHOICES:
            cached_pages.memory.cache_clear()  # a page from memory would meet nothing


def told(trace: Trace) -> dict[str, Any] | None:
    """For the panel: the faults that can be asked for, and how the one was met that was. None where there is none."""
    fault, made = _asked.get("fault", ""), on_laptop()
    if not fault and not made:
        return None
    faults = _faults() if made and fault in CHOICES else None
    if faults and faults.met and fault == "lost":
        trace.lose(faults.lost)
    left_out = faults.left_out if faults else {}
    rest = _asked.get("rest")
    again = f"?{rest}&fault=" if rest else "?fault="
    return {
        "asked": fault,
        "made": made,
        "name": CHOICES.get(fault, ""),
        "known": list(CHOICES),
        "met": faults.met if faults else "",
        # A key of the item, as far as a projection shows one.
        "left_out": next((str(unmarshal(left_out[name])) for name in KEYS if name in left_out), "an item"),
        "choices": [
            # Only reads meet a stale index, so no form does.
            {"name": name, "link": f"{again}{each}#took", "form": f"{again}{each}" if each != "stale" else ""}
            for each, name in CHOICES.items()
            if made and not _asked.get("is_form")
        ],
    }


@cache
def _faults() -> Faults:
    """The faults that the requests of this execution environment's table meet."""
    from shared.dynamodb.faults import Faults  # noqa: PLC0415  # imported on the laptop alone

    return Faults().attach(table())
