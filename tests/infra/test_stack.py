"""The stack as a whole."""

from __future__ import annotations

import re

from tests.infra.conftest import Synthesized, synthesize


def test_the_clock_wakes_the_expiry_each_minute(dev: Synthesized) -> None:
    rules = [each["Properties"] for each in dev.resources("AWS::Events::Rule").values()]
    expiry = next(name for name, each in dev.template["Resources"].items() if each == dev.function("expiry"))

    assert any(
        rule["ScheduleExpression"] == "rate(1 minute)"
        and {"Fn::GetAtt": [expiry, "Arn"]} in [t["Arn"] for t in rule["Targets"]]
        for rule in rules
    )


def test_the_seeds_are_planted_again_when_they_change(dev: Synthesized) -> None:
    stated = dev.only("Custom::SeedCategories")["Properties"]["Seeds"]

    # Twice the same sources, twice the same property: a deployment of nothing new asks for nothing.
    assert re.fullmatch(r"[0-9a-f]{32}", stated)
    assert synthesize("dev").only("Custom::SeedCategories")["Properties"]["Seeds"] == stated


def test_seeding_waits_for_the_right_to_seed(dev: Synthesized) -> None:
    policies = {name for name in dev.resources("AWS::IAM::Policy") if name.startswith("SeedRole")}

    assert policies
    assert policies <= set(dev.only("Custom::SeedCategories")["DependsOn"])


def test_the_outputs_name_the_api_and_the_table(dev: Synthesized) -> None:
    assert {"ApiUrl", "ApiId", "TableName"} <= set(dev.template["Outputs"])


def test_no_template_fixes_a_name_that_would_stop_a_second_deployment(dev: Synthesized) -> None:
    assert "TableName" not in dev.only("AWS::DynamoDB::Table")["Properties"]
    for function in dev.resources("AWS::Lambda::Function").values():
        assert "FunctionName" not in function["Properties"]
