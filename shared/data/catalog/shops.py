"""The usual category of a shop's deals.

A shop's item, under its addresses' host, has the category that was chosen last. The stream writes it after a deal, so
posting takes no longer. It is only a suggestion: of two simultaneous posts, either may win.
"""

from __future__ import annotations

from shared.data import keys
from shared.data.catalog.changes import DealChange
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put
from shared.models.catalog import CATEGORIES
from shared.values import links


def category_of(table: Table, host: str) -> str | None:
    """The category of the last deal that an editor posted from a shop, or None. One GetItem."""
    item = table.get(keys.shop(host)) or {}
    found = item.get("Category")
    return found if found in CATEGORIES else None


def remember_category(table: Table, change: DealChange) -> None:
    """Store the category that an editor chose for a shop's deal. One PutItem, or nothing.

    Deals without an editor, such as imported ones, don't count.
    """
    before, deal = change.before, change.after
    if deal is None or deal.editor is None or (before is not None and before.category == deal.category):
        return
    if host := links.host(deal.link):
        item = {**keys.shop(host), "Type": keys.SHOP, "Host": host, "Category": deal.category}
        table.write(put(item, because="the last writer wins: a category is only a suggestion"))
