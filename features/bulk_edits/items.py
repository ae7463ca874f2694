"""The item types of bulk edits."""

from __future__ import annotations

from features.bulk_edits.keys import BULK_EDIT, UNFINISHED, bulk_edit, unfinished
from shared.data.entity import SAYS_USER, Entity, at, named

_EDIT_ID = named("EditId")

ENTITIES = {
    "Bulk edits": (
        Entity(
            BULK_EDIT,
            at(bulk_edit(named("Username"), _EDIT_ID), because="it shows what an editor did, to undo it"),
            needs="AccountId EditId StartedAt Does State Deals Outcomes Restored",
            may="Changes Page FinishedAt",
            says=SAYS_USER,
            owned=True,
            remover=True,
            expires=True,
        ),
        Entity(
            UNFINISHED,
            at(unfinished(_EDIT_ID), because="it names an editor"),
            needs="EditId Username",
            expires=True,
        ),
    )
}
