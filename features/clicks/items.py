"""The item types of clicks."""

from __future__ import annotations

from features.clicks.data.keys import CLICKS, COUNTED_CLICK, clicks, counted_click
from shared.data.entity import DEAL_ID, OF_DEAL, Entity, Exported, at

ENTITIES = {
    "Clicks": (
        Entity(
            CLICKS,
            at(clicks(DEAL_ID), "the clicks on a deal", "39"),
            needs="Clicks",
            partners=(OF_DEAL,),
            exported=Exported.WHOLE,
        ),
        Entity(
            COUNTED_CLICK,
            at(counted_click("", "", "", 0), because="it identifies a reader who clicked"),
            expires=True,
        ),
    )
}
