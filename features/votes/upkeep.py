"""From the stream: file the scores of deals that were voted on, and of those that begin or cease to be active.

A batch has a second's records, so a deal with many votes is ranked once a second, unless a shard has 500 such records
in less time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from features.votes.data import votes
from features.votes.data.keys import SCORE
from shared import hooks
from shared.data.catalog.changes import DealChange
from shared.data.keys import id_in
from shared.dynamodb.damage import Failures
from shared.runtime.environment import table


@dataclass(frozen=True, slots=True)
class Ranked(hooks.Follower):
    """Deals of a batch whose scores may need another place in the index."""

    deals: set[str] = field(default_factory=set)

    def takes(self, raw: dict[str, Any]) -> bool:
        """Collect a score's record; returns whether it is one."""
        if raw["dynamodb"].get("NewImage", {}).get("Type") != {"S": SCORE}:
            return False
        self.deals.add(id_in(raw["dynamodb"]["Keys"]["PK"]["S"]))
        return True

    def add(self, change: DealChange, *, over: bool) -> None:
        """Collect a deal that began or ceased to be active."""
        if change.before is not None and (change.after is None or over):
            self.deals.add(change.before.deal_id)

    def settle(self, failures: Failures) -> None:
        """File the collected deals' scores."""
        votes.file_scores(table(), self.deals, datetime.now(UTC), failures=failures)


Follower = Ranked
