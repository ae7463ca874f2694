"""A stage with everything on, in eu-central-1, as moto's CloudFormation creates it: what moto knows of it."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import boto3
import pytest
from moto import mock_aws
from moto.cloudformation.parsing import get_model_map
from moto.core.models import DEFAULT_ACCOUNT_ID

from tests.infra.conftest import VARIANTS, synthesize

REGION = "eu-central-1"
MOST_OF_IT = 100
ASSETS = f"cdk-hnb659fds-assets-111122223333-{REGION}"

NOT_TAKEN = ("AWS::CloudFormation::Stack", "Custom::SeedCategories")
"""Nested stacks, whose resources are among the others here, and what would run a function in Docker."""


@pytest.fixture(scope="module")
def template() -> dict[str, Any]:
    """The template without what needs a value of a resource that moto doesn't know, such as an alias of Lambda."""
    stage = replace(VARIANTS["everything"], snap_start=False)
    whole = json.loads(json.dumps(synthesize(stage).template))
    resources = whole["Resources"]
    made = {name for name, each in resources.items() if each["Type"] in get_model_map()}
    while lacking := {name for name in made if not {*values(resources[name])} <= made}:
        made -= lacking
        resources = {name: each for name, each in resources.items() if name not in lacking}
    # What moto doesn't know stays: others refer to it by name, and moto passes it over.
    kept = {name: each for name, each in resources.items() if each["Type"] not in NOT_TAKEN}
    outputs = {name: each for name, each in whole["Outputs"].items() if {*references(each)} & {*resources} <= made}
    return {**whole, "Resources": kept, "Outputs": outputs}


def values(part: Any) -> Iterator[str]:
    """The resources of which a part of a template uses attributes: moto must have made those."""
    match part:
        case {"Fn::GetAtt": [name, _]}:
            yield name
        case dict():
            for each in part.values():
                yield from values(each)
        case list():
            for each in part:
                yield from values(each)


def references(part: Any) -> Iterator[str]:
    """All resources that a part of a template names."""
    match part:
        case {"Ref": name} | {"Fn::GetAtt": [name, _]}:
            yield name
        case dict() | list():
            for each in part.values() if isinstance(part, dict) else part:
                yield from references(each)


@pytest.fixture
def created(template: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Any]]:
    """Clients of an account in which CloudFormation has been given the template."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "none")
    with mock_aws():
        code = io.BytesIO()
        with zipfile.ZipFile(code, "w") as archive:
            archive.writestr("functions/entry.py", "")
        s3 = boto3.client("s3", region_name="us-east-1")
        s3.create_bucket(Bucket=ASSETS)
        for each in template["Resources"].values():
            if each["Type"] == "AWS::Lambda::Function":
                s3.put_object(Bucket=ASSETS, Key=each["Properties"]["Code"]["S3Key"], Body=code.getvalue())
        s3.put_object(Bucket=ASSETS, Key="template.json", Body=json.dumps(template))
        # What "cdk bootstrap" leaves in an account.
        version = {"Name": "/cdk-bootstrap/hnb659fds/version", "Value": "21", "Type": "String"}
        boto3.client("ssm", region_name=REGION).put_parameter(**version)
        address = f"https://s3.amazonaws.com/{ASSETS}/template.json"
        cloudformation = boto3.client("cloudformation", region_name=REGION)
        cloudformation.create_stack(StackName="stage", TemplateURL=address, Capabilities=["CAPABILITY_IAM"])
        session: Any = boto3.Session(region_name=REGION)
        yield session.client


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:Tried to parse")
def test_motos_cloudformation_takes_a_stage_with_everything_on(
    template: dict[str, Any], created: Callable[[str], Any]
) -> None:
    cloudformation = created("cloudformation")
    (stack,) = cloudformation.describe_stacks(StackName="stage")["Stacks"]
    pages = cloudformation.get_paginator("list_stack_resources").paginate(StackName="stage")
    made = {each["LogicalResourceId"] for page in pages for each in page["StackResourceSummaries"]}

    assert stack["StackStatus"] == "CREATE_COMPLETE", stack
    assert made >= {name for name, each in template["Resources"].items() if each["Type"] in get_model_map()}
    assert len(made) > MOST_OF_IT
    outputs = {each["OutputKey"]: each["OutputValue"] for each in stack["Outputs"]}
    table = created("dynamodb").describe_table(TableName=outputs["TableName"])["Table"]
    assert table["TableArn"].startswith(f"arn:aws:dynamodb:{REGION}:{DEFAULT_ACCOUNT_ID}:")
    assert len(table["GlobalSecondaryIndexes"]) == 4
