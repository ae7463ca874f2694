"""A local cloud goes on after it was stopped and started again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest

from local import cloud
from local.ports import free_port
from local.settings import Home, client_arguments
from tests.e2e.plumbing import a_probe
from tests.support.waiting import until

NAME = "restarted"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path / "cloud")
    yield home
    cloud.kill(home)


def test_functions_read_what_comes_after_a_restart(home: Home, tmp_path: Path) -> None:
    port, seen = free_port(), tmp_path / "seen"
    cloud.start(home, port)
    stream_to_a_function(home, port, seen)
    for name in ("one", "two", "three"):
        write(home, port, name)
    assert until(lambda: "three" in _text(seen))

    assert cloud.stop(home)
    cloud.start(home, port)
    write(home, port, "four")

    assert until(lambda: "four" in _text(seen))


def _client(home: Home, port: int, service: Any) -> Any:
    return boto3.session.Session().client(service, **client_arguments(home, port))


def stream_to_a_function(home: Home, port: int, seen: Path, fails: str = "whole", **settings: Any) -> None:
    """A table with a stream, and a function that writes down what it reads there."""
    clients = {name: _client(home, port, name) for name in ("dynamodb", "iam", "lambda")}
    stream = a_probe(clients, NAME, seen, fails=fails)
    clients["lambda"].create_event_source_mapping(
        EventSourceArn=stream, FunctionName=NAME, StartingPosition="TRIM_HORIZON", **settings
    )


def write(home: Home, port: int, name: str) -> None:
    _client(home, port, "dynamodb").put_item(TableName=NAME, Item={"PK": {"S": name}})


def _text(seen: Path) -> str:
    return seen.read_text() if seen.exists() else ""
