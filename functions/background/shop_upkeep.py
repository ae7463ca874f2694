"""The shop's part of the refresher and the clock: the levels of stock that deals show, the list of what is sold here,
and how long the oldest open order waits."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

from shared.data.catalog.changes import DealChange
from shared.data.orders import keys as shop_keys
from shared.data.orders import order_items, sold_here, stock
from shared.dynamodb import damage
from shared.dynamodb.damage import Failures
from shared.models.stock_levels import level_of
from shared.runtime import shop_metrics
from shared.runtime.environment import table
from shared.runtime.metrics import report
from shared.values import times


@dataclass(frozen=True, slots=True)
class Offered:
    """The deals in some records of the stream that can be bought here since, or no longer; and those whose stock
    changed, which say by now how much of it is left (``stocked``)."""

    stocked: set[str] = field(default_factory=set)
    offered: set[str] = field(default_factory=set)

    def takes(self, raw: dict[str, Any]) -> bool:
        """Do what a record of stock asks for; returns whether it is one."""
        if raw["dynamodb"].get("NewImage", {}).get("Type") != {"S": shop_keys.STOCK}:
            return False
        deal_id = shop_keys.deal_of_stock(raw["dynamodb"]["Keys"]["PK"]["S"])
        if deal_id not in self.stocked:
            stock.show_level(table(), deal_id)  # writes the deal if its level changed: the stream brings that
            self.stocked.add(deal_id)
        return True

    def add(self, change: DealChange, *, over: bool) -> None:
        """Gather a deal's change."""
        levels = [deal and level_of(deal) for deal in (change.before, change.after)]
        if any(levels) and (over or levels[0] != levels[1]):
            self.offered.update(deal.deal_id for deal in change.deals)

    def settle(self, failures: Failures) -> None:
        """File the notes of the gathered stock."""
        list(damage.each(sorted(self.offered), partial(sold_here.file, table()), failures=failures))


def measure(_failures: Failures) -> None:
    """Report the age of the oldest open order."""
    now = times.now()
    waiting_since = order_items.waiting_since(table(), now)
    if waiting_since is not None:
        report(shop_metrics.OLDEST_OPEN_ORDER, (now - waiting_since).total_seconds())
