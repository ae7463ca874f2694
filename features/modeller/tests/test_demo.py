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
    parts: list[engine.Prepared | engine.Written] = [*engine.prepared(now, runs=True), *engine.written(now)]

    made = engine.run(corrected, parts, "visitor-0001", "run", times.now(), Trace().attach(corrected))

    assert {each.pattern.name: each.differences for each in made} == {part.pattern.name: [] for part in parts}
