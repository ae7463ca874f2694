"""The item types of drafts."""

from __future__ import annotations

from features.drafts.keys import BEGINNING, DRAFT, beginning, draft
from shared.data.entity import DEAL_ID, SAYS_DEAL, SAYS_USER, Entity, Partner, at, named

_USERNAME = named("Username")

ENTITIES = {
    "Drafts": (
        Entity(
            DRAFT,
            at(draft(_USERNAME, DEAL_ID), because="a draft is its editor's alone until it is posted"),
            needs="AccountId",
            says=SAYS_USER,
            partners=(
                Partner(
                    beginning(named("StartsAt"), DEAL_ID),
                    {"Type": BEGINNING, **SAYS_DEAL, **SAYS_USER},
                ),
            ),
            owned=True,
            remover=True,
        ),
        Entity(
            BEGINNING,
            at(beginning(named("Time"), DEAL_ID), because="a scheduled deal is private until it is posted"),
            needs="Username",
            says=SAYS_DEAL,
        ),
    )
}
