"""Where MiniStack's gateway departs from API Gateway's when attacked, each as a test that fails when it changes."""

from __future__ import annotations

from datetime import UTC, datetime

from shared.data import keys
from shared.data.members import rate_limits
from tests.support.contract import assert_problem
from tests.support.site import Site, fresh

CLAIMED = "203.0.113.9"


def test_ministack_believes_x_forwarded_for(site: Site) -> None:
    """API Gateway's ``sourceIp`` is the address that the connection came from, whatever a header says."""
    login = {"username": fresh("far-away"), "password": "a guess"}

    window = int(datetime.now(UTC).timestamp()) // rate_limits.WINDOW_SECONDS

    assert_problem(site.visitor().post("/sessions", json=login, headers={"X-Forwarded-For": CLAIMED}), 401)

    # The next window may have begun meanwhile.
    (counted,) = site.table.get_many([keys.attempts("ADDRESS", CLAIMED, each) for each in (window, window + 1)])
    assert len(counted["Counted"]) == 1
