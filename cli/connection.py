"""Which table a command talks to: the one the environment names, or this checkout's local cloud."""

from __future__ import annotations

import json
import os
from pathlib import Path

from cli.output import note
from local.cloud import running
from local.settings import Home
from shared.dynamodb.client import connect
from shared.dynamodb.table import Table


class NoTable(Exception):  # it is told to the user, who need not know that it is an exception
    """Nothing names a table; the text says what would."""


def open_table(home: Home | None = None) -> Table:
    """The table of ``BTD_TABLE`` where boto3's own environment says it is, or the running local cloud's.

    The local cloud takes any credentials; made-up ones go to this one client, never into the environment.
    Raises NoTable, Unavailable.
    """
    name = os.environ.get("BTD_TABLE")
    if name:
        # Other tools of AWS obey AWS_REGION; botocore knows AWS_DEFAULT_REGION and the profile's only.
        return connect(name, region_name=os.environ.get("AWS_REGION"))
    home = home or Home()
    if not (running(home) and home.cloud.exists()):
        raise NoTable("BTD_TABLE names no table, and no local cloud runs here: set it, or start one (make run).")
    return _local_table(home.cloud)


def _local_table(description: Path) -> Table:
    cloud = json.loads(description.read_text(encoding="utf-8"))
    note(f"Local cloud at {cloud['endpoint']}, table {cloud['table']}")
    return connect(
        cloud["table"],
        endpoint_url=cloud["endpoint"],
        region_name=cloud["region"],
        aws_access_key_id="local",
        aws_secret_access_key="local",  # noqa: S106  # the local cloud's own
    )
