"""The built artifacts, unpacked as Lambda unpacks them and run by Lambda's own runtime client on the local DynamoDB."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from pathlib import Path

import boto3
import pytest

from infra.bundling import HANDLER, bundle, compiler, module_of
from infra.functions import BY_NAME
from infra.stage import ON_LAMBDA, this_machine
from local.settings import reaching
from shared.data.catalog import topics
from shared.dynamodb.table import Table
from shared.services import Queue
from shared.values import times
from tests.support.engines import FAKE_CREDENTIALS, KEY, MINISTACK
from tools.invoke import Answer, Function, running, unpack

IS_LAMBDAS = compiler(ON_LAMBDA.python) is not None

RUNTIME = replace(this_machine(), python=ON_LAMBDA.python) if IS_LAMBDAS else this_machine()
"""This machine, with the Python of Lambda's runtime where it can be had, else with this one."""

INTERPRETER = compiler(RUNTIME.python)

INSTEAD = (
    f"Python {ON_LAMBDA.python} is not on this machine, so artifacts run on {this_machine().python}: "
    f"'.venv/bin/uv python install {ON_LAMBDA.python}' provides it."
)


@dataclass(frozen=True, slots=True)
class Place:
    """A table and a queue, and the environment that tells functions where they are."""

    table: Table
    queue: Queue
    environment: dict[str, str]


@pytest.fixture(scope="session")
def code(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder with the code of a function."""
    folder = tmp_path_factory.mktemp("code")

    @cache
    def unpacked(artifact: str) -> Path:
        return unpack(bundle(artifact, RUNTIME).path, folder / artifact)

    return lambda function: unpacked(BY_NAME[function].artifact)


@pytest.fixture
def place() -> Iterator[Place]:
    """A table seeded yesterday, with the brand that the events are about, and an empty queue."""
    with MINISTACK.bare_table() as table:
        yesterday = times.now() - timedelta(days=1)
        topics.plant_seeds(table, yesterday)
        topics.create_brand(table, "g-fore", "G/Fore", yesterday)
        endpoint = table.client.meta.endpoint_url
        sqs = boto3.client("sqs", endpoint_url=endpoint, **FAKE_CREDENTIALS)  # type: ignore[call-overload]  # all given
        url = sqs.create_queue(QueueName=table.name)["QueueUrl"]
        # MiniStack's names of buckets are everyone's, too.
        bucket = table.name.lower()
        boto3.client("s3", endpoint_url=endpoint, **FAKE_CREDENTIALS).create_bucket(Bucket=bucket)  # type: ignore[call-overload]  # all given
        environment = {
            **reaching(endpoint, KEY),
            "PICTURES_BUCKET": bucket,
            "TABLE_NAME": table.name,
            "QUEUE_URL": url,
            "STAGE": "test",
            "POWERTOOLS_METRICS_NAMESPACE": "Test",
        }
        yield Place(table, Queue(url, client=sqs), environment)
        sqs.delete_queue(QueueUrl=url)


@pytest.fixture
def function(place: Place, code: Callable[[str], Path]) -> Callable[[str], Function]:
    """A function as the stack would deploy it."""
    return lambda name: Function(
        name,
        HANDLER,
        code(name),
        place.environment | {"FUNCTION": module_of(name), "POWERTOOLS_SERVICE_NAME": name},
        python=RUNTIME.python,
    )


@pytest.fixture
def invoke(function: Callable[[str], Function]) -> Callable[[str, bytes], Answer]:
    """Start a function and hand it one event; what it answers is no failure."""

    def once(name: str, event: bytes) -> Answer:
        with running(function(name)) as runtime:
            answer = runtime.invoke(event)
        assert not answer.failed, answer
        return answer

    return once
