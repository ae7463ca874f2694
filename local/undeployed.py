"""A function that is not deployed: made from its row, on a temporary cloud that ends with it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from infra.bundling import HANDLER, bundle
from infra.functions import BY_NAME, Caller, variables
from infra.functions import Function as Row
from infra.settings import STAGES
from local import cloud, deploy
from local.ports import free_port
from local.runtime import Function, unpack
from local.settings import STAGE, Home, access_key, client_arguments, endpoint, reaching
from local.trouble import Trouble
from shared import sqs
from shared.data.catalog import seeds
from shared.dynamodb import client
from shared.dynamodb.aws_errors import Budget
from shared.dynamodb.client import connect
from shared.values import times

NAME = "big-time-deals"
"""The name of the table and of the queue."""

PATIENCE = 60
"""Seconds that a request may take: the first of its kind waits until the cloud has loaded the service."""


def row_of(name: str) -> Row:
    """The row of a function. Raises Trouble for an unknown name."""
    row = BY_NAME.get(name)
    if row is None:
        raise Trouble(f"There is no function {name!r}: choose one of {', '.join(sorted(BY_NAME))}.")
    return row


@contextmanager
def undeployed(name: str, folder: Path) -> Iterator[Function]:
    """A function with its code in a folder, a new table and an empty queue. Raises Trouble for an unknown name.

    The table is as a deployment leaves it, except for a function that takes part in deployments: it finds the table
    empty.
    """
    row = row_of(name)
    print("The local cloud is not running: the function has a table of its own, gone afterwards.", file=sys.stderr)
    stage = STAGES[STAGE]
    with TemporaryDirectory(prefix="undeployed-") as place:
        home, port = Home(Path(place) / "home"), free_port()
        try:
            cloud.start(home, port)
            table = connect(NAME, Budget(answer=PATIENCE), **client_arguments(home, port))
            client.create_table(table.client, table.name)
            if row.caller is not Caller.DEPLOYMENT:
                seeds.plant(table, times.now())
            queues = sqs.connect("", Budget(answer=PATIENCE), **client_arguments(home, port)).client
            yield Function(
                name=name,
                handler=HANDLER,
                code=unpack(bundle(row.artifact, stage.target).path, folder),
                environment={
                    **variables(row, stage, table.name),
                    "QUEUE_URL": queues.create_queue(QueueName=NAME)["QueueUrl"],
                    "SITE_ORIGIN": deploy.origin(port),
                    "SITE_BASE": stage.site_base,
                    **reaching(endpoint(port), access_key(home)),
                },
                timeout=row.timeout * stage.slowness,
                memory=row.memory,
            )
        finally:
            cloud.kill(home)
