"""The publisher's part: delete the files of pictures that their deals no longer name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from features.pictures.data import uploads
from features.pictures.fields import LastUpload
from features.pictures.models import BUCKET, Picture
from shared.runtime.environment import bucket, logger, table

if TYPE_CHECKING:
    from shared.data.catalog.changes import DealChange


def follow(change: DealChange) -> None:
    """Delete a deal's replaced picture, and keep the present one's files; deals share no files.

    A record may come late, when the deal has the old picture again, so the deal is read first.
    """
    if change.before is None:
        return
    old, new = change.before.own(Picture), change.after.own(Picture) if change.after else None
    if (old and old.hash) == (new and new.hash):
        return
    if old is not None and not uploads.is_picture_shown(table(), change.before.deal_id, old):
        for name in old.files:
            bucket(BUCKET).replaced(name)
        logger().info("picture replaced", picture=old.hash)
    if new is not None and change.before.own(LastUpload) is not None:
        for name in new.files:
            bucket(BUCKET).kept(name)  # it may have been deleted before, while the same picture was uploaded again
