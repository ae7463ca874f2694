"""A local cloud goes on after it was stopped and started again."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest

from local import cloud
from local.ports import free_port
from local.settings import Home, client_arguments
from tests.e2e.test_departures import FUNCTION, TRUST
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
    return boto3.session.Session().client(
        service,
        **client_arguments(home, port),
    )


def stream_to_a_function(home: Home, port: int, seen: Path) -> None:
    """A table with a stream, and a function that writes down what it reads there."""
    table = _client(home, port, "dynamodb").create_table(
        TableName=NAME,
        KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "PK", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    )
    role = _client(home, port, "iam").create_role(RoleName=NAME, AssumeRolePolicyDocument=json.dumps(TRUST))["Role"]
    code = io.BytesIO()
    with zipfile.ZipFile(code, "w") as archive:
        archive.writestr("probe.py", FUNCTION)
    functions = _client(home, port, "lambda")
    functions.create_function(
        FunctionName=NAME,
        Runtime="python3.12",
        Handler="probe.handler",
        Role=role["Arn"],
        Code={"ZipFile": code.getvalue()},
        Environment={"Variables": {"SEEN": os.fspath(seen), "FAILS": "whole"}},
    )
    functions.create_event_source_mapping(
        EventSourceArn=table["TableDescription"]["LatestStreamArn"],
        FunctionName=NAME,
        StartingPosition="TRIM_HORIZON",
    )


def write(home: Home, port: int, name: str) -> None:
    _client(home, port, "dynamodb").put_item(TableName=NAME, Item={"PK": {"S": name}})


def _text(seen: Path) -> str:
    return seen.read_text() if seen.exists() else ""
