"""Events as Lambda hands them to a function: requests, samples, records of the table's stream; and a call's context."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from local.event_source import Record, batch, number_of
from shared.data import keys
from shared.data.catalog.deals import to_item_listed
from shared.dynamodb.attributes import Item, marshal_item
from shared.models.catalog import CuratedPage, Deal, Topic
from shared.values import times

EVENTS = Path(__file__).resolve().parents[2] / "events"


def a_context() -> Any:
    """The fields of Lambda's context that the functions look at."""
    return SimpleNamespace(
        aws_request_id="00000000-0000-0000-0000-000000000000",
        function_name="site",
        log_stream_name="2026/06/12/[$LATEST]0123456789abcdef",
        get_remaining_time_in_millis=lambda: 0,
    )


def event_of(
    path: str,
    method: str = "GET",
    *,
    query: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    body: str | None = None,
) -> Any:
    """The event of a request."""
    return {
        "httpMethod": method,
        "path": path,
        "resource": "/{proxy+}" if path.strip("/") else "/",
        "headers": dict(headers or {}),
        "multiValueHeaders": {name: [value] for name, value in (headers or {}).items()},
        "queryStringParameters": dict(query) if query else None,
        "multiValueQueryStringParameters": {name: [value] for name, value in (query or {}).items()} or None,
        "pathParameters": {"proxy": path.strip("/")} if path.strip("/") else None,
        "body": body,
        "isBase64Encoded": False,
        "requestContext": {"requestId": "request-1", "httpMethod": method, "identity": {"sourceIp": "127.0.0.1"}},
    }


def event(name: str) -> dict[str, Any]:
    """A sample event."""
    loaded: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text(encoding="utf-8"))
    return loaded


def page(path: str, headers: Mapping[str, str] | None = None, **query: str) -> dict[str, Any]:
    """The event of a request for a public page."""
    return event("catalog-brand-page") | {
        "path": path,
        "resource": path,
        "pathParameters": None,
        "headers": {"Accept": "application/json", **(headers or {})},
        "queryStringParameters": query or None,
        "multiValueQueryStringParameters": {name: [value] for name, value in query.items()} or None,
    }


@pytest.fixture
def context() -> Any:
    """Lambda's context of a call."""
    return a_context()


__all__ = ["Record", "batch", "number_of"]

STREAM = "arn:aws:dynamodb:us-east-1:123456789012:table/deals/stream/2026-06-01T00:00:00.000"
NAMES = {"INSERT": (False, True), "MODIFY": (True, True), "REMOVE": (True, False)}

_sequence = itertools.count(100000000000000000001)


def record(before: Item | None, after: Item | None, at: datetime | None = None) -> Record:
    """The record of an item's change from one state to another; None is an item that is not there."""
    state = after or before or {}
    (event,) = (name for name, there in NAMES.items() if there == (before is not None, after is not None))
    number = next(_sequence)
    images = {
        name: marshal_item(image) for name, image in (("OldImage", before), ("NewImage", after)) if image is not None
    }
    return {
        "eventID": f"{number:032x}",
        "eventName": event,
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": "us-east-1",
        "eventSourceARN": STREAM,
        "dynamodb": {
            "ApproximateCreationDateTime": (at or times.now()).timestamp(),
            "Keys": marshal_item(keys.primary(state)),
            **images,
            "SequenceNumber": str(number),
            "SizeBytes": len(str(images)),
            "StreamViewType": "NEW_AND_OLD_IMAGES",
        },
    }


def of_deal(before: Deal | None, after: Deal | None, at: datetime | None = None) -> Record:
    """The record of a deal's change."""
    old, new = (None if deal is None else to_item_listed(deal, listed=True) for deal in (before, after))
    return record(old, new, at)


def of_picks(page: CuratedPage) -> Record:
    """The record of a curated page's new picks."""
    item = {**keys.featured(page), "Type": page.type, "Featured": [], "FeaturedVersion": 1}
    return record(item, {**item, "FeaturedVersion": 2, "UpdatedAt": times.to_iso(times.now())})


def of_category_picks(category: Topic) -> Record:
    """The record of a category's new picks."""
    item = {**keys.featured(category), "Type": "CategoryFeatured", "Category": category.slug, "FeaturedVersion": 1}
    return record(None, item)


def by_ttl(removed: Item) -> Record:
    """The record of an item that TTL removed."""
    identity = {"principalId": "dynamodb.amazonaws.com", "type": "Service"}
    return {**record(removed, None), "userIdentity": identity}


def damaged(item: Item) -> Record:
    """The record of a new deal without a title, which no function can read."""
    return record(None, {name: value for name, value in item.items() if name != "Title"})
