"""Create botocore clients, set up for this project's requests.

boto3's clients are botocore's. What boto3 adds (resources, transfers of large files) isn't used, and importing it takes
a seventh of a function's start. For tests, the table is also created here without CloudFormation, and its TTL enabled,
which the local cloud omits.

Answers aren't converted: DynamoDB's JSON is what we need, except for binary values (base64 text, see
``attributes.unmarshal``). botocore's parser visits every value to convert timestamps and blobs, which is most of a
Query's cost for a client (``docs/benchmarks.md``). It also takes a body that isn't JSON for an error's message, so a
proxy's page with status 200 would read as a missing item; here it raises BrokenAnswer.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, HTTPClientError
from botocore.model import Shape
from botocore.parsers import JSONParser, ResponseParser, ResponseParserFactory

from shared.dynamodb.aws_errors import Budget
from shared.dynamodb.schema import TTL_ATTRIBUTE, create_table_request
from shared.dynamodb.table import MAX_PARALLEL_REQUESTS, Table
from shared.errors import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


CHECKSUM = "x-amz-crc32"
"""The header with a body's checksum. DynamoDB sends it and the AWS SDKs compare it; DynamoDB's documentation doesn't
mention it."""


class BrokenAnswer(HTTPClientError):
    """An answer arrived damaged."""

    fmt = "The answer is broken: {error}"


class PlainJSONParser(JSONParser):
    """A parser of the ``json`` protocol without conversions. Raises BrokenAnswer."""

    def parse(self, response: Any, shape: Shape) -> Any:
        expected = response["headers"].get(CHECKSUM)
        if expected is not None and expected != str(zlib.crc32(response["body"])):
            raise BrokenAnswer(error="its checksum is another")
        return super().parse(response, shape)

    def _handle_json_body(self, raw_body: bytes, _shape: Shape | None) -> Any:
        return self._parse_body_as_json(raw_body)

    def _parse_body_as_json(self, body_contents: bytes) -> dict[str, Any]:
        try:
            document = json.loads(body_contents)
        except ValueError as error:
            raise BrokenAnswer(error="it is no JSON") from error
        if not isinstance(document, dict):
            raise BrokenAnswer(error="it is no JSON object")
        return document


class PlainParserFactory(ResponseParserFactory):
    """Gives DynamoDB and SQS the plain parser, and other protocols botocore's own."""

    def create_parser(self, protocol_name: str) -> ResponseParser:
        if protocol_name == "json":
            return PlainJSONParser(**self._defaults)  # type: ignore[attr-defined]  # the stubs leave it out
        return super().create_parser(protocol_name)


CONNECT_TIMEOUT = 1
"""Seconds."""

ENDPOINTS_OF_S3 = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
"""Variables that name an S3 endpoint other than AWS's."""


def connect(name: str, budget: Budget | None = None, /, **client_arguments: Any) -> Table:
    """Connect to a table, with the endpoint and credentials that the environment gives boto3.

    Raises Unavailable if the environment has no region, an unknown profile or an invalid endpoint.
    """
    budget = budget or Budget()
    return Table(name, client=client_of("dynamodb", budget, client_arguments), budget=budget)


def client_of(
    service: Literal["dynamodb", "s3", "sqs", "sesv2"], budget: Budget, client_arguments: Mapping[str, Any]
) -> Any:
    """A client whose requests never outlast a budget.

    botocore's validation, parsing and retries are off: only this project builds the requests, and ``aws_errors``
    retries.
    """
    elsewhere = any((client_arguments.get("endpoint_url"), *map(os.environ.get, ENDPOINTS_OF_S3)))
    session = botocore.session.get_session()
    session.register_component("response_parser_factory", PlainParserFactory())
    config = Config(
        parameter_validation=False,
        # botocore otherwise composes its own twice a request, which costs as much as signing it.
        user_agent="big-time-deals",
        # botocore otherwise looks up account endpoints, and checksums that are never sent, for each request.
        account_id_endpoint_mode="disabled",
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
        disable_request_compression=True,
        retries={"mode": "standard", "total_max_attempts": 1},
        connect_timeout=CONNECT_TIMEOUT,
        read_timeout=budget.answer,
        # In the oldest regions forms are otherwise signed as before 2014.
        signature_version="s3v4" if service == "s3" else None,
        # Forms are otherwise signed for the global host, which regions opened since 2019 refuse (boto3, issue 2728). An
        # endpoint such as the local cloud's has no host for each bucket.
        s3=None if elsewhere else {"addressing_style": "virtual", "us_east_1_regional_endpoint": "regional"},
        max_pool_connections=MAX_PARALLEL_REQUESTS,
        tcp_keepalive=True,
    )
    try:
        client: Any = session.create_client(service, config=config, **client_arguments)
    except (BotoCoreError, ValueError) as error:  # botocore raises ValueError for an invalid endpoint
        raise Unavailable(f"There is no way to {service}: {error}") from error

    def limit(context: dict[str, Any], **_: Any) -> None:
        # botocore's own override for one request; zero would be no timeout at all
        context["read_timeout"] = max(0.001, min(budget.answer, budget.left()))

    client.meta.events.register("before-call", limit)
    return client


def create_table(client: DynamoDBClient, name: str) -> None:
    """Create the table as the stack does, wait until it is active, and enable TTL."""
    client.create_table(**create_table_request(name))  # type: ignore[arg-type]  # the schema is declared as plain data
    client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 60})
    enable_ttl(client, name)


def enable_ttl(client: DynamoDBClient, name: str) -> bool:
    """Enable TTL if it isn't enabled; returns whether it wasn't."""
    status = client.describe_time_to_live(TableName=name)["TimeToLiveDescription"].get("TimeToLiveStatus")
    if status in ("ENABLED", "ENABLING"):
        return False
    client.update_time_to_live(
        TableName=name, TimeToLiveSpecification={"Enabled": True, "AttributeName": TTL_ATTRIBUTE}
    )
    return True
