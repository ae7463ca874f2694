"""From the stream: stock levels, and the list of deals sold here."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

from features.shop.data import keys as shop_keys
from features.shop.data import sold_here, stock
from features.shop.fields import level_of
from shared import hooks
from shared.data.catalog.changes import DealChange
from shared.dynamodb import damage
from shared.dynamodb.damage import Failures
from shared.runtime.environment import table


@dataclass(frozen=True, slots=True)
class Offered(hooks.Follower):
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


Follower = Offered
