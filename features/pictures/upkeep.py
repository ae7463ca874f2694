"""The publisher's part: order the pictures that deals name elsewhere, and delete the files that no deal names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from features.pictures import hosts
from features.pictures.data import fetches, uploads
from features.pictures.environment import bucket
from features.pictures.fields import LastUpload
from features.pictures.models import Picture
from shared.runtime.environment import logger, table

if TYPE_CHECKING:
    from shared.data.catalog.changes import DealChange


def follow(change: DealChange) -> None:
    """Order the picture that a deal names elsewhere, and delete a replaced one."""
    _order(change)
    _tidy(change)


def _order(change: DealChange) -> None:
    """Schedule the fetch of a picture that a deal names since this change, if the stage fetches from its host."""
    before, deal = change.before, change.after
    if deal is None or not deal.image or (before is not None and before.image == deal.image):
        return
    host = hosts.allowed(deal.image, hosts.of_stage())
    if host is not None and fetches.is_wanted(deal, change.at):
        fetches.order(table(), host, deal.deal_id, change.at)
        logger().info("picture ordered", host=host)


def _tidy(change: DealChange) -> None:
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
            bucket().replaced(name)
        logger().info("picture replaced", picture=old.hash)
    if new is not None and change.before.own(LastUpload) is not None:
        for name in new.files:
            bucket().kept(name)  # it may have been deleted before, while the same picture was uploaded again
