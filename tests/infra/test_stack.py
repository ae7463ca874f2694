"""The stack as a whole.

The table in the template is the one that the schema declares.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace

import aws_cdk as cdk
import pytest

from infra.settings import STAGES, RestoredTable
from infra.stacks import compose
from shared.dynamodb.schema import TTL_ATTRIBUTE, create_table_request
from shared.learn import lessons
from tests.infra.conftest import UNCOPIED, VARIANTS, Assembly, Synthesized, synthesize


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_stack_comes_near_the_most_resources_that_one_may_have(
    assemblies: Callable[[str], Assembly], variant: str
) -> None:
    """500: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html."""
    numbers = {file.name: len(json.loads(file.read_text())["Resources"]) for file in assemblies(variant).templates}

    assert numbers
    assert max(numbers.values()) <= 490, numbers


def test_the_seeds_are_planted_again_when_they_change(dev: Synthesized, prod: Synthesized) -> None:
    stated = dev.only("Custom::SeedCategories")["Seeds"]

    # The same sources give the same property, so a deployment without changes plants nothing.
    assert re.fullmatch(r"[0-9a-f]{32}", stated)
    assert prod.only("Custom::SeedCategories")["Seeds"] == stated


def test_seeding_waits_for_the_right_to_seed(dev: Synthesized) -> None:
    policies = {name for name in dev.resources("AWS::IAM::Policy") if name.startswith("SeedRole")}
    (seeds,) = dev.resources("Custom::SeedCategories").values()

    assert policies
    assert policies <= set(seeds["DependsOn"])


def test_the_outputs_name_the_api_and_the_table(dev: Synthesized) -> None:
    assert {"ApiUrl", "ApiId", "TableName"} <= set(dev.template["Outputs"])


def test_no_template_fixes_a_name_that_would_stop_a_second_deployment(dev: Synthesized) -> None:
    assert not [table for table in dev.all("AWS::DynamoDB::Table") if "TableName" in table]
    assert not [function for function in dev.all("AWS::Lambda::Function") if "FunctionName" in function]


@pytest.mark.parametrize("stage", ["dev", "prod", "everything"])
def test_every_log_forgets(request: pytest.FixtureRequest, stage: str) -> None:
    synthesized: Synthesized = request.getfixturevalue(stage)

    kept = {each["RetentionInDays"] for each in synthesized.all("AWS::Logs::LogGroup")}

    assert kept == {VARIANTS[stage].log_retention_days}


def test_queues_are_encrypted_and_refuse_requests_without_tls(dev: Synthesized) -> None:
    queues = dev.resources("AWS::SQS::Queue")
    refused = {
        queue["Ref"]
        for policy in dev.all("AWS::SQS::QueuePolicy")
        for queue in policy["Queues"]
        for statement in policy["PolicyDocument"]["Statement"]
        if (statement["Effect"], statement["Action"], statement["Principal"]) == ("Deny", "sqs:*", {"AWS": "*"})
        and statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    }

    assert refused == set(queues)
    assert all(queue["Properties"]["SqsManagedSseEnabled"] is True for queue in queues.values())


def test_the_clock_invokes_its_functions_each_minute_and_repeats_none_that_failed(dev: Synthesized) -> None:
    rule = dev.only("AWS::Events::Rule")
    invoked = dev.all("AWS::Lambda::EventInvokeConfig")

    targets = {dev.module(each["Arn"]["Fn::GetAtt"][0]) for each in rule["Targets"]}
    assert targets == {"expiry", "refresher", "remover"}
    assert rule["ScheduleExpression"] == "rate(1 minute)"
    assert len(invoked) == len(targets)
    assert {each["MaximumRetryAttempts"] for each in invoked} == {0}
    assert {each["RetryPolicy"]["MaximumRetryAttempts"] for each in rule["Targets"]} == {0}


def test_only_a_stage_that_says_so_is_traced(prod: Synthesized, everything: Synthesized) -> None:
    def traced(stage: Synthesized) -> set[bool]:
        modes = {"TracingConfig" in each for each in stage.all("AWS::Lambda::Function") if "Handler" in each}
        return modes | {each["TracingEnabled"] for each in stage.all("AWS::ApiGateway::Stage")}

    assert traced(prod) == {False}
    assert traced(everything) == {True}


@pytest.mark.parametrize(
    ("variant", "protected"), [("dev", False), ("local", False), ("prod", True), ("everything", True)]
)
def test_a_stack_with_data_that_matters_cannot_be_deleted(
    assemblies: Callable[[str], Assembly], variant: str, *, protected: bool
) -> None:
    stack = assemblies(variant).app.node.find_child(VARIANTS[variant].stack_name)

    assert isinstance(stack, cdk.Stack)
    assert stack.termination_protection is protected


def test_a_first_deployment_that_fails_leaves_nothing_that_its_repetition_meets() -> None:
    """CloudFormation deletes what it has made, and the CDK deletes the stack when it is deployed again."""
    stage = replace(STAGES["prod"], first=True, export_days=30)
    app = cdk.App(context=UNCOPIED, builtin_cloud_formation_validation=False)
    compose(app, stage)

    template = app.synth().get_stack_by_name(stage.stack_name)

    assert template.termination_protection is not True
    resources = template.template["Resources"].values()
    (table,) = (each for each in resources if each["Type"] == "AWS::DynamoDB::Table")
    assert table["Properties"].get("DeletionProtectionEnabled", False) is False
    # The role that writes the logs of all APIs is the account's, and the next deployment makes its own.
    assert {each["Type"] for each in resources if each.get("DeletionPolicy") == "Retain"} <= ACCOUNTS_OWN
    kinds = {each["Type"] for each in resources if each.get("DeletionPolicy") == "RetainExceptOnCreate"}
    assert kinds == {"AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::Logs::LogGroup"}


ACCOUNTS_OWN = {"AWS::ApiGateway::Account", "AWS::IAM::Role"}


def test_the_table_has_the_keys_indexes_and_stream_of_the_schema(dev: Synthesized) -> None:
    declared = create_table_request("any")

    table = dev.only("AWS::DynamoDB::Table", "Deals")

    assert table["KeySchema"] == declared["KeySchema"]
    assert table["GlobalSecondaryIndexes"] == declared["GlobalSecondaryIndexes"]
    assert _by_name(table["AttributeDefinitions"]) == _by_name(declared["AttributeDefinitions"])
    assert table["BillingMode"] == declared["BillingMode"]
    assert table["StreamSpecification"]["StreamViewType"] == "NEW_AND_OLD_IMAGES"


def test_items_expire_and_can_be_restored_on_every_stage(dev: Synthesized, prod: Synthesized) -> None:
    for stage in (dev, prod):
        table = stage.only("AWS::DynamoDB::Table", "Deals")

        assert table["TimeToLiveSpecification"] == {"AttributeName": TTL_ATTRIBUTE, "Enabled": True}
        assert table["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"] is True


def test_production_data_outlives_its_stack_and_development_data_does_not(dev: Synthesized, prod: Synthesized) -> None:
    (kept,), (dropped,) = (stage.resources("AWS::DynamoDB::Table", "Deals").values() for stage in (prod, dev))

    assert kept["Properties"]["DeletionProtectionEnabled"] is True
    assert (kept["DeletionPolicy"], kept["UpdateReplacePolicy"]) == ("RetainExceptOnCreate", "Retain")
    assert dropped["Properties"].get("DeletionProtectionEnabled", False) is False
    assert dropped["DeletionPolicy"] == "Delete"


def test_a_restored_table_takes_the_place_of_the_stacks_own() -> None:
    stream = "arn:aws:dynamodb:eu-central-1:111122223333:table/restored/stream/2026-06-12T15:00:00.000"
    stage = synthesize(replace(STAGES["prod"], restored=RestoredTable("restored", stream)))

    # The one that leaves the template stays, as the test above says.
    assert stage.resources("AWS::DynamoDB::Table") == {}
    used = {stage.variables(module).get("TABLE_NAME", "restored") for module in stage.modules()}
    assert used == {stage.template["Outputs"]["TableName"]["Value"]} == {"restored"}
    mappings = stage.all("AWS::Lambda::EventSourceMapping")
    read = {each["EventSourceArn"] for each in mappings if "FilterCriteria" in each}
    assert read == {stream}
    allowed = json.dumps(stage.all("AWS::IAM::Policy"))
    assert ":table/restored/index/GSI1" in allowed
    assert stream in allowed


def _by_name(definitions: object) -> list[dict[str, str]]:
    assert isinstance(definitions, list)
    return sorted(definitions, key=lambda each: str(each["AttributeName"]))


def test_the_textbook_has_a_table_of_its_own_that_one_function_knows_where_there_is_a_textbook(
    dev: Synthesized, prod: Synthesized
) -> None:
    ((name, resource),) = dev.resources("AWS::DynamoDB::Table", "Textbook").items()
    table, declared = resource["Properties"], lessons.table_request("any")

    knowing = {module: dev.allowed(module) for module in dev.modules() if module}
    rights = {module: {(action, to) for action, to in found if name in to} for module, found in knowing.items()}

    assert (table["KeySchema"], table["BillingMode"]) == (declared["KeySchema"], declared["BillingMode"])
    assert table["GlobalSecondaryIndexes"] == declared["GlobalSecondaryIndexes"]
    assert _by_name(table["AttributeDefinitions"]) == _by_name(declared["AttributeDefinitions"])
    assert resource["DeletionPolicy"] == "Delete"
    assert dev.variables("learn")["TEXTBOOK_TABLE"] == {"Ref": name}
    assert rights["learn"] == {
        ("dynamodb:BatchWriteItem", name), ("dynamodb:Query", f"{name}/index/{lessons.recorded()['index']}"),
    }  # fmt: skip
    assert not any(found for module, found in rights.items() if module != "learn")
    assert "Textbook" not in json.dumps(prod.template)
