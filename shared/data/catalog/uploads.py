"""What becomes of files that editors send for a deal: a picture of the deal, or the reason why there is none.

What is served is only ever made here, of pixels: no byte of an upload reaches a reader. A child process decodes
(``shared/decoder.py``), so whatever a file does there, it becomes a refusal here.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from shared.data import account_checks, keys
from shared.data.catalog import deals
from shared.data.catalog.deals import ours
from shared.data.catalog.feed_counts import Stale
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import change
from shared.errors import Busy, DealsError
from shared.models.catalog import Deal
from shared.values import identifiers
from shared.values.pictures import MAX_UPLOAD, TOO_SLOW, UNREADABLE, UPLOADS, Picture, Refused
from shared.values.times import to_iso

if TYPE_CHECKING:
    from shared.services import Bucket, Form

UPLOADED_FOR = "deal"
"""The name under which an upload's sender notes the deal that it is for."""

UPLOADED_BY = "editor"
"""The same, of who sends it."""

UPLOADER = "account"
"""The same, of the sender's account. Forms sign it; a command, which has the bucket's keys, notes none."""

UPLOAD_SECONDS = 3600
"""How long a form for an upload can be sent. Lambda's keys, which sign it, may end sooner; then a new form helps."""

NO_EDITOR = "Its sender is no longer an editor."

_GIVEN = ("PATH", "LD_LIBRARY_PATH")
"""The variables that a child gets, which Lambda's Python needs to start: none has credentials."""

_PICTURE = Projection.of("Picture")


def upload_form(  # whose each is, a form must say
    bucket: Bucket, deal_id: str, by: str, account_id: str, now: datetime, entropy: bytes, **fields: str
) -> Form:
    """A form with which the browser of the editor ``by`` sends a picture for a deal; ``fields`` are further fields of
    S3's form."""
    key = f"{UPLOADS}{identifiers.random(now, entropy)}"
    noted = {UPLOADED_FOR: deal_id, UPLOADED_BY: by, UPLOADER: account_id}
    metadata = {f"x-amz-meta-{name}": value for name, value in noted.items()}
    return bucket.form(key, MAX_UPLOAD, UPLOAD_SECONDS, {**metadata, **fields})


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a child: seconds of processor time, bytes of memory, and seconds until it is killed.

    Each is several times what the largest picture takes, and less than its function has (``infra/functions.py``).
    """

    processor: int = 20
    memory: int = 1_200_000_000
    deadline: float = 40


@dataclass(frozen=True, slots=True)
class Made:
    """A picture, and its files in the bucket by name."""

    picture: Picture
    files: Mapping[str, bytes]


def make(content: bytes, deal_id: str, limits: Limits = Limits()) -> Made:
    """The picture that is made of a file, whose format is what its content says. Raises Refused.

    A deal's id is part of the hash, so that no two deals share files and what one no longer names may be removed.
    """
    if len(content) > MAX_UPLOAD:
        raise Refused(f"It has more than {MAX_UPLOAD // 1_000_000} MB.")
    made = json.loads(_decoded(content, limits))
    if "refused" in made:
        raise Refused(made["refused"])
    files = [base64.b64decode(each) for each in made["files"]]
    digest = hashlib.sha256(deal_id.encode() + b"".join(files)).hexdigest()[:20]
    picture = Picture.parse("{} {}x{} {}".format(digest, *made["size"], made["colour"]))
    return Made(picture, dict(zip(picture.files, files, strict=True)))


def _decoded(content: bytes, limits: Limits) -> bytes:
    """The answer of a child. Raises Refused where it is killed or breaks, and CalledProcessError if it can't start."""
    try:
        child = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "shared.decoder", f"{limits.processor}", f"{limits.memory}"],
            input=content,
            stdout=subprocess.PIPE,
            timeout=limits.deadline,
            check=False,
            cwd=Path(__file__).parents[3],
            env={name: os.environ[name] for name in _GIVEN if name in os.environ},
        )
    except subprocess.TimeoutExpired as error:
        raise Refused(TOO_SLOW) from error
    if child.returncode < 0:  # a signal ended it
        raise Refused(TOO_SLOW if -child.returncode in (signal.SIGXCPU, signal.SIGKILL) else UNREADABLE)
    child.check_returncode()
    return child.stdout


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of an upload: ``refused`` says why it is no picture, and is empty if it is one."""

    upload: str
    refused: str


def outcome_of(deal: Deal) -> Outcome | None:
    """The outcome of the last upload for a deal, or None where there was none."""
    if deal.upload is None:
        return None
    _, upload, refused = f"{deal.upload} ".split(" ", 2)
    return Outcome(f"{UPLOADS}{upload}", refused.strip())


def is_picture_shown(table: Table, deal_id: str, picture: Picture) -> bool:
    """Whether a deal has a picture at this moment: the record of its replacement may come late. One GetItem."""
    item = table.get(keys.deal(deal_id), consistent=True, projection=_PICTURE) or {}
    return str(item.get("Picture", "")).startswith(picture.hash)


class _NoEditor(DealsError):
    """The account that an upload's form was made for is gone, or no editor any more."""


def record_picture(
    table: Table,
    deal_id: str,
    upload: str,
    sent_at: str,
    picture: Picture | None,
    refused: str,
    now: datetime,
    *,
    by: str | None = None,
    account_id: str | None = None,
) -> bool:
    """Give a deal the picture that was made of an upload, or the reason why none was; returns whether it has it now.

    A deal keeps the picture that it has where an upload is refused, and where a later one is known already. An upload
    is refused, too, if the account that its form was made for is no longer an editor's: a form lasts an hour.
    One GetItem, one transaction of an update and that condition. Raises NoSuchDeal.
    """
    still = [account_checks.edits(by, account_id, refused=_NoEditor())] if picture and by and account_id else []
    noted = f"{sent_at} {upload.removeprefix(UPLOADS)} {refused}".strip()

    def attempt() -> bool:
        old = ours(deals.get_item(table, deal_id))
        if str(old.get("Upload", "")) >= noted:
            return bool(picture) and old.get("Picture") == str(picture)
        new = old | {"Upload": noted}
        if picture:
            version = old["Version"] + 1
            new |= {"Picture": str(picture), "Version": version, "UpdatedAt": to_iso(now)}
            new |= {"EditedBy": f"{version} {by}"} if by else {}
        table.transact(change(old, new, version="Version", refused=Stale()), *still)
        return bool(picture)

    try:
        return table.retry(attempt, when=Stale, gave_up=Busy("Many are editing this deal at once; try again."))
    except _NoEditor:
        return record_picture(table, deal_id, upload, sent_at, None, NO_EDITOR, now)
