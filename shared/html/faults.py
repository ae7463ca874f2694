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
from shared.http.cookie_header import on_laptop
from shared.http.event import Event, header
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

STALE = "stale"
"""The one that only reads meet, so no form does."""

_MET = {
    "throttle": "{operation} was refused with ThrottlingException, as when a partition is asked for too much. "
    "It was asked again after a short random wait, and the page is whole.",
    "conflict": "{operation} was refused with TransactionConflict, as when somebody else writes the same item. "
    "All of it was tried again after a short random wait: either all is written, or nothing.",
    "lost": "{operation} was carried out, and its answer was lost. It was asked again: a read may be, and a write "
    "recognizes what it has done itself.",
    "stale": "the index did not show {left_out} yet, as in the moments after it was written. The page is as the index "
    "was then; what must be right at once is read from the table.",
}

_NOT_MET = {
    "throttle": "nothing was asked of DynamoDB.",
    "conflict": "this page writes nothing, so nothing can conflict. Send one of its forms: its write will meet it.",
    "lost": "nothing was asked of DynamoDB.",
    "stale": "no item of this page comes from an index.",
}

_asked: dict[str, str] = {}
"""Of the present request: the fault that its address asks for, and the rest of its query."""


def begin(event: Event) -> None:
    """Note the fault that a request asks for, and have it met where this stage makes faults."""
    query = event.get("queryStringParameters") or {}
    is_form = event["httpMethod"] == "POST"
    asking = dict(parse_qsl(urlsplit(header(event, "referer") or "").query)) if is_form else query
    fault = asking.get("fault", "")
    rest = urlencode({name: value for name, value in query.items() if name not in ("fault", "said", "took")})
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
    rest = _asked.get("rest")
    again = f"?{rest}&fault=" if rest else "?fault="
    return {
        "asked": fault,
        "said": _said(fault, trace) if fault else "",
        "choices": [
            {"name": name, "link": f"{again}{each}#took", "form": f"{again}{each}" if each != STALE else ""}
            for each, name in CHOICES.items()
            if made and not _asked.get("is_form")
        ],
    }


def _said(fault: str, trace: Trace) -> str:
    if not on_laptop():
        return "Faults are made on the laptop alone: nothing was done."
    if fault not in CHOICES:
        return f"There is no such fault, so nothing was done. There are: {', '.join(CHOICES)}."
    faults = _faults()
    if not faults.met:
        return f"{CHOICES[fault].capitalize()}: {_NOT_MET[fault]}"
    if fault == "lost":
        trace.lose(faults.lost)
    # A key of the item, as far as a projection shows one.
    left_out = next((str(unmarshal(faults.left_out[name])) for name in KEYS if name in faults.left_out), "an item")
    return f"{CHOICES[fault].capitalize()}: " + _MET[fault].format(operation=faults.met, left_out=left_out)


@cache
def _faults() -> Faults:
    """The faults that the requests of this execution environment's table meet."""
    from shared.dynamodb.faults import Faults  # noqa: PLC0415  # imported on the laptop alone

    return Faults().attach(table())
