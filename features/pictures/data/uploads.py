"""Editors' uploads: their forms, and the state of each, noted in its deal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from features.pictures.fields import LastUpload
from features.pictures.models import MAX_UPLOAD, UPLOADS, Picture
from shared.data import account_checks, keys
from shared.data.catalog import deals
from shared.data.catalog.deals import ours
from shared.data.catalog.feed_counts import Stale
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import Write, assign
from shared.errors import Busy, DealsError
from shared.models.catalog import Deal
from shared.values import identifiers
from shared.values.times import to_iso

if TYPE_CHECKING:
    from features.pictures.data.bucket import Bucket, Form

UPLOADED_FOR = "deal"
"""The upload's metadata name for the deal's id."""

UPLOADED_BY = "editor"
"""The upload's metadata name for the sender's username."""

UPLOADER = "account"
"""The upload's metadata name for the sender's account. Forms sign it; a command has the bucket's keys and omits it."""

UPLOAD_SECONDS = 3600
"""How long an upload form is valid. The Lambda keys that sign it may expire sooner; then a new form helps."""

NO_EDITOR = "Its sender is no longer an editor."

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
        has_it = bool(picture) and old.get("Picture") == str(picture)
        last = str(old.get("Upload", ""))
        # Two pictures that a deal named within a second are told apart by themselves.
        if last > noted or (last == noted and (has_it or not picture)):
            return has_it
        new = old | {"Upload": noted}
        if picture:
            version = old["Version"] + 1
            new |= {"Picture": str(picture), "Version": version, "UpdatedAt": to_iso(now)}
            new |= {"EditedBy": f"{version} {by}"} if by else {}
        table.transact(_recording(old, new), *still)
        return bool(picture)

    try:
        return table.retry(attempt, when=Stale, gave_up=Busy("Many editors are changing this deal. Try again."))
    except _NoEditor:
        return record_picture(table, deal_id, upload, sent_at, None, NO_EDITOR, now)


def _recording(old: Item, new: Item) -> Write:
    """The write of an upload's outcome, if deal and last upload are as read: a refused upload leaves the version."""
    left = {name: value for name, value in new.items() if value != old.get(name)}
    held = "Upload = :upload" if "Upload" in old else "attribute_not_exists(Upload)"
    values = {":version": old["Version"], **({":upload": old["Upload"]} if "Upload" in old else {})}
    condition = f"Version = :version AND {held}"
    return replace(assign(keys.primary(old), left, condition=condition, values=values, refused=Stale()), leaves=left)
