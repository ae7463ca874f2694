"""Add a function's cost to its answer: ``entry`` imports this only on stages that show their work.

An API function reports it in headers, with a link to the drawing of its writes. A function behind the stream or queue
files its work on each record, for the form that caused it (``features/workings/data.py``). Pages draw their own.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from features.workings import data as workings
from features.workings import page_cost, panel
from shared.data import keys
from shared.data import partitions as p
from shared.data.members.cohorts import Unit
from shared.dynamodb.schema import PARTITION_KEY
from shared.dynamodb.tracing import Request, Trace
from shared.errors import DealsError
from shared.runtime.environment import logger, queue, table
from shared.values import times
from shared.values.naming import counted

if TYPE_CHECKING:
    from types import ModuleType

    from aws_lambda_powertools.utilities.typing import LambdaContext


Handler = Callable[[Any, "LambdaContext"], Any]

CONSUMERS = ("publisher", "refresher", "messenger")
"""The functions behind the stream and its queue."""

SHOWN_KEYS = 4
"""Written keys that are named."""

_DID: Mapping[str, tuple[tuple[str, ...], str]] = {
    "filed": ((p.PRODUCT, p.WORD, p.WORDS), "item"),
    "logged": ((p.LOG,), "change"),
    "remembered": ((p.SHOP,), "shop"),
    "copied": ((*p.FEED_CACHES, *p.PICKS_CACHES), "copy"),
    "told": ((p.MESSAGES,), "reader"),
    "noted": ((p.FAN_OUT, p.FAN_OUT_PAGE), "cohort"),
    "brought up to date": ((p.DEAL, *p.CURATED, p.CATEGORY_ITEM), "item"),
}
"""A verb for writes to some partitions, and the noun that is counted."""


def wrap(function: ModuleType) -> Handler:
    """A function's handler, wrapped to report its cost."""
    handler: Handler = function.handler
    name = function.__name__.rpartition(".")[2]
    if name in CONSUMERS:
        return _trace_consumer(name, handler)
    return _trace_api(handler) if hasattr(function, "app") else handler


def _trace_api(handler: Handler) -> Handler:
    """Wrap an API handler. Its link is valid if the API and the site share an address."""

    def traced(event: Any, context: LambdaContext) -> Any:
        panel.begin(event)
        answer = handler(event, context)
        headers = answer["multiValueHeaders"]
        headers["Server-Timing"] = [page_cost.server_timing()]
        trace_id = panel.keep()
        if trace_id:
            headers["Link"] = [*headers.get("Link", []), panel.described_by(trace_id)]
        return answer

    return traced


def _trace_consumer(name: str, handler: Handler) -> Handler:
    """Wrap a handler of the stream or queue: its work is filed, even if it failed."""
    trace, sent = Trace(), list[int]()

    def traced(event: Any, context: LambdaContext) -> Any:
        if "Records" not in event:
            return handler(event, context)
        trace.start_over()
        sent.clear()
        with_queue = _watched(sent) if "QUEUE_URL" in os.environ else None
        trace.attach(table())
        failed: set[str] | None = None
        try:
            answer = handler(event, context)
            failed = {failure["itemIdentifier"] for failure in answer["batchItemFailures"]}
            return answer
        finally:
            trace.detach(table())
            if with_queue:
                with_queue()
            _file(name, event["Records"], trace, sum(sent), failed)

    return traced


def _watched(sent: list[int]) -> Callable[[], None]:
    """Count messages sent to the queue; returns the function that stops it."""

    def note(params: Mapping[str, Any], **_: Any) -> None:
        sent.append(len(params["Entries"]))

    events, name = queue().client.meta.events, "before-parameter-build.sqs.SendMessageBatch"
    events.register(name, note)
    return lambda: events.unregister(name, note)


def _file(name: str, records: Sequence[Any], trace: Trace, sent: int, failed: set[str] | None) -> None:
    """File each record's step; ``failed`` are the numbers of records to retry, None for all."""
    did, ended = [*_did(trace.requests)], int(time.time() * 1000)
    if sent:
        verb = "announced" if name == "publisher" else "handed on"
        what = f"{counted(sent, 'cohort')} of readers, by the queue"
        did = [{"verb": verb, "what": what, "keys": [], "more": 0}, *did]
    for partition, about in filter(None, map(_read, records)):
        again = failed is None or about["record"] in failed
        took = {"ended": ended, "records": len(records), "failed": again, "capacity": str(trace.capacity), "did": did}
        step = {"function": name, **about, **took}
        try:
            workings.file_step(table(), partition, name, about["record"], step, times.now(), failed=again)
        except DealsError as error:  # the record is done, shown or not
            logger().warning("no step", exc_info=error)


def _read(record: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """The partition of a record or message, and its write: the ``record`` number, the ``request`` id if the item has
    it, and when it was ``written``, in whole seconds.

    None if no form caused it (such as an import), or if it is unreadable.
    """
    if "dynamodb" in record:
        images = record["dynamodb"]
        item = images.get("NewImage") or images.get("OldImage") or {}
        request = item.get("CorrelationId", {}).get("S", "")
        if item.get("Type") == {"S": keys.DEAL} and not request:
            return None
        written = int(float(images["ApproximateCreationDateTime"]))
        about = {"record": images["SequenceNumber"], "request": request, "written": written}
        return images["Keys"][PARTITION_KEY]["S"], about
    try:
        unit = Unit.from_json(record["body"])
    except ValueError:
        return None
    if not unit.correlation_id:
        return None
    about = {"record": record["messageId"], "request": unit.correlation_id, "written": int(unit.written_at or 0)}
    return keys.deal(unit.deal_id)[PARTITION_KEY], about


def _did(requests: Sequence[Request]) -> Iterator[dict[str, Any]]:
    """The writes made, counted by verb."""
    written = {
        key.partition(" ")[2] if request.operation == "TransactWriteItems" else key: partition
        for request in requests
        if request.consistent is None and not request.refused
        for key, partition in zip(request.keys, request.partitions, strict=True)
        if not key.startswith("ConditionCheck ")
    }
    for verb, (patterns, noun) in _DID.items():
        found = [(key, partition) for key, partition in written.items() if p.matches(partition, patterns)]
        if found:
            yield {
                "verb": verb,
                "what": counted(len(found), noun).replace("copys", "copies"),
                "keys": [{"key": key, "link": page_cost.collection(at, None)} for key, at in found[:SHOWN_KEYS]],
                "more": max(0, len(found) - SHOWN_KEYS),
            }
