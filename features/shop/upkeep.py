"""The shop's part of the refresher and the clock: stock levels, the list of deals sold here, and the oldest open
order."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

from features.shop import metrics as shop_metrics
from features.shop.data import keys as shop_keys
from features.shop.data import order_items, sold_here, stock
from features.shop.fields import level_of
from shared.data.catalog.changes import DealChange
from shared.dynamodb import damage
from shared.dynamodb.damage import Failures
from shared.runtime.environment import table
from shared.runtime.metrics import report
from shared.values import times


@dataclass(frozen=True, slots=True)
class Offered:
    """Deals in stream records that became or ceased to be sold here, and deals whose stock changed (``stocked``)."""

    stocked: set[str] = field(default_factory=set)
    offered: set[str] = field(default_factory=set)

    def takes(self, raw: dict[str, Any]) -> bool:
        """Handle a record of stock; returns whether it is one."""
        if raw["dynamodb"].get("NewImage", {}).get("Type") != {"S": shop_keys.STOCK}:
            return False
        deal_id = shop_keys.deal_of_stock(raw["dynamodb"]["Keys"]["PK"]["S"])
        if deal_id not in self.stocked:
            stock.show_level(table(), deal_id)  # if the level changed, this writes the deal, whose own record follows
            self.stocked.add(deal_id)
        return True

    def add(self, change: DealChange, *, over: bool) -> None:
        """Collect a deal's change."""
        levels = [deal and level_of(deal) for deal in (change.before, change.after)]
        if any(levels) and (over or levels[0] != levels[1]):
            self.offered.update(deal.deal_id for deal in change.deals)

    def settle(self, failures: Failures) -> None:
        """File the collected deals' stock notes."""
        list(damage.each(sorted(self.offered), partial(sold_here.file, table()), failures=failures))


def measure(_failures: Failures) -> None:
    """Report the age of the oldest open order."""
    now = times.now()
    waiting_since = order_items.waiting_since(table(), now)
    if waiting_since is not None:
        report(shop_metrics.OLDEST_OPEN_ORDER, (now - waiting_since).total_seconds())
