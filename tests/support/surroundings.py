"""What Lambda and a stack give functions, for functions in this process: events, an environment, a queue, a log."""

from __future__ import annotations

import io
import itertools
import json
import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import botocore.session
import pytest
from argon2 import PasswordHasher
from moto import mock_aws

from local.event_source import Record, batch, number_of
from shared import features, services
from shared.data import keys
from shared.data.catalog.deals import to_item_listed
from shared.dynamodb.attributes import Item, marshal_item
from shared.dynamodb.aws_errors import Budget
from shared.dynamodb.table import Table
from shared.features import FOLDER
from shared.html import cookies
from shared.http import cached_pages
from shared.models.catalog import CuratedPage, Deal, Topic
from shared.runtime import environment
from shared.services import Queue
from shared.values import passwords, times
from tests.support.cases import cases_by_name
from tests.support.commands import PATIENCE
from tests.support.engines import ENDPOINT_VARIABLE, FAKE_CREDENTIALS


def given(table: Table, **more: str) -> dict[str, str]:
    """The environment of a function whose table it is."""
    return {
        "TABLE_NAME": table.name,
        "STAGE": "test",
        "PICTURES_BUCKET": "pictures",
        "POWERTOOLS_SERVICE_NAME": "test",
        "POWERTOOLS_LOG_LEVEL": "INFO",
        ENDPOINT_VARIABLE: table.client.meta.endpoint_url,
        "AWS_DEFAULT_REGION": FAKE_CREDENTIALS["region_name"],
        "AWS_ACCESS_KEY_ID": FAKE_CREDENTIALS["aws_access_key_id"],
        "AWS_SECRET_ACCESS_KEY": FAKE_CREDENTIALS["aws_secret_access_key"],
        "NO_PROXY": "127.0.0.1,localhost",
        **more,
    }


@contextmanager
def surrounded(monkeypatch: pytest.MonkeyPatch, table: Table, **more: str) -> Iterator[None]:
    """An environment that names a table and more; nothing that an execution environment keeps outlives it."""
    for name, value in given(table, **more).items():
        monkeypatch.setenv(name, value)
    # What a hash costs is held elsewhere; these tests make many.
    monkeypatch.setattr(passwords, "HASHER", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    start_over()
    # Powertools leaves a logger of the same name as it is.
    environment.logger().setLevel(os.environ["POWERTOOLS_LOG_LEVEL"])
    yield
    start_over()


@contextmanager
def captured_log() -> Iterator[io.StringIO]:
    """What functions in this process log meanwhile."""
    handler = environment.logger().registered_handler
    assert isinstance(handler, logging.StreamHandler)
    log = io.StringIO()
    handler.setStream(log)
    try:
        yield log
    finally:
        handler.setStream(sys.stdout)


def rooms_of(function: ModuleType) -> list[ModuleType]:
    """The modules that a function's handler is made of: its own, those beside it, and those that features join."""
    own = function.__name__
    name = own.rpartition(".")[2]
    joining = [*features.modules(name), *cases_by_name("ROOMS").get(name, ())]
    return [
        each for name, each in sys.modules.items() if f"{name}.".startswith((f"{own}.", f"{own}_")) or each in joining
    ]


def modules_of(function: ModuleType) -> list[ModuleType]:
    """Those of them that ask for the function's table."""
    return [each for each in rooms_of(function) if "table" in vars(each)]


def hand_over(monkeypatch: pytest.MonkeyPatch, table: Table, *functions: ModuleType) -> None:
    """Give a table to some functions and what tells them who asks, in place of the one that their environment names."""
    for module in (cookies, *itertools.chain.from_iterable(map(modules_of, functions))):
        monkeypatch.setattr(module, "table", lambda: table)


@contextmanager
def queue_in_process() -> Iterator[Queue]:
    """A queue of a test's own, in moto: it answers for AWS's addresses only, so a table on 127.0.0.1 stays there."""
    with mock_aws():
        client = services.connect_queue("none", Budget(answer=PATIENCE), **FAKE_CREDENTIALS).client
        yield Queue(client.create_queue(QueueName="work")["QueueUrl"], client=client)


def taken(queue: Queue) -> list[str]:
    """The bodies of the messages that wait in a queue, taken out of it."""
    messages = list(queue.receive())
    for message in messages:
        queue.remove(message)
    return [message.body for message in messages]


def start_over() -> None:
    """Forget what an execution environment keeps between calls."""
    runtime = [
        module for name, module in list(sys.modules.items()) if name.startswith(("shared.runtime.", "features."))
    ]
    for module in (*runtime, cached_pages):
        for kept in vars(module).values():
            if hasattr(kept, "cache_clear"):
                kept.cache_clear()


UNITS = botocore.session.get_session().get_service_model("cloudwatch").shape_for("StandardUnit").metadata["enum"]


def metrics_in(line: Mapping[str, Any]) -> dict[str, Any]:
    """The metrics that CloudWatch makes of a line, by name. Fails for a line that breaks the format."""
    metadata, found = line["_aws"], {}
    assert metadata.keys() == {"Timestamp", "CloudWatchMetrics"}
    assert type(metadata["Timestamp"]) is int
    assert metadata["Timestamp"] >= 10**12, "milliseconds have thirteen digits"
    for directive in metadata["CloudWatchMetrics"]:
        assert directive.keys() == {"Namespace", "Dimensions", "Metrics"}
        assert _is_text(directive["Namespace"], 1024)
        assert directive["Dimensions"]
        assert len(directive["Metrics"]) <= 100
        for dimensions in directive["Dimensions"]:
            assert len(dimensions) <= 30
            # What a directive names must be there, at the root of the document.
            assert all(_is_text(name, 250) and _is_text(line[name], 1024) for name in dimensions)
        for metric in directive["Metrics"]:
            values = line[metric["Name"]]
            assert metric.keys() <= {"Name", "Unit", "StorageResolution"}
            assert _is_text(metric["Name"], 1024)
            assert metric.get("Unit", "None") in UNITS
            assert metric.get("StorageResolution", 60) in (1, 60)
            several = values if isinstance(values, list) else [values]
            assert 1 <= len(several) <= 100
            assert all(type(each) in (int, float) for each in several)
            found[metric["Name"]] = values
    return found


def _is_text(value: Any, most: int) -> bool:
    return isinstance(value, str) and 1 <= len(value) <= most


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
    """A sample event, of the core or of a feature."""
    (file,) = (each for folder in (EVENTS, *FOLDER.glob("*/events")) for each in folder.glob(f"{name}.json"))
    loaded: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
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
