"""The keys of private feeds."""

from __future__ import annotations

from shared.data.keys import Item

FEED_KEY = "FeedKey"

feed_key = Item[str]("FEEDKEY#{key_hash}")
feed = Item[str]("FEED#{username}")
