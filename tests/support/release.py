"""A release's part where two share one table: ``python -m tests.support.release ENDPOINT TABLE write read change``.

Each release brings its own, so that each calls its data layer by its own names. A ``read`` is what users see, by the
name of where they see it; of what both see, two releases must see the same.
"""

from __future__ import annotations

import base64
import json
import sys
from collections import ChainMap
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from shared.data.catalog import deals, feed_counts, feeds, offers, picks, search, topics, words
from shared.data.members import accounts, follows, messages, sessions, users
from shared.dynamodb.client import connect
from shared.dynamodb.table import Table
from shared.errors import NotSignedIn
from shared.models.catalog import ALL_DEALS, FRONT_PAGE
from tests.support.cases import cases
from tests.support.factories import APPLE, FEEDS, LAUNCH, NOW, SHOES, a_deal, ago, ahead, ids, open_brands, post

ENTROPY = bytes(32)
TOKEN = base64.urlsafe_b64encode(ENTROPY).decode().rstrip("=")
PASSWORD = "correct horse battery"
NETWORK = "192.0.2.1"


def write(table: Table) -> None:
    """Some of everything: deals, a member, what she likes and watches, messages."""
    topics.plant_seeds(table, LAUNCH)
    open_brands(table)
    posted = post(table, [a_deal(ago(days=day), ends_at=ahead(days=day + 1)) for day in range(6)])
    for deal in posted:
        search.file(table, None, deal)
        offers.file(table, None, deal)
    picks.set_featured(table, FRONT_PAGE, [posted[2].deal_id], NOW)
    picks.set_category_featured(table, SHOES.slug, ids(posted[:5]), NOW)
    names = {"username": "ana", "email": "ana@mail.example", "name": "Ana"}
    user = accounts.sign_up(table, **names, password=PASSWORD, address=NETWORK, now=NOW)
    sessions.start(table, user, NOW, ENTROPY)
    for topic in (APPLE, SHOES):
        follows.like(table, topic, "ana", NOW)
        follows.watch(table, topic, "ana", NOW)
    messages.insert(table, [messages.compose(messages.of_deal(deal, "brand"), "ana") for deal in posted[:2]])


def change(table: Table) -> None:
    """Edit, end, take back, and send what is there, whichever release wrote it."""
    first, second, third, *_ = feeds.read(table, ALL_DEALS, limit=25, now=NOW).items
    deals.edit(table, first.deal_id, {"title": "Another name"}, NOW)
    deals.withdraw(table, second.deal_id, NOW)
    deals.make_hot(table, third.deal_id, NOW)
    picks.refresh(table, FRONT_PAGE, NOW)
    feeds.sweep(table, NOW + timedelta(days=4))
    follows.unlike(table, APPLE, "ana")
    follows.unwatch(table, SHOES, "ana")
    message = messages.latest(table, "ana", limit=9, unread=True, now=NOW).items[0]
    messages.mark_read(table, "ana", message.message_id, NOW)
    ana = accounts.prove(table, users.get(table, "ana"), PASSWORD, NETWORK, NOW)
    accounts.change_password(table, ana, f"another {PASSWORD}")


def read(table: Table) -> dict[str, Any]:
    """The view that users have of a table that ``write`` filled."""
    found = feeds.read(table, ALL_DEALS, limit=25, now=NOW).items
    return {
        "deals": [[deal.deal_id, deal.title, deal.price, deal.status(NOW), str(deal.hot_at)] for deal in found],
        "feeds": [ids(feeds.read(table, feed, limit=25, now=NOW).items) for feed in FEEDS],
        "counts": [feed_counts.counts(table, feed) for feed in FEEDS],
        "front page": ids(picks.read(table, FRONT_PAGE, NOW)),
        "category's picks": ids(picks.read(table, SHOES, NOW)),
        "search": search.find(table, words.asked("trail runner"), limit=25).deal_ids,
        "offers": ids(offers.offers(table, a_deal().link)),
        "topics": [[each.name, each.likes, each.watchers] for each in topics.get_many(table, [APPLE, SHOES])],
        "likes": [topic.slug for topic in follows.likes(table, "ana")],
        "watches": [topic.slug for topic in follows.watches(table, "ana")],
        "unread": messages.unread_count(table, "ana", NOW),
        "messages": [[each.message_id, each.unread] for each in messages.latest(table, "ana", limit=9, now=NOW).items],
        "signed in": _signed_in(table),
    }


def _signed_in(table: Table) -> bool:
    try:
        return sessions.authenticate(table, TOKEN, NOW).username == "ana"
    except NotSignedIn:
        return False


DOES: dict[str, list[Callable[[Table], Any]]] = {
    "write": [write, *cases("RELEASE_WRITES")],
    "change": [change, *cases("RELEASE_CHANGES")],
    "read": [read, *cases("RELEASE_READS")],
}
"""The functions of each step."""

if __name__ == "__main__":
    endpoint, name, *steps_asked = sys.argv[1:]
    credentials = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
    asked = connect(name, endpoint_url=endpoint, region_name="us-east-1", **credentials)
    answers = [[do(asked) or {} for do in DOES[step]] for step in steps_asked]
    print(json.dumps([dict(ChainMap(*parts)) for parts in answers]))
