"""What actions find in the table that they begin with: deals, members, times."""

from __future__ import annotations

from datetime import timedelta

from shared.models.members import Limits
from tests.support.factories import NOW, a_deal, ago, ahead

LATER = ahead(minutes=1)
"""The time of all actions. What they begin with was written at ``NOW``."""

LATEST = LATER + timedelta(minutes=1)

FIRST = a_deal(ago(hours=2), entropy=b"1" * 16)
SECOND = a_deal(ago(hours=1), entropy=b"2" * 16, title="Winter boot", link="https://shop.example/boot")
BROKEN = a_deal(ago(hours=5), entropy=b"5" * 16, title="Mule", link="https://shop.example/mule")
IMPORTED = a_deal(ago(hours=4), source_id="shop:1", title="Clog", link="https://shop.example/clog")

NEW = a_deal(NOW, entropy=b"3" * 16, title="Summer boot", link="https://shop.example/boot", price="40.00").signed("ed")
ENDED = a_deal(ago(hours=3), entropy=b"4" * 16, title="Sandal", link="https://shop.example/sandal", ends_at=LATER)
"""Deals that the stream and the clock have yet to follow, in actions that begin while work is pending."""

PASSWORD = "a password of Ana's"
ADDRESS = "203.0.113.7"
CHEAP = Limits(ceiling="20.00", currency="USD")
