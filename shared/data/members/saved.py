"""Deals that a member keeps for later: one item each, in a partition of the member's own.

Only the deal's id is kept. The deals are read with it, so the list shows them as they are now, and a deal that has
ended stays on it as ended.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

from shared.data import account_checks, item_types, keys
from shared.data.catalog import deals
from shared.dynamodb import cursors
from shared.dynamodb.table import KEYS_ONLY, Table
from shared.dynamodb.writes import forget, put_new
from shared.errors import AlreadyExists
from shared.models.catalog import Deal, Page
from shared.values.times import to_iso


def save(table: Table, deal: Deal, username: str, now: datetime, account_id: str | None = None) -> None:
    """Keep a deal for a member; repeating it changes nothing. Raises NotSignedIn, NoSuchUser."""
    item = {
        **keys.saved(username, deal.deal_id),
        "Type": item_types.SAVED,
        "Username": username,
        "DealId": deal.deal_id,
        "SavedAt": to_iso(now),
    }
    with suppress(AlreadyExists):
        table.transact(put_new(item, refused=AlreadyExists()), account_checks.required(username, account_id))


def unsave(table: Table, deal_id: str, username: str, account_id: str | None = None) -> None:
    """Stop keeping a deal, whether or not it was kept. Raises NotSignedIn, NoSuchUser."""
    table.transact(
        account_checks.required(username, account_id),
        forget(keys.saved(username, deal_id), because="a deal that is not saved is the result asked for"),
    )


def is_saved(table: Table, deal_id: str, username: str) -> bool:
    """Whether a member keeps a deal. One GetItem."""
    return table.get(keys.saved(username, deal_id), projection=KEYS_ONLY) is not None


def latest(table: Table, username: str, *, limit: int, cursor: str | None = None) -> Page[Deal]:
    """A page of a member's saved deals, the newest deals first. One Query, one BatchGetItem. Raises InvalidCursor."""
    scope = f"saved/{username}"
    after = keys.deal_sort_key(cursors.decode(scope, cursor)) if cursor is not None else None
    partition = keys.saved_by(username)
    items = list(table.query(partition, after=after, newest_first=True, limit=limit + 1, projection=KEYS_ONLY))
    ids = [keys.id_in(item["SK"]) for item in items[:limit]]
    return Page(tuple(deals.get_many(table, ids)), cursors.encode(scope, ids[-1]) if len(items) > limit else None)
