"""The stages as ``cdk synth`` writes them, each synthesized once, and the roles in their templates."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template

from infra.nag import require
from infra.settings import STAGES
from infra.stacks import DealsStack, compose
from infra.stage import Stage, Watch
from local.settings import ROOT
from tests.support.cases import cases
from tests.support.rights import Policy

VARIANTS: dict[str, Stage] = {
    **STAGES,
    "everything": replace(
        STAGES["prod"],
        name="everything",
        account="111122223333",
        region="eu-central-1",
        tags=(("team", "deals"),),
        key_arn="arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab",
        tracing=True,
        checks_bodies=True,
        snap_start=True,
        shows_work=True,
        watch=Watch.FULL,
        cors_origins=("https://app.example",),
        options=tuple(cases("OPTIONS")),
    ),
}
"""The stages, and one in eu-central-1 with all that can be switched on."""


@dataclass(frozen=True, slots=True)
class Synthesized:
    """A template, and questions to it."""

    template: Mapping[str, Any]

    def resources(self, kind: str, construct: str = "") -> dict[str, Any]:
        """The resources of a type, by logical id: those of one construct, if one is named.

        Of the two gateways, ``Gateway`` is the REST API's, ``Pages`` the pages'.
        """
        found = self.template["Resources"].items()
        return {name: each for name, each in found if each["Type"] == kind and name.startswith(construct)}

    def all(self, kind: str, construct: str = "") -> list[dict[str, Any]]:
        """The properties of the resources of a type."""
        return [each["Properties"] for each in self.resources(kind, construct).values()]

    def only(self, kind: str, construct: str = "") -> dict[str, Any]:
        """The properties of the only resource of a type."""
        (properties,) = self.all(kind, construct)
        return properties

    def modules(self) -> dict[str, str]:
        """The logical ids of all functions, by their modules."""
        found = {}
        for name, each in self.resources("AWS::Lambda::Function").items():
            module = each["Properties"].get("Environment", {}).get("Variables", {}).get("FUNCTION", "")
            found[str(module).rpartition(".")[2]] = name
        return found

    def function(self, module: str) -> dict[str, Any]:
        """The properties of the function of a module."""
        return dict(self.template["Resources"][self.modules()[module]]["Properties"])

    def module(self, logical_id: str) -> str:
        """The module of a function."""
        return next(module for module, name in self.modules().items() if name == logical_id)

    def variables(self, module: str) -> dict[str, Any]:
        """The environment of the function of a module."""
        return dict(self.function(module)["Environment"]["Variables"])

    def statements(self, role: Any) -> Iterator[dict[str, Any]]:
        """The statements of a role."""
        name = role["Fn::GetAtt"][0]
        assert "ManagedPolicyArns" not in self.template["Resources"][name]["Properties"]
        yield from self.of_roles()[name]

    def of_roles(self) -> dict[str, list[dict[str, Any]]]:
        """The statements of each role, in itself or in policies beside it, by the role's logical id."""
        found: dict[str, list[dict[str, Any]]] = {
            name: [
                each
                for policy in role["Properties"].get("Policies", ())
                for each in policy["PolicyDocument"]["Statement"]
            ]
            for name, role in self.resources("AWS::IAM::Role").items()
        }
        for policy in self.all("AWS::IAM::Policy"):
            for role in policy["Roles"]:
                found[role["Ref"]] += policy["PolicyDocument"]["Statement"]
        return found

    def policy(self, module: str) -> Policy:
        """The statements of a function's role about the table."""
        (table,) = self.resources("AWS::DynamoDB::Table", "Deals")
        statements = [
            {**statement, "Resource": [_name(resource) for resource in _list(statement["Resource"])]}
            for statement in self.statements(self.function(module)["Role"])
        ]
        return Policy(statements, table)

    def allowed(self, module: str) -> set[tuple[str, str]]:
        """The rights of a function's role: pairs of an action and a resource (a logical id, with what follows it)."""
        return {
            (action, _name(resource))
            for statement in self.statements(self.function(module)["Role"])
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


@dataclass(frozen=True, slots=True)
class Assembly:
    """The files that a synthesis has written."""

    folder: Path
    app: cdk.App = field(repr=False)

    @property
    def templates(self) -> list[Path]:
        return sorted(self.folder.glob("*.template.json"))

    def reports(self) -> dict[str, Any]:
        """The findings of each pack of cdk-nag's rules, by its name."""
        report = json.loads((self.folder / "validation-report.json").read_text())
        return {each["pluginName"]: each for each in report["pluginReports"]}

    def main(self, stage: Stage) -> Synthesized:
        """The stack that every stage has, and what is nested in it, as one template."""
        whole = json.loads((self.folder / f"{stage.stack_name}.template.json").read_text())
        nested = [json.loads(file.read_text()) for file in self.templates if ".nested." in file.name]
        return Synthesized(_as_one(whole, nested))


def _as_one(whole: dict[str, Any], nested: list[Any]) -> dict[str, Any]:
    """A template with the resources of its nested stacks, in which parameters are what they are given."""
    given = {
        name: value
        for each in whole["Resources"].values()
        if each["Type"] == "AWS::CloudFormation::Stack"
        for name, value in each["Properties"].get("Parameters", {}).items()
    }

    def told(value: Any) -> Any:
        match value:
            case {"Ref": str(name)} if name in given:
                return given[name]
            case dict():
                return {key: told(each) for key, each in value.items()}
            case list():
                return [told(each) for each in value]
        return value

    inner = {name: told(each) for template in nested for name, each in template["Resources"].items()}
    return {**whole, "Resources": {**whole["Resources"], **inner}}


FLAGS = {
    name: value
    for name, value in json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"].items()
    if name.startswith("@aws-cdk")
}
"""The CDK's feature flags, which its command line reads."""

UNCOPIED = {**FLAGS, "aws:cdk:disable-asset-staging": True}
"""Leaves the artifacts where they were built: to copy them takes as long as the rest."""


@pytest.fixture(scope="session")
def assemblies(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Assembly]:
    """The templates that ``cdk synth`` writes for each of ``VARIANTS``, whether or not it passes the checks."""
    return partial(_assembly, str(tmp_path_factory.getbasetemp()))


@cache
def _assembly(base: str, variant: str) -> Assembly:
    """An assembly, synthesized once for all modules of tests that import the fixtures."""
    folder = Path(base) / variant
    app = cdk.App(outdir=str(folder), context=UNCOPIED)
    compose(app, VARIANTS[variant])
    with suppress(RuntimeError):  # the report says why
        app.synth()
    return Assembly(folder, app)


def synthesize(stage: Stage) -> Synthesized:
    """The template of a stage that is not among ``VARIANTS``; its synthesis fails where cdk-nag finds something.

    The CDK's own validation, which takes five times as long as the rest, looks at ``VARIANTS``.
    """
    app = cdk.App(context=UNCOPIED, builtin_cloud_formation_validation=False)
    stack = DealsStack(app, stage=stage)
    require(app)
    nested = [
        Template.from_stack(each).to_json() for each in stack.node.find_all() if isinstance(each, cdk.NestedStack)
    ]
    return Synthesized(_as_one(dict(Template.from_stack(stack).to_json()), nested))


@pytest.fixture(scope="session")
def dev(assemblies: Callable[[str], Assembly]) -> Synthesized:
    """The template of the stage dev."""
    return assemblies("dev").main(STAGES["dev"])


@pytest.fixture(scope="session")
def prod(assemblies: Callable[[str], Assembly]) -> Synthesized:
    """The template of the stage prod."""
    return assemblies("prod").main(STAGES["prod"])


@pytest.fixture(scope="session")
def full() -> Synthesized:
    """The template of prod with all that is watched, its features, too."""
    return _full()


@cache
def _full() -> Synthesized:
    return synthesize(replace(STAGES["prod"], watch=Watch.FULL, options=(*cases("WATCHED"),)))


@pytest.fixture(scope="session")
def everything(assemblies: Callable[[str], Assembly]) -> Synthesized:
    """The template of a stage with all that can be switched on."""
    return assemblies("everything").main(VARIANTS["everything"])
