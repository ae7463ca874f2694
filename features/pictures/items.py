"""The item type of pictures that are to be fetched."""

from features.pictures.keys import FETCH, fetch
from shared.data.entity import DEAL_ID, SAYS_DEAL, Entity, at, named

ENTITIES = {
    "Pictures": (
        Entity(
            FETCH,
            at(fetch(named("Host"), named("DueAt"), DEAL_ID), "the pictures that are to be fetched, by host", "61"),
            needs="OrderedAt Attempts",
            says={"Host": "<Host>", "DueAt": "<DueAt>", **SAYS_DEAL},
        ),
    )
}
