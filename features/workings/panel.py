"""A form's cost: its writes, drawn on the page that it leads to, and the stream's work on them.

Only stages that show their work import this. A drawing is kept for ten minutes under an unguessable id, which is in the
address of the next page (``?trace=``). Public pages read no cookie for it, and an answer with a drawing is never
cached.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from http import HTTPStatus
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from features.workings import data as workings
from features.workings import drawings, page_cost
from features.workings.data import Drawing
from features.workings.patterns import function_of, kind_of, patterns_of
from shared import features, hooks
from shared.data import keys
from shared.dynamodb.aws_errors import REFUSED
from shared.dynamodb.capacity import TABLE, WRITE_BYTES, Basis, Capacity, meanings, size_of
from shared.dynamodb.tracing import Request
from shared.dynamodb.writes import Write
from shared.errors import DealsError
from shared.html.links import link
from shared.http.requests import Event, correlation_id
from shared.runtime.environment import logger, table
from shared.values import times
from shared.values.naming import counted

QUERY = "trace"
"""The query parameter with a trace's id."""

_ID = re.compile(r"[\w-]{16}", re.ASCII)
_VERBS = {"Put": "put", "Update": "update", "Delete": "delete", "ConditionCheck": "check"}
_HAPPENS = {"Put": "inserted", "Update": "changed", "Delete": "removed"}
_WRITING = {"POST", "PUT", "PATCH", "DELETE"}

FOLLOWERS: Mapping[str, Mapping[str, str]] = {
    "publisher": {keys.DEAL: "deals"},
    "refresher": {
        keys.DEAL: "deals",
        **dict.fromkeys((*keys.CURATED, keys.CATEGORY_FEATURED), "picks"),
        **dict.fromkeys((keys.USER, keys.REMOVAL), "accounts"),
        **features.merged(hooks.Items, lambda each: each.REFRESHES),
    },
}
"""The functions that read the stream, each with the item types of its filter, in words."""

server_timing = page_cost.server_timing

_current: dict[str, Any] = {}
"""The current request's event, and the drawing of its own writes once made."""


def begin_page(event: Event) -> None:
    """Reset for a new page request, which may ask for a fault."""
    page_cost.begin_fault(event)
    begin(event)


def begin(event: Event) -> None:
    """Reset for a new request."""
    page_cost.begin()
    _current.clear()
    _current["event"] = event


def values(*, status: int) -> dict[str, Any]:
    """The values for templates: the page's cost, and that of the form before it."""
    return {"page_cost": page_cost.measured(), "form_cost": shown(status=status)}


def is_once(took: Mapping[str, Any]) -> bool:
    """Whether a page with these values is for one reader only, because it shows a form or a requested fault."""
    return bool(took["form_cost"] or (took["page_cost"]["fault"] or {}).get("asked"))


def shown(*, status: int) -> Drawing | None:
    """The drawing for a page: of the form before it or, on an error page, of its own writes."""
    event = _current.get("event", {})
    trace_id = (event.get("queryStringParameters") or {}).get(QUERY, "")
    try:
        if event.get("httpMethod") == "POST":
            return _as_shown(own()) if status >= HTTPStatus.BAD_REQUEST else None
        return find(trace_id) if status == HTTPStatus.OK and trace_id else None
    except DealsError as error:  # the page works without it
        logger().warning("no trace", exc_info=error)
        return None


def find(trace_id: str) -> Drawing | None:
    """A stored drawing with the work that has followed so far; None if there is none."""
    now = times.now()
    found = workings.find(table(), trace_id, now) if _ID.fullmatch(trace_id) else None
    return _as_shown(found, trace_id) if found else None


def own() -> Drawing:
    """The drawing of the current request's writes."""
    if "drawn" not in _current:
        _current["drawn"] = drawing(page_cost.trace().requests, correlation_id(_current["event"]))
    drawn: Drawing = _current["drawn"]
    return drawn


def keep() -> str:
    """Store the current request's drawing; returns its id, or an empty text if it isn't a form."""
    event = _current["event"]
    if event["httpMethod"] not in _WRITING and not event["path"].endswith("/wish"):
        return ""
    trace_id = secrets.token_urlsafe(12)
    try:
        workings.keep(table(), trace_id, own(), times.now())
    except DealsError as error:  # the form has been sent, shown or not
        logger().warning("no trace", exc_info=error)
        return ""
    return trace_id


def conclude(answer: Event) -> None:
    """Store a form's drawing, and link it from the answer: in its address or, for a script, in a header."""
    headers = answer["multiValueHeaders"]
    leads, is_json = "Location" in headers, headers.get("Content-Type") == ["application/json"]
    trace_id = keep() if leads or is_json else ""
    if not trace_id:
        return
    if leads:
        parts = urlsplit(headers["Location"][0])
        query = [(name, value) for name, value in parse_qsl(parts.query, keep_blank_values=True) if name != QUERY]
        headers["Location"] = [parts._replace(query=urlencode([*query, (QUERY, trace_id)])).geturl()]
    else:
        headers["Link"] = [described_by(trace_id)]


def described_by(trace_id: str) -> str:
    """The header that links a drawing: https://www.rfc-editor.org/rfc/rfc8288."""
    return f'<{_place(trace_id)}>; rel="describedby"'


def _place(trace_id: str) -> str:
    return link(f"/table/took/{trace_id}")


def drawing(requests: Sequence[Request], request_id: str = "") -> dict[str, Any]:
    """The writes of requests, in order, as JSON values. Times are in milliseconds."""
    requests = sorted(requests, key=lambda request: request.began)
    writing = [request for request in requests if request.writes]
    first, last = (writing[0].began, writing[-1].ended) if writing else (0.0, 0.0)
    groups = [_group(tries) for tries in _attempts(writing)]
    whole = sum((request.capacity for request in requests if request.capacity), Capacity())
    silent = any(request.capacity is None for request in requests)  # refusals consume units, too, but don't report them
    whole = replace(whole, basis=Basis.AT_LEAST) if silent else whole
    clock = time.time() - time.perf_counter()  # when the requests' clock was zero
    done = [request for request in writing if not request.refused]
    return {
        "groups": groups,
        "summary": [*_counts(groups)],
        "capacity": str(whole),
        "million": page_cost.million(whole),
        "marks": [] if silent else meanings([whole]),
        "silent": silent,
        "ms": f"{(max(request.ended for request in requests) - requests[0].began) * 1000:.1f}" if requests else "0",
        "reads": len([request for request in requests if request.consistent is not None]),
        "request": request_id,
        "began": int((clock + first) * 1000),
        "ended": int((clock + last) * 1000),
        "records": [*_records(write for request in done for write in request.writes)],
    }


def _counts(groups: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The numbers of transactions (with their writes), single writes, and retries."""
    together = [len(group["writes"]) for group in groups if group["together"]]
    if together:
        yield f"{counted(len(together), 'transaction')} of {counted(sum(together), 'write')}"
    if alone := len(groups) - len(together):
        yield counted(alone, "write") + (" alone" if together else "")
    if retries := sum(len(group["tries"]) for group in groups):
        yield counted(retries, "retry").replace("retrys", "retries")


def _attempts(writing: Sequence[Request]) -> list[list[Request]]:
    """Group requests with their retries."""
    groups: list[list[Request]] = []
    for request in writing:
        found = [tries for tries in groups if tries[-1].refused and tries[-1].writes == request.writes]
        if found:
            found[0].append(request)
        else:
            groups.append([request])
    return groups


def _group(tries: Sequence[Request]) -> dict[str, Any]:
    """A transaction or single write, and what its earlier attempts met."""
    last = tries[-1]
    together = last.operation == "TransactWriteItems"
    reasons = last.reasons if together else (last.refused or "",)
    refused = [reason in REFUSED for reason in reasons] or [False] * len(last.writes)
    # A transaction whose answer was lost has written; its retry reads that it did.
    written = next((each for each in tries if each.capacity and each.capacity.write), last)
    units = _units(written, together=together)
    capacity = sum((each.capacity for each in tries if each.capacity), Capacity())
    return {
        "together": together,
        "function": function_of(last.source),
        "code": page_cost.code(last.source),
        "patterns": _patterns(last),
        "writes": [
            _write(write, unit, refused=no)
            for write, unit, no in zip(last.writes, units, [*refused, *[False] * len(last.writes)], strict=False)
        ],
        "indexes": [
            {"name": name, "units": str(each)}
            for name, each in written.by_index.items()
            if name != TABLE and each.write
        ],
        "tries": [_try(one, following) for one, following in pairwise(tries)],
        "outcome": "done" if not last.refused else "refused" if any(refused) else "again",
        "met": last.refused or "",
        "capacity": str(capacity) if last.capacity else "",
        "ms": f"{(last.ended - tries[0].began) * 1000:.1f}",
    }


def _write(write: Write, units: str, *, refused: bool) -> dict[str, Any]:
    words, syntax = drawings.condition(write)
    does, expression = drawings.does(write)
    return {
        "verb": _VERBS[write.operation],
        "key": drawings.key(write),
        "link": page_cost.collection(drawings.place(write)[0], None),
        "words": words,
        "syntax": syntax,
        "does": does,
        "expression": expression,
        "refusal": drawings.refusal(write),
        "refused": refused,
        "units": units,
    }


def _units(request: Request, *, together: bool) -> list[str]:
    """The table's units of each write, derived from their sum: an item counts by its larger image."""
    if request.capacity is None:
        return [""] * len(request.writes)
    times_ = 2 if together else 1
    least = [times_ * max(1, -(-size_of(write.arguments.get("Item", {})) // WRITE_BYTES)) for write in request.writes]
    of_table = request.by_index.get(TABLE, request.capacity)
    unknown = [number for number, write in enumerate(request.writes) if "Item" not in write.arguments]
    left = of_table.write - sum(least)
    if left > 0 and len(unknown) == 1:
        least[unknown[0]] += int(left)
        left = 0
    return [
        ("≥ " if left > 0 and number in unknown else "") + str(replace(of_table, read=0.0, write=float(units)))
        for number, units in enumerate(least)
    ]


def _try(one: Request, following: Request) -> dict[str, Any]:
    """A retried attempt: its error, its item and the wait."""
    reasons = zip(one.reasons, one.writes, strict=False)
    met = (each for each in reasons if each[0] != "None" and each[0] not in REFUSED)
    reason, write = next(met, (one.refused or "", None))
    return {
        "met": reason,
        "key": drawings.key(write) if write else "",
        "link": page_cost.collection(drawings.place(write)[0], None) if write else "",
        "waited": f"{(following.began - one.ended) * 1000:.0f}",
    }


def _patterns(request: Request) -> list[str]:
    """The access patterns of a request: those of its function that match its items."""
    numbers = patterns_of(request.source, None)
    kinds = [kind_of(drawings.place(write)[0], None) for write in request.writes]
    of_items = {number for kind in kinds if kind for number in kind.numbers.split()}
    return [number for number in numbers if number in of_items] or numbers


def _records(writes: Iterable[Write]) -> Iterator[dict[str, str]]:
    """The stream records of writes; condition checks make none."""
    for write in writes:
        if write.operation in _HAPPENS:
            partition, _ = drawings.place(write)
            type_ = drawings.type_of(write)
            is_new = write.arguments.get("ConditionExpression") == "attribute_not_exists(PK)"
            yield {
                "key": drawings.key(write),
                "link": page_cost.collection(partition, None),
                "type": type_,
                "how": _HAPPENS[write.operation] if write.operation != "Put" or is_new else "put",
                "partition": partition if any(type_ in wanted for wanted in FOLLOWERS.values()) else "",
            }


def _as_shown(kept: Drawing, trace_id: str = "") -> dict[str, Any]:
    """A drawing for a page, with the work that has followed so far."""
    live = _place(trace_id) if trace_id else ""
    return {**kept, "id": trace_id, "live": live, "followed": _followed(kept, times.now())}


def _followed(kept: Drawing, now: datetime) -> dict[str, Any]:
    """The stream functions' work on a form's writes, and the functions whose filters didn't match."""
    partitions = dict.fromkeys(record["partition"] for record in kept["records"] if record["partition"])
    steps = [step for partition in partitions for step in workings.steps(table(), partition, now) if _is_of(step, kept)]
    steps.sort(key=lambda step: (step["ended"], step["function"]))
    types = {record["type"] for record in kept["records"]}
    return {
        "steps": [
            {**step, "after": f"+{max(0, step['ended'] - kept['ended']) / 1000:.1f} s"}
            for step in {(step["function"], step["ended"]): step for step in steps}.values()  # a batch is one step
        ],
        "idle": [
            {"function": name, "wants": ", ".join(dict.fromkeys(wanted.values()))}
            for name, wanted in FOLLOWERS.items()
            if kept["records"] and not wanted.keys() & types
        ],
        "awaited": bool(partitions),
    }


def _is_of(step: Drawing, kept: Drawing) -> bool:
    """Whether a step follows from a form: by its request id, or by the write's time in seconds."""
    if step["request"]:
        return bool(step["request"] == kept["request"])
    return bool(kept["began"] // 1000 - 1 <= step["written"] <= kept["ended"] // 1000 + 1)
