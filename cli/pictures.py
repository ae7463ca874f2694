"""A deal's picture on the command line: ``btd deals edit NUMBER --picture FILE``; and uploads that failed."""

from __future__ import annotations

import json
import os
import secrets
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from cli.redrive import Kind
from cli.routes import BY
from cli.work import local_cloud
from shared import services
from shared.data.catalog import deals, uploads
from shared.dynamodb.table import Table
from shared.errors import Busy, Invalid
from shared.models.catalog import Deal
from shared.services import Bucket
from shared.values import identifiers
from shared.values.naming import counted
from shared.values.pictures import ANY_TYPE, MAX_UPLOAD, UPLOADS

PATIENCE = 60
"""Seconds that a command waits for a picture; one is made in a second or two."""


def send(table: Table, deal: Deal, file: Path, now: datetime) -> Deal:
    """Send a file as a deal's picture, and wait for what becomes of it. Raises Invalid where it is refused."""
    upload = f"{UPLOADS}{identifiers.random(now, secrets.token_bytes(16))}"
    if file.stat().st_size > MAX_UPLOAD:
        raise Invalid(f"{file} has more than {MAX_UPLOAD // 1_000_000} MB.")
    noted = {uploads.UPLOADED_FOR: deal.deal_id, uploads.UPLOADED_BY: BY}
    _bucket().write(upload, file.read_bytes(), ANY_TYPE, **noted)
    for _ in range(PATIENCE):
        time.sleep(1)
        seen = deals.get(table, deal.deal_id, consistent=True)
        outcome = uploads.outcome_of(seen)
        if outcome and outcome.upload == upload:
            if outcome.refused:
                raise Invalid(f"{file} is refused. {outcome.refused}")
            return seen
    raise Busy("The picture is not ready yet: look at the deal again later.")


def _bucket() -> Bucket:
    """The bucket of pictures: that of ``BTD_PICTURES_BUCKET``, or the running local cloud's. Raises NoTable."""
    name = os.environ.get("BTD_PICTURES_BUCKET")
    if name:
        return services.connect_bucket(name, region_name=os.environ.get("AWS_REGION"))
    cloud, arguments = local_cloud("BTD_PICTURES_BUCKET names no bucket")
    return services.connect_bucket(cloud["picturesBucket"], **arguments)


@dataclass(frozen=True, slots=True)
class Uploads:
    """Uploaded files without a picture yet. S3 deletes each a day after its upload."""

    names: tuple[str, ...]

    @classmethod
    def of(cls, body: str) -> Uploads:
        """The uploads that a message of S3 names. Raises ValueError for a message of another kind."""
        try:
            names = tuple(str(each["s3"]["object"]["key"]) for each in json.loads(body)["Records"])
        except (KeyError, TypeError) as error:
            raise ValueError(f"no message of S3: {body[:200]}") from error
        return cls(names)


REDRIVEN = (Kind(Uploads.of, lambda sent: (counted(len(sent.names), "upload"), []), "uploads", "resizer"),)
"""What ``btd redrive`` reads from the dead-letter queue of uploads."""
