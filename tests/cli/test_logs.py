"""``btd logs``: the lines of one stack, from all of its functions, in their order."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import boto3
import pytest

from local.settings import Home
from shared.dynamodb.table import Table
from tests.cli.conftest import Btd
from tests.support.engines import FAKE_CREDENTIALS, MINISTACK, Engine

HOUR = 3_600_000


@pytest.fixture(scope="module")
def server() -> Engine:
    return MINISTACK


@pytest.fixture
def stack(bare_table: Table, monkeypatch: pytest.MonkeyPatch) -> str:
    """A name that no other test's logs have, and which the environment names."""
    name = f"BigTimeDeals-{secrets.token_hex(4)}"
    monkeypatch.setenv("BTD_STACK", name)
    return name


@pytest.fixture
def log(bare_table: Table) -> Callable[..., None]:
    """Writes a line to a log group, some milliseconds ago."""
    client: Any = boto3.client("logs", endpoint_url=bare_table.client.meta.endpoint_url, **FAKE_CREDENTIALS)  # type: ignore[call-overload]  # all given

    def write(group: str, line: str | dict[str, Any], ago: int = 0) -> None:
        client.create_log_group(logGroupName=group)
        client.create_log_stream(logGroupName=group, logStreamName="stream")
        message = line if isinstance(line, str) else json.dumps(line)
        at = time.time_ns() // 1_000_000 - ago
        event = {"timestamp": at, "message": message}
        client.put_log_events(logGroupName=group, logStreamName="stream", logEvents=[event])

    return write


def test_lines_of_all_functions_come_in_their_order(stack: str, log: Callable[..., None], ask: Any) -> None:
    log(f"{stack}-MessengerLog", {"message": "delivered", "correlation_id": "4a1f6c7e-54cf"}, ago=1000)
    log(f"{stack}-EditorsLog", {"message": "request", "correlation_id": "4a1f6c7e-54cf"}, ago=3000)
    log(f"{stack}-PublisherLog", {"message": "announced", "correlation_id": "another"}, ago=2000)

    found = ask("logs", "4a1f6c7e-54cf")

    assert [line["message"] for line in found["result"]] == ["request", "delivered"]


def test_another_stacks_lines_and_old_ones_are_left_out(stack: str, log: Callable[..., None], ask: Any) -> None:
    log(f"{stack}-EditorsLog", {"message": "new", "deal_id": "3F2VM8Kq"}, ago=HOUR // 2)
    log(f"{stack}-SeedLog", {"message": "old", "deal_id": "3F2VM8Kq"}, ago=2 * HOUR)
    log(f"Others-{secrets.token_hex(4)}", {"message": "theirs", "deal_id": "3F2VM8Kq"})

    found = ask("logs", "3F2VM8Kq", "--hours", "1")

    assert [line["message"] for line in found["result"]] == ["new"]


def test_a_line_is_shown_with_its_function_and_without_what_makes_metrics(
    stack: str, log: Callable[..., None], btd: Btd
) -> None:
    line = {"service": "editors", "level": "INFO", "message": "request", "status": 201, "_aws": {"Timestamp": 1}}
    log(f"{stack}-EditorsLog", line | {"correlation_id": "4a1f6c7e"})
    log(f"{stack}-SeedLog", "2026-06-12T14:05:00Z 4a1f6c7e Task timed out after 10.01 seconds")

    shown = btd("logs", "4a1f6c7e").stdout

    assert all(word in shown for word in ("editors", "INFO", "request", "status=201", "Task timed out"))
    assert "Timestamp" not in shown


@pytest.mark.parametrize("text", ['a"b', "ab", "two\nlines", "back\\slash"])
def test_what_would_be_no_single_term_of_a_search_is_refused(stack: str, btd: Btd, text: str) -> None:
    assert "without quotation marks" in btd("logs", text, code=2).stderr


def test_without_a_stack_and_a_local_cloud_there_are_no_logs(
    btd: Btd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BTD_STACK", raising=False)
    monkeypatch.setattr("cli.work.Home", lambda: Home(tmp_path))

    assert "BTD_STACK" in btd("logs", "4a1f6c7e", code=2).stderr


def test_logs_that_cannot_be_read_are_one_line_and_no_trace(
    stack: str, btd: Btd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")

    assert btd("logs", "4a1f6c7e", code=1).stderr.startswith("The logs cannot be read:")
