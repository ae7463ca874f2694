"""The outcome of files that editors send for a deal: its picture, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from shared.data import account_checks, keys
from shared.data.catalog import deals
from shared.data.catalog.deals import ours
from shared.data.catalog.feed_counts import Stale
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import change
from shared.errors import Busy, DealsError
from shared.models.catalog import Deal
from shared.values.pictures import UPLOADS, Picture
from shared.values.times import to_iso

UPLOADED_FOR = "deal"
"""The name under which an upload's sender notes the deal that it is for."""

UPLOADED_BY = "editor"
"""The same, of who sends it."""

UPLOADER = "account"
"""The same, of the sender's account. Forms sign it; a command, which has the bucket's keys, notes none."""

_PICTURE = Projection.of("Picture")

NO_EDITOR = "Its sender is no longer an editor."


class _NoEditor(DealsError):
    """The account that an upload's form was made for is gone, or no editor any more."""


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
