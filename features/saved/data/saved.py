"""Deals that members save.

Only the deal's id is stored: the list shows each deal as it is now, and an ended one as ended.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

from features.saved.data import keys
from shared.data import account_checks
from shared.data.catalog import deals
from shared.data.keys import deal_sort_key, id_in
from shared.dynamodb.table import KEYS_ONLY, Table
from shared.dynamodb.writes import forget, put_new
from shared.errors import AlreadyExists
from shared.models.catalog import Deal, Page
from shared.values import identifiers
from shared.values.times import to_iso


def save(table: Table, deal: Deal, username: str, now: datetime, account_id: str | None = None) -> None:
    """Save a deal for a member; repeating it changes nothing. Raises NotSignedIn, NoSuchUser."""
    item = {
        **keys.saved(username, deal.deal_id),
        "Type": keys.SAVED,
        "Username": username,
        "DealId": deal.deal_id,
        "SavedAt": to_iso(now),
    }
    with suppress(AlreadyExists):
        table.transact(put_new(item, refused=AlreadyExists()), account_checks.required(username, account_id))


def unsave(table: Table, deal_id: str, username: str, account_id: str | None = None) -> None:
    """Remove a deal from a member's saved ones; it may be absent. Raises NotSignedIn, NoSuchUser."""
    table.transact(
        account_checks.required(username, account_id),
        forget(keys.saved(username, deal_id), because="a deal that is not saved is the result asked for"),
    )


def is_saved(table: Table, deal_id: str, username: str) -> bool:
    """Whether a member has saved a deal. One GetItem."""
    return table.get(keys.saved(username, deal_id), projection=KEYS_ONLY) is not None


def latest(table: Table, username: str, *, limit: int, cursor: str | None = None) -> Page[Deal]:
    """A page of a member's saved deals, newest deals first. One Query, one BatchGetItem. Raises InvalidCursor."""
    scope = f"saved/{username}"
    after = deal_sort_key(identifiers.read_cursor(scope, cursor)) if cursor is not None else None
    partition = keys.saved_by(username)
    items = list(table.query(partition, after=after, newest_first=True, limit=limit + 1, projection=KEYS_ONLY))
    ids = [id_in(item["SK"]) for item in items]
    return Page(tuple(deals.get_many(table, ids[:limit])), identifiers.next_cursor(scope, ids, limit))
