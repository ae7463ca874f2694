"""Values that must differ between execution environments that SnapStart starts from one snapshot."""

from __future__ import annotations

import random

from shared.dynamodb.client import connect
from tests.support.engines import FAKE_CREDENTIALS


def test_waits_differ_between_environments_that_start_from_one_snapshot() -> None:
    snapshot = random.getstate()
    first = [connect("deals", **FAKE_CREDENTIALS).jitter() for _ in range(10)]
    random.setstate(snapshot)

    assert [connect("deals", **FAKE_CREDENTIALS).jitter() for _ in range(10)] != first
    assert all(0 <= part < 1 for part in first)
