"""The stage's own key: what it encrypts, and which role may use it through which service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from ministack.core.iam_evaluator import (  # type: ignore[import-untyped]  # it has no types
    EvalContext,
    evaluate,
    parse_policy_document,
)

from infra.encryption import READS, RECEIVES, SENDS, WRITES
from tests.infra.conftest import VARIANTS, Synthesized

KEY = VARIANTS["everything"].key_arn

TAKES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("GetItem", "BatchGetItem", "Query", "Scan", "GetRecords", "ExportTableToPointInTime"), READS),
    **dict.fromkeys(("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "PartiQLInsert"), WRITES),
    "SendMessage": SENDS,
    "ReceiveMessage": RECEIVES,
    "PutObject": SENDS,
    "GetObject": RECEIVES,
}
"""What a role that may do something must be allowed to do with the key."""


def resolved(value: Any) -> Any:
    """A part of a template, in the region of the stage."""
    match value:
        case {"Fn::Join": [separator, parts]}:
            return str(separator).join(str(resolved(part)) for part in parts)
        case {"Ref": "AWS::Region"}:
            return "eu-central-1"
        case {"Ref": "AWS::URLSuffix"}:
            return "amazonaws.com"
        case {"Ref": str(name)} | {"Fn::GetAtt": [str(name), _]}:
            return f"arn:aws:of-the-template:::{name}"
        case dict():
            return {key: resolved(each) for key, each in value.items()}
        case list():
            return [resolved(each) for each in value]
    return value


def of_roles(template: Synthesized) -> dict[str, list[Any]]:
    """The statements of each role in the template, by its logical id."""
    return {name: resolved(statements) for name, statements in template.of_roles().items() if statements}


def allows(statements: list[Any], action: str, service: str | None) -> bool:
    """IAM's answer to a use of the key, through a service or by the role itself."""
    context = EvalContext(
        principal_arn="arn:aws:sts::111122223333:assumed-role/role/function",
        principal_type="AssumedRole",
        principal_account="111122223333",
        action=action,
        resource_arn=KEY,
        region="eu-central-1",
        service_context={"kms:viaservice": f"{service}.eu-central-1.amazonaws.com"} if service else {},
    )
    return bool(evaluate(context, [parse_policy_document({"Statement": statements})]).decision == "Allow")


def test_each_role_may_use_the_key_through_the_services_that_it_uses_and_no_other(everything: Synthesized) -> None:
    roles = of_roles(everything)
    assert len(roles) >= len(everything.modules())

    for role, statements in roles.items():
        actions = {action for each in statements for action in _list(each["Action"])}
        called = [action.split(":") for action in actions if action.partition(":")[2] in TAKES]
        needed = {(service, use) for service, action in called for use in TAKES[action]}

        granted = {(to, use) for to in ("dynamodb", "sqs", "s3", None) for use in WRITES if allows(statements, use, to)}

        assert granted == needed, role


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


ENCRYPTED = {
    "AWS::DynamoDB::Table/Deals": lambda each: each["SSESpecification"]["KMSMasterKeyId"],
    "AWS::SQS::Queue": lambda each: each["KmsMasterKeyId"],
    "AWS::Logs::LogGroup": lambda each: each["KmsKeyId"],
    "AWS::S3::Bucket": lambda each: each["BucketEncryption"]["ServerSideEncryptionConfiguration"][0][
        "ServerSideEncryptionByDefault"
    ]["KMSMasterKeyID"],
}
"""Where a resource names the key, by its type, and its construct where others hold nothing of anybody's."""


@pytest.mark.parametrize("kind", ENCRYPTED)
def test_everything_that_keeps_data_is_encrypted_with_the_key(everything: Synthesized, kind: str) -> None:
    found = everything.all(*kind.split("/"))

    assert found or kind == "AWS::S3::Bucket"  # only features have them
    assert {ENCRYPTED[kind](each) for each in found} <= {KEY}


def test_a_stage_without_a_key_names_none(prod: Synthesized) -> None:
    assert not any(name in str(prod.template) for name in ("kms:", "KMSMasterKeyId", "KmsMasterKeyId", "KmsKeyId"))
