"""Connecting to the table: how botocore is set up to make, send and read requests."""

from __future__ import annotations

from typing import Any

import boto3
import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError

from shared.dynamodb import transport
from shared.dynamodb.parsing import PlainParserFactory
from shared.dynamodb.table import MAX_PARALLEL_REQUESTS, Table
from shared.errors import Unavailable

CONNECT_TIMEOUT = 2
READ_TIMEOUT = 5
"""Seconds. DynamoDB answers in milliseconds: who waits longer had better ask again."""


def connect(name: str, **client_arguments: Any) -> Table:
    """The table of a name, at the endpoint and with the credentials that the environment gives boto3.

    Requests are built by this package alone, so botocore's validation of them is left out; answers are parsed plainly.
    Raises Unavailable where the environment names no region, an unknown profile or an endpoint that is no address.
    """
    session = botocore.session.get_session()
    session.register_component("response_parser_factory", PlainParserFactory())
    config = Config(
        parameter_validation=False,
        # botocore otherwise composes its own twice for each request, which costs as much as signing it.
        user_agent="big-time-deals",
        # Endpoints named after accounts would be looked up for each request, and so would checksums nobody sends.
        account_id_endpoint_mode="disabled",
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
        disable_request_compression=True,
        retries={"mode": "standard", "max_attempts": 4},
        connect_timeout=CONNECT_TIMEOUT,
        read_timeout=READ_TIMEOUT,
        max_pool_connections=MAX_PARALLEL_REQUESTS,
        tcp_keepalive=True,
    )
    try:
        client = boto3.Session(botocore_session=session).client("dynamodb", config=config, **client_arguments)
    except (BotoCoreError, ValueError) as error:  # ValueError is botocore's word for an endpoint that is no address
        raise Unavailable(f"There is no way to the table: {error}") from error
    transport.attach(client, session, connect_timeout=CONNECT_TIMEOUT, read_timeout=READ_TIMEOUT)
    return Table(name, client)
