"""Deal pictures on the command line: upload a file, redrive failed uploads, and prove that a form's upload works."""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from cli import proofs
from cli.commands import BY, Work, local_cloud
from cli.dead_letters import Kind
from cli.output import Json
from cli.proofs import Deployed, Fails, Proof
from features.pictures import hosts
from features.pictures.data import bucket, fetches, making, uploads
from features.pictures.data.bucket import Bucket
from features.pictures.data.fetches import Fetch
from features.pictures.models import ANY_TYPE, MAX_UPLOAD, UPLOADS, Picture
from shared.data.catalog import deals, feeds
from shared.dynamodb.table import Table
from shared.errors import Busy, Invalid
from shared.http.requests import MAX_PAGE
from shared.models.catalog import ALL_DEALS, Deal
from shared.values import identifiers, times
from shared.values.naming import counted

PATIENCE = 60
"""Seconds that a command waits for a picture, which takes one or two."""


def send(table: Table, deal: Deal, file: Path, now: datetime) -> Deal:
    """Upload a file as a deal's picture, and wait for the result. Raises Invalid if it is refused."""
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


def fetch_pictures(
    work: Work,
    named: Annotated[list[str], typer.Argument(metavar="HOST...", help="Hosts, as in the stage's setting.")],
) -> Json:
    """Order the pictures that active deals name at some hosts, for a stage that has begun to fetch pictures."""
    ordered, cursor = 0, None
    while True:
        page = feeds.read(work.table, ALL_DEALS, limit=MAX_PAGE, now=work.now, cursor=cursor)
        for deal in page.items:
            host = hosts.allowed(deal.image or "", tuple(named))
            if host is not None and deal.own(Picture) is None and fetches.is_wanted(deal, work.now):
                fetches.order(work.table, host, deal.deal_id, work.now)
                ordered += 1
        cursor = page.next
        if cursor is None:
            return {"ordered": ordered}


SUBCOMMANDS = {"deals": (fetch_pictures,)}

_A_FILE = typer.Option(exists=True, dir_okay=False, help="An image file for the deal's picture.")

EDITS: Mapping[str, tuple[Any, Callable[[Table, Deal, Any, datetime], Deal]]] = {
    "picture": (Annotated[Path | None, _A_FILE], send)
}
"""Options of ``btd deals edit``."""


def _bucket() -> Bucket:
    """The picture bucket: that of ``BTD_PICTURES_BUCKET``, or the running local cloud's. Raises NoTable."""
    name = os.environ.get("BTD_PICTURES_BUCKET")
    if name:
        return bucket.connect(name, region_name=os.environ.get("AWS_REGION"))
    cloud, arguments = local_cloud("BTD_PICTURES_BUCKET names no bucket")
    return bucket.connect(cloud["picturesBucket"], **arguments)


@dataclass(frozen=True, slots=True)
class Uploads:
    """Uploaded files without a picture yet. S3 deletes each a day after its upload."""

    names: tuple[str, ...]

    @classmethod
    def of(cls, body: str) -> Uploads:
        """The uploads that an S3 message names. Raises ValueError for another message."""
        try:
            names = tuple(str(each["s3"]["object"]["key"]) for each in json.loads(body)["Records"])
        except (KeyError, TypeError) as error:
            raise ValueError(f"no message of S3: {body[:200]}") from error
        return cls(names)


REDRIVEN = (
    Kind(Uploads.of, lambda sent: (counted(len(sent.names), "upload"), []), "uploads", "resizer"),
    Kind(Fetch.from_json, lambda asked: (f"a picture at {asked.host}", [asked.deal_id]), "uploads", "resizer"),
)
"""What ``btd redrive`` reads from the dead-letter queue of uploads."""


PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000080000000808020000004b6d29dc000000154944415478da63ac0838c1800d3031e0"
    "00835302003c2701a06b6de81f0000000049454e44ae426082"
)
"""A PNG of eight by eight pixels of one colour."""


def upload(site: Deployed) -> str:
    """A browser's form brings a picture into the bucket, and the resizer makes a file of it and takes it out."""
    files = bucket.connect(site.outputs["PicturesBucket"], **site.arguments)
    deal_id = identifiers.random(times.now(), secrets.token_bytes(16))  # no deal has it, so nothing is shown anywhere
    name, noted = f"{UPLOADS}{deal_id}", {"x-amz-meta-deal": deal_id, "Content-Type": "image/png"}
    form = files.form(name, MAX_UPLOAD, 60, {**noted, "x-amz-meta-editor": "probe"})
    made = making.make(PICTURE, deal_id).files
    try:
        status, text = proofs.ask("POST", form.url, fields={**form.fields, "file": ("probe.png", PICTURE, "image/png")})
        if status >= 300:
            raise Fails(f"the form was answered {status}: {text[:300]}")
        if not proofs.wait(80, lambda: files.read(name, 1) is None):
            raise Fails("the form was taken, and the upload is still there")
        there = [each for each in made if files.read(each, 1)]
    finally:
        for each in (name, *made):
            files.remove(each)
    return f"{form.url} took it; files made of it: {len(there)}"


PROOFS = {"upload": Proof(upload, 125, "whether a region's own host takes the form")}
