"""What an execution environment makes once, at its first use: the connection to the table, and the logger."""

from __future__ import annotations

import os
from functools import cache

from aws_lambda_powertools import Logger

from shared.data import queues
from shared.data.queues import Queue
from shared.data.table import Table, connect


@cache
def table() -> Table:
    """The table that the environment names (``TABLE_NAME``), connected once per execution environment."""
    return connect(os.environ["TABLE_NAME"])


@cache
def queue() -> Queue:
    """The queue of the fan-out that the environment names (``QUEUE_URL``)."""
    return queues.connect(os.environ["QUEUE_URL"])


@cache
def logger() -> Logger:
    """The structured logger of this function."""
    return Logger()
