"""The item type of checkpoints."""

from __future__ import annotations

from features.upkeep.keys import BACKFILL, backfill
from shared.data.entity import Entity, at, named

ENTITIES = {
    "Checkpoints": (
        Entity(
            BACKFILL,
            at(backfill(named("Of"), named("Segments"), named("Segment")), "progress of a backfill"),
            needs="Start",
            may="Release BeganAt",
        ),
    )
}
