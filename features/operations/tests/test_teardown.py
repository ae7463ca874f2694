"""``btd teardown``, on AWS's answers, which are made up here."""

from __future__ import annotations

from typing import Any

import boto3
import pytest

from tests.cli.conftest import Btd, bare_table, btd, table, wide_terminal  # noqa: F401  # fixtures
from tests.support.engines import MINISTACK, Engine
from tests.support.proofs import Aws, refusal

ID = "arn:aws:cloudformation:eu-central-1:111122223333:stack/BigTimeDeals-dev/1"
NESTED = "arn:aws:cloudformation:eu-central-1:111122223333:stack/BigTimeDeals-dev-Watch/2"
CHANGES = (
    *("update_termination_protection", "update_table", "delete_stack", "delete_table", "delete_log_group"),
    *("delete_objects", "delete_bucket"),
)


@pytest.fixture(scope="module")
def server() -> Engine:
    return MINISTACK


def resource(kind: str, name: str) -> dict[str, str]:
    return {"ResourceType": kind, "PhysicalResourceId": name}


def stack(monkeypatch: pytest.MonkeyPatch) -> Aws:
    """A stack of a table, logs (one in a nested stack) and two buckets, one of which is gone with it."""
    resources = {
        ID: [
            [resource("AWS::DynamoDB::Table", "deals"), resource("AWS::SQS::Queue", "work")],
            [resource("AWS::S3::Bucket", "pictures"), resource("AWS::S3::Bucket", "gone")],
            [resource("AWS::Logs::LogGroup", "log"), resource("AWS::CloudFormation::Stack", NESTED)],
        ],
        NESTED: [[resource("AWS::Logs::LogGroup", "nested-log")]],
    }
    version, marker = ({"Key": key, "VersionId": "1"} for key in ("a", "b"))

    def versions(**asked: Any) -> Any:
        if asked["Bucket"] == "gone":
            raise refusal("NoSuchBucket")
        return [{"Versions": [version]}, {"DeleteMarkers": [marker]}, {}]

    def listed(**asked: Any) -> Any:
        return [{"StackResourceSummaries": page} for page in resources[asked["StackName"]]]

    aws = Aws(
        describe_stacks=lambda **_: {"Stacks": [{"StackId": ID}]},
        list_stack_resources=listed,
        list_object_versions=versions,
        **{name: lambda **_: {} for name in CHANGES},
    )
    monkeypatch.setattr(Aws, "get_waiter", lambda *_: Aws(wait=lambda **_: {}), raising=False)
    monkeypatch.setattr(boto3, "client", aws)
    monkeypatch.setenv("BTD_STACK", "BigTimeDeals-dev")
    return aws


def changes(aws: Aws) -> list[tuple[str, Any]]:
    return [(operation, asked) for operation, asked in aws.asked if operation in CHANGES]


def test_nothing_of_a_stage_is_left(btd: Btd, monkeypatch: pytest.MonkeyPatch) -> None:
    aws = stack(monkeypatch)

    said = btd("teardown", "--confirm", "BigTimeDeals-dev").output

    assert [operation for operation, _ in changes(aws)[:3]] == [*CHANGES[:3]]
    removed = [(operation, *asked.values()) for operation, asked in changes(aws)[3:] if operation != "delete_objects"]
    assert removed == [
        ("delete_table", "deals"),
        ("delete_bucket", "pictures"),
        ("delete_log_group", "log"),
        ("delete_log_group", "nested-log"),
    ]
    emptied = [asked["Delete"]["Objects"] for operation, asked in changes(aws) if operation == "delete_objects"]
    assert [each["Key"] for page in emptied for each in page] == ["a", "b"]
    assert "Gone with the stack: the bucket gone." in said


def test_another_name_deletes_nothing(btd: Btd, monkeypatch: pytest.MonkeyPatch) -> None:
    aws = stack(monkeypatch)

    said = btd("teardown", "--confirm", "BigTimeDeals-prod", code=2).output

    assert "nothing was deleted" in said
    assert changes(aws) == []


def test_what_is_refused_is_said_with_the_way_to_go_on(btd: Btd, monkeypatch: pytest.MonkeyPatch) -> None:
    aws = stack(monkeypatch)

    def refuses(**_: Any) -> Any:
        raise refusal("AccessDenied")

    aws.answers["delete_table"] = refuses

    said = btd("teardown", "--confirm", "BigTimeDeals-dev", code=1).output

    assert f"Go on with BTD_STACK={ID}" in said
