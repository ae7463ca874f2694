"""A table with a stream, and a function that writes down what it reads there, on a cloud with nothing else."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config

from local import cloud
from local.cloud import free_port
from local.settings import Home, client_arguments

NAME = "probe"

_PROBE = """
import json, os

def handler(event, context):
    names = [record["dynamodb"]["Keys"]["PK"]["S"] for record in event["Records"]]
    with open(os.environ["SEEN"], "a") as seen:
        seen.write(json.dumps(names) + chr(10))
    if os.environ["FAILS"] == "whole" and "poison" in names:
        raise ValueError("poison")
    failed = [r["dynamodb"]["SequenceNumber"] for r in event["Records"] if r["dynamodb"]["Keys"]["PK"]["S"] == "poison"]
    return {"batchItemFailures": [{"itemIdentifier": number} for number in failed]}
"""


_TRUST = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}],
}


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """The folder of a cloud, which ends with the test where that starts one."""
    home = Home(tmp_path / "cloud's")  # as a user may call a folder
    yield home
    cloud.kill(home)


@pytest.fixture
def probed(home: Home) -> Home:
    """The same, of a running cloud."""
    cloud.start(home, free_port())
    return home


def stream_to_a_function(home: Home, seen: Path, fails: str = "whole", **settings: Any) -> None:
    """Make both on the cloud of a folder; ``settings`` are further ones of the event source.

    Where a record's key is ``poison`` the function fails as ``fails`` says: with the ``whole`` batch, or ``partly``.
    """
    table = client(home, "dynamodb").create_table(
        TableName=NAME,
        KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "PK", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    )
    code = io.BytesIO()
    with zipfile.ZipFile(code, "w") as archive:
        archive.writestr("probe.py", _PROBE)
    role = client(home, "iam").create_role(RoleName=NAME, AssumeRolePolicyDocument=json.dumps(_TRUST))["Role"]
    functions = client(home, "lambda")
    functions.create_function(
        FunctionName=NAME,
        Runtime="python3.12",
        Handler="probe.handler",
        Role=role["Arn"],
        Code={"ZipFile": code.getvalue()},
        Timeout=60,
        Environment={"Variables": {"SEEN": str(seen), "FAILS": fails}},
    )
    functions.create_event_source_mapping(
        EventSourceArn=table["TableDescription"]["LatestStreamArn"],
        FunctionName=NAME,
        StartingPosition="TRIM_HORIZON",
        **settings,
    )


def client(home: Home, service: Any, **config: Any) -> Any:
    """A service's client, at the cloud that runs in a folder; ``config`` are settings of botocore's."""
    running = cloud.running(home)
    assert running is not None
    return boto3.session.Session().client(service, config=Config(**config), **client_arguments(home, running.port))


def write(home: Home, *names: str) -> None:
    """Write items of these keys."""
    dynamodb = client(home, "dynamodb")
    for name in names:
        dynamodb.put_item(TableName=NAME, Item={"PK": {"S": name}})


def told(seen: Path) -> str:
    """The batches that the function was called with, each a line of JSON."""
    return seen.read_text() if seen.exists() else ""
