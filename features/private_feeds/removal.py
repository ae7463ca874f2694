"""The removal of a member's feed, whose two items point to each other."""

from __future__ import annotations

from features.private_feeds.data.feed_keys import remove_some
from features.private_feeds.data.keys import FEED_KEY

REMOVERS = {FEED_KEY: remove_some}
