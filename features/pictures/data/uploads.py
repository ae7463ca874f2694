"""Turn editors' uploads into deal pictures, or refuse them with a reason.

Readers only get files made here from pixels, never bytes of an upload. A child process decodes (``decoder.py``), so
whatever a file does there only refuses the upload.
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

from features.pictures.fields import LastUpload
from features.pictures.models import MAX_UPLOAD, TOO_SLOW, UNREADABLE, UPLOADS, Picture, Refused
from shared.data import account_checks, keys
from shared.data.catalog import deals
from shared.data.catalog.deals import ours
from shared.data.catalog.feed_counts import Stale
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import change
from shared.errors import Busy, DealsError
from shared.models.catalog import Deal
from shared.values import identifiers
from shared.values.times import to_iso

if TYPE_CHECKING:
    from shared.services import Bucket, Form

UPLOADED_FOR = "deal"
"""The upload's metadata name for the deal's id."""

UPLOADED_BY = "editor"
"""The upload's metadata name for the sender's username."""

UPLOADER = "account"
"""The upload's metadata name for the sender's account. Forms sign it; a command has the bucket's keys and omits it."""

UPLOAD_SECONDS = 3600
"""How long an upload form is valid. The Lambda keys that sign it may expire sooner; then a new form helps."""

NO_EDITOR = "Its sender is no longer an editor."

DECODER = "features.pictures.decoder"

_GIVEN = ("PATH", "LD_LIBRARY_PATH")
"""The environment variables of a child, which Lambda's Python needs to start. None holds credentials."""

_PICTURE = Projection.of("Picture")


def upload_form(  # keyword names make the ids distinguishable
    bucket: Bucket, deal_id: str, by: str, account_id: str, now: datetime, entropy: bytes, **fields: str
) -> Form:
    """A form with which the editor ``by`` uploads a picture of a deal; ``fields`` are more fields of S3's form."""
    key = f"{UPLOADS}{identifiers.random(now, entropy)}"
    noted = {UPLOADED_FOR: deal_id, UPLOADED_BY: by, UPLOADER: account_id}
    metadata = {f"x-amz-meta-{name}": value for name, value in noted.items()}
    return bucket.form(key, MAX_UPLOAD, UPLOAD_SECONDS, {**metadata, **fields})


@dataclass(frozen=True, slots=True)
class Limits:
    """A child's limits: seconds of processor time, bytes of memory, and seconds until it is killed.

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
    """Make a picture from a file, whose content decides its format. Raises Refused.

    The hash includes the deal's id, so no two deals share files, and unused ones can be deleted.
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
    """A child's answer. Raises Refused if it is killed or breaks, CalledProcessError if it can't start."""
    try:
        child = subprocess.run(
            [
                sys.executable,
                "-W",
                "ignore",
                "-m",
                "features.pictures.decoder",
                f"{limits.processor}",
                f"{limits.memory}",
            ],
            input=content,
            stdout=subprocess.PIPE,
            timeout=limits.deadline,
            check=False,
            cwd=Path(__file__).parents[3],
            env={name: os.environ[name] for name in _GIVEN if name in os.environ},
        )
    except subprocess.TimeoutExpired as error:
        raise Refused(TOO_SLOW) from error
    if child.returncode < 0:  # killed by a signal
        raise Refused(TOO_SLOW if -child.returncode in (signal.SIGXCPU, signal.SIGKILL) else UNREADABLE)
    child.check_returncode()
    return child.stdout


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of an upload: ``refused`` is the reason, or empty for a picture."""

    upload: str
    refused: str


def outcome_of(deal: Deal) -> Outcome | None:
    """The outcome of a deal's last upload, or None."""
    noted = deal.own(LastUpload)
    return None if noted is None else Outcome(f"{UPLOADS}{noted.upload_id}", noted.refused)


def is_picture_shown(table: Table, deal_id: str, picture: Picture) -> bool:
    """Whether a deal has a picture now: the record of its replacement may be late. One GetItem."""
    item = table.get(keys.deal(deal_id), consistent=True, projection=_PICTURE) or {}
    return str(item.get("Picture", "")).startswith(picture.hash)


class _NoEditor(DealsError):
    """The upload form's account is gone, or isn't an editor any more."""


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
    """Give a deal its uploaded picture or the reason for refusing it; returns whether the deal has it now.

    The old picture stays if the upload is refused, or if a later one was recorded first. The upload is also refused if
    its form's account is no longer an editor: a form lasts an hour. One GetItem, one transaction of an update and that
    condition. Raises NoSuchDeal.
    """
    still = [account_checks.edits(by, account_id, refused=_NoEditor())] if picture and by and account_id else []
    noted = str(LastUpload(sent_at, upload.removeprefix(UPLOADS), refused))

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
        return table.retry(attempt, when=Stale, gave_up=Busy("Many editors are changing this deal. Try again."))
    except _NoEditor:
        return record_picture(table, deal_id, upload, sent_at, None, NO_EDITOR, now)
