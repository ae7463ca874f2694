"""What a stack gives its functions, for functions in this process: an environment, a queue, and a log to read."""

from __future__ import annotations

import io
import itertools
import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import botocore.session
import pytest
from argon2 import PasswordHasher
from moto import mock_aws

from shared import features, services
from shared.dynamodb.aws_errors import Budget
from shared.dynamodb.table import Table
from shared.html import cookies
from shared.http import cached_pages
from shared.runtime import environment
from shared.services import Queue
from shared.values import passwords
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
    joining = [each.get(own.rpartition(".")[2], "").partition(":")[0] for each in features.of("joins")]
    return [
        each for name, each in sys.modules.items() if f"{name}.".startswith((f"{own}.", f"{own}_")) or name in joining
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
    runtime = [module for name, module in list(sys.modules.items()) if name.startswith("shared.runtime.")]
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
