"""Which table a command talks to: the one the environment names, or this checkout's local cloud."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import Any

from cli.output import note
from local.cloud import running, told, waiting
from local.settings import Home, client_arguments
from shared import s3
from shared.dynamodb.client import connect
from shared.dynamodb.table import Table
from shared.s3 import Bucket


class NoTable(Exception):  # it is told to the user, who need not know that it is an exception
    """Nothing names a table; the text says what would."""


def open_table(home: Home | None = None) -> Table:
    """The table of ``BTD_TABLE`` where boto3's own environment says it is, or the running local cloud's.

    The local cloud takes its checkout's key only, which goes to this one client and never into the environment.
    Raises NoTable, Unavailable.
    """
    name = os.environ.get("BTD_TABLE")
    if name:
        # Other tools of AWS obey AWS_REGION; botocore knows AWS_DEFAULT_REGION and the profile's only.
        return connect(name, region_name=os.environ.get("AWS_REGION"))
    cloud, arguments = local_cloud("BTD_TABLE names no table", home)
    note(f"Local cloud at {cloud['endpoint']}, table {cloud['table']}")
    return connect(cloud["table"], **arguments)


def open_bucket() -> Bucket:
    """The bucket of pictures: that of ``BTD_PICTURES_BUCKET``, or the running local cloud's. Raises NoTable."""
    name = os.environ.get("BTD_PICTURES_BUCKET")
    if name:
        return s3.connect(name, region_name=os.environ.get("AWS_REGION"))
    cloud, arguments = local_cloud("BTD_PICTURES_BUCKET names no bucket")
    return s3.connect(cloud["picturesBucket"], **arguments)


def still_to_do() -> str:
    """The work that the local cloud still has after a write, in words; empty on AWS, which does not tell."""
    cloud = None if os.environ.get("BTD_TABLE") else running(Home())
    with suppress(OSError, ValueError):
        return told(waiting(Home(), cloud)) if cloud else ""
    return ""


def local_cloud(otherwise: str, home: Home | None = None) -> tuple[dict[str, str], dict[str, Any]]:
    """The record by ``make run`` of this checkout's running local cloud, and boto3's arguments to talk to it.

    Raises NoTable where none runs; ``otherwise`` says why one is needed.
    """
    home = home or Home()
    there = running(home)
    if there is None or not home.cloud.exists():
        raise NoTable(f"{otherwise}, and no local cloud runs here: set it, or start one (make run).")
    description = json.loads(home.cloud.read_text(encoding="utf-8"))
    return description, client_arguments(home, there.port) | {"endpoint_url": description["endpoint"]}
