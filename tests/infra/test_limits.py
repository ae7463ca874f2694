"""AWS's limits, and how far the stages stay from each: the table of docs/ledger.md."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from infra.bundling import bundle
from infra.functions import FUNCTIONS
from infra.rows import Caller
from local.settings import ROOT
from tests.infra.conftest import VARIANTS, Assembly

ROW = re.compile(r"^\| ([a-zA-Z][^|]+) \| ([\d,]+) \| ([\d,]+) \|", re.MULTILINE)

LIMITS = {
    name: (int(most.replace(",", "")), int(ours.replace(",", "")))
    for name, most, ours in ROW.findall((ROOT / "docs" / "ledger.md").read_text())
}
"""What AWS allows at most, and what a stage may use, by the limit's name in the ledger."""

ON_AWS = [name for name, stage in VARIANTS.items() if not stage.emulated]

STACK = VARIANTS["everything"].stack_name
ARN = f"arn:aws:dynamodb:ap-southeast-2:111122223333:table/{STACK}-DealsTable0123ABCD-ABCDEFGHIJKLM"
"""As long as any that CloudFormation chooses a name for."""


def resolved(value: Any) -> Any:
    """A template's value with an ARN, of a length that is usual, in the place of each function."""
    match value:
        case {"Fn::Join": [separator, parts]}:
            return str(separator).join(str(resolved(part)) for part in parts)
        case {"Ref": str(name)}:
            return "aws" if name == "AWS::Partition" else ARN
        case {"Fn::GetAtt": _} | {"Fn::ImportValue": _}:
            return ARN
        case dict():
            return {key: resolved(each) for key, each in value.items()}
        case list():
            return [resolved(each) for each in value]
    return value


def size(value: Any) -> int:
    return len(json.dumps(resolved(value), separators=(",", ":")))


Template = Mapping[str, Any]


def of_type(template: Template, kind: str) -> Iterator[dict[str, Any]]:
    return (each.get("Properties", {}) for each in template["Resources"].values() if each["Type"] == kind)


def policies(template: Template) -> Counter[str]:
    """The characters of each role's own policies."""
    found: Counter[str] = Counter()
    for policy in of_type(template, "AWS::IAM::Policy"):
        for role in policy["Roles"]:
            found[role["Ref"]] += size(policy["PolicyDocument"])
    for name, each in template["Resources"].items():
        if each["Type"] == "AWS::IAM::Role":
            found[name] += sum(size(policy["PolicyDocument"]) for policy in each["Properties"].get("Policies", ()))
    return found


def permissions(template: Template) -> Counter[str]:
    """The bytes of each function's policy: a statement for each permission."""
    found: Counter[str] = Counter()
    for each in of_type(template, "AWS::Lambda::Permission"):
        statement = {
            "Sid": f"{STACK}-GatewayApiGETdealsApiPermission0123ABCD-ABCDEFGHIJKLM",
            "Effect": "Allow",
            "Principal": {"Service": each["Principal"]},
            "Action": each["Action"],
            "Resource": ARN,
            "Condition": {"ArnLike": {"AWS:SourceArn": each.get("SourceArn", ARN)}},
        }
        found[json.dumps(each["FunctionName"])] += size(statement)
    return found


def resources_of_apis(template: Template) -> Counter[str]:
    return Counter(json.dumps(each["RestApiId"]) for each in of_type(template, "AWS::ApiGateway::Resource"))


def behaviours(template: Template) -> Iterator[int]:
    for each in of_type(template, "AWS::CloudFront::Distribution"):
        yield 1 + len(each["DistributionConfig"].get("CacheBehaviors", ()))


def environments(template: Template) -> Iterator[int]:
    for each in of_type(template, "AWS::Lambda::Function"):
        yield size(each.get("Environment", {}).get("Variables", {}))


def filters(template: Template) -> Iterator[int]:
    for each in of_type(template, "AWS::Lambda::EventSourceMapping"):
        yield len(each.get("FilterCriteria", {}).get("Filters", ()))


COUNTED: dict[str, Callable[[Template], Iterator[int]]] = {
    "resources of a stack": lambda template: iter([len(template["Resources"])]),
    "parameters of a stack": lambda template: iter([len(template.get("Parameters", ()))]),
    "outputs of a stack": lambda template: iter([len(template.get("Outputs", ()))]),
    "bytes of a template": lambda template: iter([len(json.dumps(template))]),
    "characters of a role's policies": lambda template: iter(policies(template).values()),
    "bytes of a function's policy": lambda template: iter(permissions(template).values()),
    "bytes of a function's variables": environments,
    "targets of a rule": lambda template: (len(each["Targets"]) for each in of_type(template, "AWS::Events::Rule")),
    "filters of a mapping": filters,
    "resources of an API": lambda template: iter(resources_of_apis(template).values()),
    "behaviours of a distribution": behaviours,
}
"""How much of a limit a template uses."""


def test_each_limit_of_the_ledger_is_counted_and_leaves_a_distance() -> None:
    assert {*LIMITS} == {*COUNTED, "seconds of an answer", "MB of a function's code"}
    assert [name for name, (most, ours) in LIMITS.items() if not ours < most] == []


@pytest.mark.parametrize("variant", ON_AWS)
def test_no_stage_uses_more_than_the_ledger_says(assemblies: Callable[[str], Assembly], variant: str) -> None:
    templates = [json.loads(file.read_text()) for file in assemblies(variant).templates]

    used = {name: max((n for each in templates for n in count(each)), default=0) for name, count in COUNTED.items()}

    assert {name: n for name, n in used.items() if n > LIMITS[name][1]} == {}, used


def test_no_answer_takes_longer_than_the_gateway_waits() -> None:
    longest = max(row.timeout for row in FUNCTIONS if row.caller is Caller.GATEWAY)

    assert longest <= LIMITS["seconds of an answer"][1]


@pytest.mark.parametrize("artifact", sorted({row.artifact for row in FUNCTIONS}))
def test_no_artifact_is_larger_than_the_ledger_says(artifact: str) -> None:
    path = bundle(artifact, VARIANTS["prod"].target).path

    unzipped = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())

    assert unzipped / 2**20 <= LIMITS["MB of a function's code"][1]
