"""What the publisher does for pictures: it gives up the files of one that its deal no longer names."""

from __future__ import annotations

from shared.data.catalog import uploads
from shared.data.catalog.changes import DealChange
from shared.runtime.bucket import bucket
from shared.runtime.environment import logger, table


def follow(change: DealChange) -> None:
    """Have the picture removed that a deal no longer has, and keep the one that it has: no other deal has its files.

    A record may come late, when the deal has the old picture again: so the deal is read before its files are given up.
    """
    if change.before is None:
        return
    old, new = change.before.picture, change.after.picture if change.after else None
    if (old and old.hash) == (new and new.hash):
        return
    if old is not None and not uploads.is_picture_shown(table(), change.before.deal_id, old):
        for name in old.files:
            bucket().replaced(name)
        logger().info("picture replaced", picture=old.hash)
    if new is not None and change.before.upload:
        for name in new.files:
            bucket().kept(name)  # the deal may have had it before, and given it up while it was sent once more
