"""The runbook: its sections, the commands that it types, and the metrics that it explains."""

from __future__ import annotations

import re
import shlex
from typing import Any

import botocore.session
import pytest
import typer.main
from botocore import xform_name

from cli.main import app
from infra.settings import STAGES
from local.settings import ROOT
from shared import features, hooks
from shared.runtime import metrics
from tools import documents

REPORTED = {
    value.name: value
    for value in (*vars(metrics).values(), *(each for of in features.roles(hooks.Metrics) for each in of.METRICS))
    if isinstance(value, metrics.Metric)
}

RUNBOOK, *OF_FEATURES = (
    page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "runbook.md", *documents.of_features().values())
)


def sections_of(page: str) -> dict[str, str]:
    return dict(re.findall(r"^## (.+)\n((?:(?!## ).*\n)*)", page, re.MULTILINE))


SECTIONS = sections_of(RUNBOOK)
OF_NO_FAULT = {"Following a request", "What is measured", "Who signed in as ana", "Restoring the table"}
"""Sections that aren't about something that goes wrong by itself."""

COMMANDS = [
    (section, line)
    for page in (RUNBOOK, *OF_FEATURES)
    for section, text in sections_of(page).items()
    for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    for line in block.splitlines()
]
BTD = [line for _, line in COMMANDS if line.startswith("btd ")]
AWS = re.findall(r"^aws .+$", "\n".join((RUNBOOK, *OF_FEATURES)), re.MULTILINE)

OF_THE_CLI_ITSELF = {"--region", "--query", "--output", "--max-items"}
"""Options that the AWS CLI adds to those that an operation has."""


@pytest.mark.parametrize("section", sorted(set(SECTIONS) - OF_NO_FAULT))
def test_a_section_says_what_it_means_and_shows_a_command(section: str) -> None:
    assert len(SECTIONS[section].split("```")[0].split()) > 10
    assert [line for of, line in COMMANDS if of == section]


def _btd_commands(group: Any, path: str = "btd") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, command in group.commands.items():
        inner = (
            _btd_commands(command, f"{path} {name}") if hasattr(command, "commands") else {f"{path} {name}": command}
        )
        found |= inner
    return found


@pytest.mark.parametrize("line", BTD)
def test_a_command_of_btd_exists_with_its_options(line: str) -> None:
    words = shlex.split(line)
    known = _btd_commands(typer.main.get_command(app))

    (command,) = (each for name, each in known.items() if words[: len(name.split())] == name.split())

    options = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= options


@pytest.mark.parametrize("line", AWS)
def test_a_command_of_the_aws_cli_is_an_operation_with_these_members(line: str) -> None:
    _, service, command, *words = shlex.split(re.sub(r"\$\(.*?\)", "0", line))
    model = botocore.session.get_session().get_service_model(service)
    (operation,) = (name for name in model.operation_names if xform_name(name, "-") == command)
    shape = model.operation_model(operation).input_shape
    assert shape is not None
    members = {f"--{xform_name(name, '-')}": member for name, member in shape.members.items()}

    options = {word for word in words if word.startswith("--")}

    assert options <= {*members, *OF_THE_CLI_ITSELF}
    assert {f"--{xform_name(name, '-')}" for name in shape.required_members} <= options


@pytest.mark.parametrize("name", sorted(REPORTED))
def test_each_metric_is_explained_with_its_unit_and_its_reporters(name: str) -> None:
    metric = REPORTED[name]

    (row,) = (
        line
        for page in (RUNBOOK, *OF_FEATURES)
        for line in page.splitlines()
        if line.startswith("|") and f"`{name}`" in line
    )

    assert f"| {metric.unit} | {', '.join(metric.services) or 'every function'} |" in re.sub(
        r"\[(\w+)\]\([^)]*\)", r"\1", row
    )


def test_the_shells_variables_name_a_stage_that_there_is() -> None:
    named = set(re.findall(r"STACK=(\S+)", RUNBOOK))

    assert named <= {stage.stack_name for stage in STAGES.values()}
