"""The modeller in the demo: the tab's engine answers as the rules say."""

from __future__ import annotations

import pytest

from features.modeller import engine, modeller, parsing
from features.modeller.evaluation import evaluated
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from shared.values import times
from tests.demo.test_site import corrected  # noqa: F401  # a fixture


@pytest.mark.parametrize("name", [name for name in modeller.starts() if name != "empty"])
def test_each_start_model_runs_in_the_tab_as_the_rules_say(corrected: Table, name: str) -> None:
    now = evaluated(parsing.read(modeller.starts()[name]).model)
    when = times.now()
    plan = engine.planned(now, "visitor-0001", "run", when)

    made = engine.run(corrected, plan, "visitor-0001", "run", when, Trace().attach(corrected))

    assert {each.pattern.name: [*each.differences] for each in made} == {each.pattern.name: [] for each in plan}
    assert [each.pattern.operation for each in made if not each.sent] == ["Scan"] * sum(bool(each.why) for each in plan)
