"""The keys of clicks."""

from __future__ import annotations

import hmac

from shared.data.keys import Item
from shared.dynamodb.schema import Key

CLICKS = "Clicks"
COUNTED_CLICK = "CountedClick"

clicks = Item[str]("CLICKS#{deal_id}")
"""How often readers have followed a deal to its shop."""

_counted_click = Item[str]("COUNTEDCLICK#{digest}")


def counted_click(salt: str, network: str, deal_id: str, hour: int) -> Key:
    """The note that a network's click on a deal is counted for an hour, under a salted hash of the three."""
    return _counted_click(hmac.digest(salt.encode(), f"{network} {deal_id} {hour}".encode(), "sha256").hex()[:32])
