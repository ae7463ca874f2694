"""The actions of private feeds, for ``tests/interleave``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from features.private_feeds.data import feed_keys
from tests.interleave.beginning import LATER
from tests.support.factories import NOW, account_of

if TYPE_CHECKING:
    from tests.interleave.processes import Process


def prepare(at: Process) -> None:
    """Two members have a feed."""
    for name in ("ana", "eve"):
        feed_keys.make(at.table, name, account_of(name), NOW, name.encode().ljust(32, b"-"))


WRITES = {
    "make feed": lambda at: feed_keys.make(at.table, "ana", account_of("ana"), LATER, at.entropy(32)),
    "make first feed": lambda at: feed_keys.make(at.table, "bo", account_of("bo"), LATER, at.entropy(32)),
    "revoke feed": lambda at: feed_keys.revoke(at.table, "ana", account_of("ana")),
}
BEFORE_WRITES = (prepare,)
REFUSED_WRITES = ("FeedChanged",)
