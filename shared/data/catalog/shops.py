"""The habits of a shop's deals, under the host of its addresses: the category that was chosen last.

The stream writes it after a deal, so posting one takes no longer. It is a proposal, and no more: of two deals that are
posted at once, either may be the last.
"""

from __future__ import annotations

from shared.data import item_types, keys
from shared.data.catalog.changes import DealChange
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put
from shared.models.catalog import CATEGORIES
from shared.values import links


def category(table: Table, host: str) -> str | None:
    """The category of the deal that an editor posted last from a shop, or None. One GetItem."""
    item = table.get(keys.shop(host)) or {}
    found = item.get("Category")
    return found if found in CATEGORIES else None


def remember(table: Table, change: DealChange) -> None:
    """Remember the category that an editor has chosen for a deal of a shop. One PutItem, or nothing.

    A deal that no editor signed, as those of an import, says nothing of what editors choose.
    """
    before, deal = change.before, change.after
    if deal is None or deal.editor is None or (before is not None and before.category == deal.category):
        return
    if host := links.host(deal.link):
        item = {**keys.shop(host), "Type": item_types.SHOP, "Host": host, "Category": deal.category}
        table.write(put(item, because="the last category stands, and it is only proposed"))
