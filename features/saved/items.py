"""The item type of saved deals."""

from __future__ import annotations

from features.saved.data.keys import SAVED, saved
from shared.data.entity import DEAL_ID, OF_DEAL, SAYS_DEAL, SAYS_USER, Entity, at, named

ENTITIES = {
    "Saved deals": (
        Entity(
            SAVED,
            at(saved(named("Username"), DEAL_ID), "a user's saved deals", "38"),
            needs="SavedAt",
            says={**SAYS_USER, **SAYS_DEAL},
            partners=(OF_DEAL,),
            owned=True,
        ),
    )
}
