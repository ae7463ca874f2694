"""The templates of both stages, synthesized once, and the roles in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template

from infra.bundling import handler_of
from infra.settings import STAGES
from infra.stacks import DealsStack
from tests.rights import Policy


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Synthesis takes seconds, so pytest-xdist must run these in one process."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.xdist_group("infra"))


@dataclass(frozen=True, slots=True)
class Synthesized:
    """A template, and questions to it."""

    template: Mapping[str, Any]

    def resources(self, kind: str) -> dict[str, Any]:
        """The resources of a type, by logical id."""
        return {name: each for name, each in self.template["Resources"].items() if each["Type"] == kind}

    def only(self, kind: str) -> dict[str, Any]:
        """The only resource of a type."""
        (resource,) = self.resources(kind).values()
        return dict(resource)

    def function(self, module: str) -> dict[str, Any]:
        """The function of a module."""
        (function,) = (
            each
            for each in self.resources("AWS::Lambda::Function").values()
            if each["Properties"].get("Handler") == handler_of(module)
        )
        return dict(function)

    def modules(self) -> list[str]:
        """The modules of all functions."""
        return [
            each["Properties"]["Handler"].split(".")[-1] for each in self.resources("AWS::Lambda::Function").values()
        ]

    def statements(self, module: str) -> Iterator[dict[str, Any]]:
        """What the role of a function is allowed."""
        role = self.function(module)["Properties"]["Role"]["Fn::GetAtt"][0]
        assert "ManagedPolicyArns" not in self.template["Resources"][role]["Properties"]
        for policy in self.resources("AWS::IAM::Policy").values():
            if {"Ref": role} in policy["Properties"]["Roles"]:
                yield from policy["Properties"]["PolicyDocument"]["Statement"]

    def policy(self, module: str) -> Policy:
        """What the role of a function may do with the table."""
        (table,) = self.resources("AWS::DynamoDB::Table")
        statements = [
            {**statement, "Resource": [_name(resource) for resource in _list(statement["Resource"])]}
            for statement in self.statements(module)
        ]
        return Policy(statements, table)

    def allowed(self, module: str) -> set[tuple[str, str]]:
        """Pairs of an action and a resource (a logical id, with what follows it) that a function's role may."""
        return {
            (action, _name(resource))
            for statement in self.statements(module)
            for action in _list(statement["Action"])
            for resource in _list(statement["Resource"])
        }


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _name(resource: Any) -> str:
    match resource:
        case str():
            return resource
        case {"Fn::GetAtt": [name, "StreamArn"]}:
            return f"{name}/stream"
        case {"Fn::GetAtt": [name, _]} | {"Ref": name}:
            return str(name)
        case {"Fn::Join": [separator, parts]}:
            return str(separator).join(_name(part) for part in parts)
    raise AssertionError(resource)


def synthesize(stage: str) -> Synthesized:
    """The template of a stage, as ``cdk synth`` writes it."""
    stack = DealsStack(cdk.App(), stage=STAGES[stage])
    return Synthesized(Template.from_stack(stack).to_json())


@pytest.fixture(scope="session")
def dev() -> Synthesized:
    """The template of the stage dev."""
    return synthesize("dev")


@pytest.fixture(scope="session")
def prod() -> Synthesized:
    """The template of the stage prod."""
    return synthesize("prod")
