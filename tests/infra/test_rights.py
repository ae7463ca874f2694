"""What the roles must not be able to do."""

from __future__ import annotations

import pytest

from tests.infra.conftest import Synthesized

WRITES = {f"dynamodb:{name}" for name in ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem")} | {
    f"dynamodb:PartiQL{name}" for name in ("Insert", "Update", "Delete")
}


def test_the_function_that_anyone_may_call_cannot_write(dev: Synthesized) -> None:
    actions = {action for action, _ in dev.allowed("storefront") if action.startswith("dynamodb:")}

    assert actions == {"dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query"}


def test_the_authorizer_can_only_read_single_items(dev: Synthesized) -> None:
    actions = {action for action, _ in dev.allowed("authorizer") if action.startswith("dynamodb:")}

    assert actions == {"dynamodb:GetItem"}


def test_the_public_function_cannot_list_users(dev: Synthesized) -> None:
    resources = {resource.partition("/index/")[2] for action, resource in dev.allowed("storefront")}

    assert "UserIndex" not in resources
    assert resources >= {"GSI1", "GSI2", "GSI3"}


@pytest.mark.parametrize("module", ["accounts", "members", "editors", "storefront", "authorizer", "seed", "expiry"])
def test_no_function_can_scan_or_use_an_action_it_was_not_given(dev: Synthesized, module: str) -> None:
    actions = {action for action, _ in dev.allowed(module)}

    assert not any("*" in action for action in actions)
    assert "dynamodb:Scan" not in actions
    assert actions.isdisjoint({"dynamodb:DeleteTable", "dynamodb:UpdateTable"})


def test_every_right_names_what_it_is_for(dev: Synthesized) -> None:
    # CloudWatch's logs and the listing of streams are granted by the CDK on resources that it names itself.
    for module in dev.modules():
        wide = {(action, resource) for action, resource in dev.allowed(module) if resource == "*"}

        assert {action for action, _ in wide} <= {"dynamodb:ListStreams"}, module


def test_rights_to_write_are_on_the_table_and_never_on_an_index(dev: Synthesized) -> None:
    for module in dev.modules():
        for action, resource in dev.allowed(module):
            if action in WRITES:
                assert "/index/" not in resource, module


def test_each_function_has_a_role_and_a_log_of_its_own(dev: Synthesized) -> None:
    functions = dev.resources("AWS::Lambda::Function").values()

    roles = {each["Properties"]["Role"]["Fn::GetAtt"][0] for each in functions}
    logs = {each["Properties"]["LoggingConfig"]["LogGroup"]["Ref"] for each in functions}

    assert len(roles) == len(logs) == len(functions)
