"""The workflows of GitHub and the hooks of pre-commit: what they run is there, and nobody else can change it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra.settings import ON_LAMBDA, STAGES
from local.settings import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
DEPLOY = ROOT / ".github" / "workflows" / "deploy.yml"

each_workflow = pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)


def read(file: Path) -> Any:
    # "on" is the truth in YAML 1.1, which the base loader does not know.
    return yaml.load(file.read_text(), Loader=yaml.BaseLoader)


def steps(file: Path) -> list[dict[str, Any]]:
    return [step for job in read(file)["jobs"].values() for step in job["steps"]]


@each_workflow
def test_every_action_is_named_by_its_commit(file: Path) -> None:
    used = [step["uses"] for step in steps(file) if "uses" in step]

    assert used
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action) for action in used)


@each_workflow
def test_no_input_is_written_into_a_command(file: Path) -> None:
    assert not any("${{" in step.get("run", "") for step in steps(file))


@each_workflow
def test_a_workflow_only_reads_unless_a_job_says_more(file: Path) -> None:
    workflow = read(file)

    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert job.get("permissions", {}).items() <= {"contents": "read", "id-token": "write"}.items()


def test_the_stages_that_can_be_deployed_are_those_of_the_settings() -> None:
    options = read(DEPLOY)["on"]["workflow_dispatch"]["inputs"]["stage"]["options"]

    assert set(options) == set(STAGES) - {"local"}


def test_what_deploys_runs_the_functions_own_python() -> None:
    (python,) = (step["with"]["python-version"] for step in steps(DEPLOY) if "setup-python" in step.get("uses", ""))

    assert python == ON_LAMBDA.python


def test_deploying_takes_no_key_of_aws() -> None:
    (credentials,) = (step["with"] for step in steps(DEPLOY) if "credentials" in step.get("uses", ""))

    assert set(credentials) == {"role-to-assume", "aws-region"}
    assert "secrets." not in DEPLOY.read_text()


def test_the_hooks_run_what_make_check_runs() -> None:
    (repository,) = read(ROOT / ".pre-commit-config.yaml")["repos"]
    hooks = " ".join(hook["entry"] for hook in repository["hooks"])
    (check,) = re.findall(r"^check:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)

    assert repository["repo"] == "local"
    for tool in re.findall(r"\$\(BIN\)/(\w+)", check):
        assert f".venv/bin/{tool}" in hooks
