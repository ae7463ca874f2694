"""What an execution environment makes once, at its first use: the connections to table and queue, and the logger."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from aws_lambda_powertools import Logger

from shared import sqs
from shared.dynamodb.client import connect
from shared.dynamodb.retries import Budget
from shared.dynamodb.table import Table
from shared.sqs import Queue

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

FOR_AN_ANSWER = 1.0
"""Seconds before Lambda would end a function in which it no longer asks, but answers."""


@cache
def table() -> Table:
    """The table that the environment names (``TABLE_NAME``), connected once per execution environment."""
    return connect(os.environ["TABLE_NAME"], budget(), **_credentials())


@cache
def queue() -> Queue:
    """The queue of the fan-out that the environment names (``QUEUE_URL``)."""
    return sqs.connect(os.environ["QUEUE_URL"], budget(), **_credentials())


@cache
def budget() -> Budget:
    """The time that the requests of the present invocation have, to the table and to the queue together."""
    return Budget()


def begin(context: LambdaContext) -> None:
    """Allow an invocation's requests what Lambda has left for it, less the time for an answer."""
    budget().start(context.get_remaining_time_in_millis() / 1000 - FOR_AN_ANSWER)


def _credentials() -> dict[str, str]:
    """The role's keys where Lambda puts them into the environment: boto3 need not make ready to look elsewhere.

    Under SnapStart it does not, for they would be old by the time the snapshot is used; boto3 then asks for new ones.
    """
    names = {
        "aws_access_key_id": "AWS_ACCESS_KEY_ID",
        "aws_secret_access_key": "AWS_SECRET_ACCESS_KEY",
        "aws_session_token": "AWS_SESSION_TOKEN",
    }
    return {argument: os.environ[name] for argument, name in names.items() if os.environ.get(name)}


@cache
def logger() -> Logger:
    """The structured logger of this function."""
    return Logger()
