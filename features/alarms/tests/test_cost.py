"""What alarms cost, and what is spent before the one on requests rings."""

from __future__ import annotations

import re

import pytest

from benchmarks.cost import ANYONE, by_the_month
from features.alarms.rights import USUAL
from infra.settings import STAGES
from local.settings import ROOT
from shared import features, hooks
from shared.values.prices import MILLION
from tests.test_cost import SUMS

MOST = USUAL.too_many_requests.threshold
AN_HOUR = MOST * max(SUMS[name] for name in ANYONE) / MILLION
"""The dollars of that many requests, if each is the dearest that anyone may send."""


@pytest.mark.thorough
def test_watching_the_essential_costs_less_than_two_dollars() -> None:
    watching = {"metrics of alarms", "dashboards", "custom metrics"}
    rows = {name: (number, dollars) for name, number, dollars in by_the_month(STAGES["prod"], 0)}

    assert 8 <= rows["metrics of alarms"][0] <= 12
    assert sum(rows[name][1] for name in watching) < 2


def test_the_alarm_of_an_hour_rings_before_a_dollar_is_spent() -> None:
    text = (ROOT / "features" / "alarms" / "README.md").read_text(encoding="utf-8")
    (said,) = re.findall(r"more than ([\d,]+) requests, which cost \$([\d.]+) if", text)

    assert AN_HOUR < 1
    assert said == (f"{MOST:,}", f"{AN_HOUR:.2f}")
    # Half of what the throttle lets through rings, too.
    assert STAGES["prod"].throttle_rate * 3600 / 2 > MOST


def test_no_feature_lets_a_member_spend_more_in_a_day_than_that() -> None:
    of_features = features.merged(hooks.Benchmarks, lambda each: each.limited())

    assert {
        name: each for name, each in of_features.items() if each.dollars * each.an_hour * 24 / MILLION > AN_HOUR
    } == {}
