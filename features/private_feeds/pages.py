"""A member's messages as a feed, and the part of the page of watches that makes and revokes its address."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from features.private_feeds.data import feed_keys
from features.private_feeds.data.feed_keys import FeedKey
from shared.data.members import messages
from shared.dynamodb.table import Table
from shared.html import cookies, pages, views
from shared.html.inbox import more_of, place_of, why
from shared.html.links import absolute
from shared.html.pages import Answer, Request, Routes
from shared.html.views import render, xml_text
from shared.models.messages import Message
from shared.runtime.environment import table
from shared.values import identifiers
from shared.values.times import to_iso

SHOWN = 50
"""Messages in a private feed."""

PLACE = "/my/watches"
"""The page that shows the state of the feed."""

routes = Routes()


def watches(table: Table, username: str) -> FeedKey | None:
    """The member's key, for the page of watches."""
    return feed_keys.of(table, username)


def on_watches(key: FeedKey | None, now: datetime) -> dict[str, Any]:
    """What that page shows of it."""
    return {"feed_made": views.day(key.made_at, now) if key else None, "feed_ended": key is not None and key.ended}


@routes.post("/my/feed", form_page=PLACE)
def make_feed(request: Request) -> Answer:
    """Make a private feed, or give it another address; only this page shows the address."""
    member = cookies.sender_of(request, PLACE)
    entropy = secrets.token_bytes(identifiers.BYTES)
    key = feed_keys.make(
        table(), member.username, member.account_id, request.now, entropy, generation=member.generation
    )
    _, head = cookies.beside_head(request)
    return pages.page(
        "private_feeds/templates/feed.html", here=PLACE, address=absolute("/my/messages.atom", key=key), **head
    )


@routes.post("/my/feed/revoke", form_page=PLACE)
def revoke_feed(request: Request) -> Answer:
    member = cookies.sender_of(request, PLACE)
    feed_keys.revoke(table(), member.username, member.account_id)
    return pages.redirect(PLACE, notice="feed-revoked")


@routes.get("/my/messages.atom")
def messages_feed(request: Request) -> Answer:
    """The newest messages of a key's owner, for a feed reader, which has no session and sends no cookie.

    The key is in the query, which no log contains: neither the gateways', the functions' nor a CDN's.
    """
    whose = feed_keys.reader(table(), request.query.get("key", ""))
    found = messages.latest(table(), whose.username, limit=SHOWN, now=request.now).items
    entries = [_entry(alike) for alike in messages.together(found)]
    updated = max((each["at"] for each in entries), default=to_iso(identifiers.EPOCH))
    home = absolute("/my/inbox")
    text = render("private_feeds/templates/messages.xml", home=home, updated=updated, entries=entries)
    return Answer(text, media_type="application/atom+xml; charset=utf-8")


def _entry(alike: Sequence[Message]) -> dict[str, str]:
    """The entry of messages that the inbox shows as one. Its id is the first one's that came, so it stays one entry."""
    newest, first = alike[0], alike[-1]
    return {
        "id": f"urn:ksuid:{first.message_id}",
        "title": xml_text(" · ".join(filter(None, (newest.subject, more_of(alike))))),
        "link": absolute(place_of(newest)),
        "published": to_iso(first.shown_at or first.created_at),
        "at": to_iso(newest.shown_at or newest.created_at),
        "why": xml_text(why(newest)),
    }
