"""What functions may do with private feeds."""

from __future__ import annotations

from features.private_feeds.data.keys import FEED_KEY
from infra.rights import ACCOUNT_OF_SESSION, Access, Right
from shared.data import partitions as p

_KEYS, _FEEDS = p.FORMS[FEED_KEY, None]

_MAKES: Access = (
    Right("ConditionCheckItem", (p.USER,), attributes=ACCOUNT_OF_SESSION),
    Right("PutItem", (_FEEDS, _KEYS)),
    Right("DeleteItem", (_FEEDS, _KEYS)),
)

MORE = {
    "members": (*_MAKES, Right("GetItem", (_FEEDS,)), Right("GetItem", (p.USER,), attributes=ACCOUNT_OF_SESSION)),
    "mine": (*_MAKES, Right("GetItem", (_FEEDS, _KEYS))),
    **dict.fromkeys(
        ("accounts", "account", "remover"), (Right("GetItem", (_FEEDS,)), Right("DeleteItem", (_FEEDS, _KEYS)))
    ),
}

ROUTES = (("members", "signed in", "GET,POST,DELETE /me/feed"),)


WORST = {f"{FEED_KEY}.Type": "open anyone's private feed"}
"""What someone who may write these could do at worst."""
