"""The item types of private feeds."""

from __future__ import annotations

from features.private_feeds.data.keys import FEED_KEY, feed, feed_key
from shared.data.entity import Entity, Partner, at, named

_USERNAME = named("Username")

ENTITIES = {
    "Private feeds": (
        Entity(
            FEED_KEY,
            at(feed_key(named("TokenHash")), because="its key is the hash of a private feed's key"),
            needs="Username AccountId CreatedAt",
            partners=(
                Partner(
                    feed(_USERNAME),
                    {"Type": FEED_KEY, "TokenHash": "<TokenHash>"},
                    {"CreatedAt": "CreatedAt", "Generation": "Generation"},
                ),
            ),
            owned=True,
            remover=True,
        ),
        Entity(
            FEED_KEY,
            at(feed(_USERNAME), because="it holds the hash of a private feed's key"),
            needs="TokenHash CreatedAt",
            claimed=True,
        ),
    )
}
