"""The keys and item types of drafts."""

from __future__ import annotations

from datetime import datetime

from shared.data.entity import DEAL_ID, SAYS_DEAL, SAYS_USER, Entity, Partner, at, named
from shared.data.keys import Item, Text

DRAFT = "Draft"
BEGINNING = "Beginning"
"""The note of when a draft is to be posted."""

draft = Item[str, str](PK="DRAFTS#{username}", SK="DEAL#{draft_id}")
drafts = Text[str]("DRAFTS#{username}")
beginning = Item[datetime, str](PK="BEGINNINGS", SK="{starts_at}#{draft_id}")
"""The note that a draft is to be posted at a time; the id ``~`` makes the upper bound of a query."""

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
