"""The functions, called in this process with events as AWS sends them, on a table and a queue of a test's own."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext

from shared import runtime, times
from shared.data import brands, seeds
from shared.data.queues import Queue
from shared.data.queues import connect as connect_queue
from shared.data.table import Table
from tests.engines import FAKE_CREDENTIALS, MINISTACK

EVENTS = Path(__file__).resolve().parents[2] / "events"

DEAL_ID = "3F2VM8KqLdHD6qBOm7B4Q0YD0Fr"
"""The deal that the events are about."""


def event(name: str) -> dict[str, Any]:
    """A sample event."""
    loaded: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text(encoding="utf-8"))
    return loaded


@pytest.fixture
def context() -> LambdaContext:
    """What Lambda tells a function about a call."""
    made = LambdaContext()
    made._function_name = "function"
    made._memory_limit_in_mb = 512
    made._invoked_function_arn = "arn:aws:lambda:eu-central-1:123456789012:function:function"
    made._aws_request_id = "8f2d5c1e-4b7a-4c39-9f10-2a6b8c4d0e1f"
    made._log_stream_name = "2026/06/12/[$LATEST]0123456789abcdef"
    return made


@pytest.fixture
def unseeded() -> Iterator[Table]:
    """A new table: moto takes no parameterised PartiQL, so it is one of MiniStack's."""
    with MINISTACK.bare_table() as table:
        yield table


@pytest.fixture
def deployed(unseeded: Table, monkeypatch: pytest.MonkeyPatch) -> Iterator[Table]:
    """An environment as the stack gives it to the functions, with a table that is not seeded yet, and a queue."""
    endpoint = unseeded.client.meta.endpoint_url
    where: dict[str, Any] = {"endpoint_url": endpoint, **FAKE_CREDENTIALS}
    sqs = boto3.client("sqs", **where)
    url = sqs.create_queue(QueueName=unseeded.name)["QueueUrl"]
    environment = {
        "TABLE_NAME": unseeded.name,
        "QUEUE_URL": url,
        "STAGE": "test",
        "POWERTOOLS_SERVICE_NAME": "test",
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_DEFAULT_REGION": FAKE_CREDENTIALS["region_name"],
        "AWS_ACCESS_KEY_ID": FAKE_CREDENTIALS["aws_access_key_id"],
        "AWS_SECRET_ACCESS_KEY": FAKE_CREDENTIALS["aws_secret_access_key"],
        "NO_PROXY": "127.0.0.1,localhost",
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    _start_anew()
    yield unseeded
    _start_anew()
    sqs.delete_queue(QueueUrl=url)


@pytest.fixture
def lines(deployed: Table) -> Iterator[Callable[[], list[dict[str, Any]]]]:
    """Tells what the functions have logged since it was last asked."""
    log = io.StringIO()
    handler = runtime.logger().registered_handler
    assert isinstance(handler, logging.StreamHandler)
    handler.setStream(log)

    def told() -> list[dict[str, Any]]:
        found = [json.loads(line) for line in log.getvalue().splitlines()]
        log.seek(0)
        log.truncate()
        return found

    yield told
    handler.setStream(sys.stdout)


@pytest.fixture
def table(deployed: Table) -> Table:
    """The seeded table, with the brand that the events are about."""
    seeds.plant(deployed, times.now())
    brands.create(deployed, "g-fore", "G/Fore", times.now())
    return deployed


@pytest.fixture
def queue(deployed: Table) -> Queue:
    """The queue of the fan-out."""
    return connect_queue(runtime.queue().url, endpoint_url=deployed.client.meta.endpoint_url, **FAKE_CREDENTIALS)


def _start_anew() -> None:
    """Forget what an execution environment keeps between calls."""
    for kept in vars(runtime).values():
        if hasattr(kept, "cache_clear"):
            kept.cache_clear()
