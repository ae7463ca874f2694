"""The workflows of GitHub and the hooks of pre-commit: what they run is there, and nobody else can change it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra.settings import ON_LAMBDA, STAGES
from local.settings import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CI = ROOT / ".github" / "workflows" / "ci.yml"
DEPLOY = ROOT / ".github" / "workflows" / "deploy.yml"

MOST = {"contents": "read", "id-token": "write", "pages": "write"}
"""Permissions that a job may have."""

each_workflow = pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)


def read(file: Path) -> Any:
    # In YAML 1.1 "on" means true; the base loader leaves it as text.
    return yaml.load(file.read_text(), Loader=yaml.BaseLoader)


def steps(file: Path) -> list[dict[str, Any]]:
    return [step for job in read(file)["jobs"].values() for step in job.get("steps", ())]


@each_workflow
def test_every_action_is_named_by_its_commit(file: Path) -> None:
    used = [step["uses"] for step in steps(file) if "uses" in step]
    whole = [job["uses"] for job in read(file)["jobs"].values() if "uses" in job]

    assert used
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action) for action in used)
    assert all((ROOT / other).is_file() for other in whole)  # of this very commit


@each_workflow
def test_no_input_is_written_into_a_command(file: Path) -> None:
    assert not any("${{" in step.get("run", "") for step in steps(file))


@each_workflow
def test_a_workflow_only_reads_unless_a_job_says_more(file: Path) -> None:
    workflow = read(file)

    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert job.get("permissions", {}).items() <= MOST.items()


def test_the_stages_that_can_be_deployed_are_those_of_the_settings() -> None:
    options = read(DEPLOY)["on"]["workflow_dispatch"]["inputs"]["stage"]["options"]

    assert set(options) == set(STAGES) - {"local"}


def test_what_deploys_runs_the_functions_own_python() -> None:
    (python,) = (step["with"]["python-version"] for step in steps(DEPLOY) if "setup-python" in step.get("uses", ""))

    assert python == ON_LAMBDA.python


def test_nothing_is_deployed_that_the_tests_have_not_passed() -> None:
    jobs = read(DEPLOY)["jobs"]

    assert jobs["deploy"]["needs"] == "test"
    assert jobs["test"] == {"uses": "./.github/workflows/ci.yml"}
    assert "workflow_call" in read(CI)["on"]
    assert "bash .ci/run" in [step.get("run") for step in steps(CI)]


def test_the_tests_before_one_deployment_do_not_cancel_those_before_another() -> None:
    """A called workflow has its caller's ``github``, and a group counts in the whole repository.

    https://docs.github.com/en/actions/reference/workflows-and-actions/reusing-workflow-configurations
    https://docs.github.com/en/actions/how-tos/write-workflows/choose-when-workflows-run/control-workflow-concurrency
    """

    def group(event_name: str, run_id: int) -> str:
        (chosen,) = re.findall(r"\$\{\{ github.event_name == '(\w+)' && github.ref \|\| github.run_id \}\}", stated)
        return str("refs/pull/1/merge" if event_name == chosen else run_id)

    stated = read(CI)["concurrency"]["group"]

    assert group("workflow_dispatch", 1) != group("workflow_dispatch", 2)
    assert group("pull_request", 1) == group("pull_request", 2)  # a newer commit needs no tests of the one before


def test_the_role_trusts_one_environment_of_one_repository() -> None:
    """docs.github.com/en/actions/how-tos/secure-your-work/security-harden-deployments/oidc-in-aws names the claims."""
    (statement,) = policies()[0]["Statement"]

    assert statement["Action"] == "sts:AssumeRoleWithWebIdentity"
    assert statement["Principal"]["Federated"].endswith(":oidc-provider/token.actions.githubusercontent.com")
    assert set(statement["Condition"]) == {"StringEquals"}  # and nothing by a pattern, which forks might fit
    claims = statement["Condition"]["StringEquals"]
    assert claims["token.actions.githubusercontent.com:aud"] == "sts.amazonaws.com"
    assert re.fullmatch(r"repo:[\w-]+/[\w-]+:environment:prod", claims["token.actions.githubusercontent.com:sub"])


def test_the_role_may_take_on_the_cdks_roles_and_nothing_else() -> None:
    (statement,) = policies()[1]["Statement"]

    assert (statement["Effect"], statement["Action"]) == ("Allow", "sts:AssumeRole")
    assert all(":role/cdk-hnb659fds-" in resource for resource in statement["Resource"])
    assert statement["Condition"]["StringEquals"] == {"aws:ResourceAccount": "${aws:PrincipalAccount}"}


def policies() -> list[dict[str, Any]]:
    """The policies of the role that deploys, as docs/deploying.md gives them: who may assume it, and what it may do."""
    text = (ROOT / "docs" / "deploying.md").read_text()
    return [json.loads(block) for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL)]


def test_deploying_takes_no_key_of_aws() -> None:
    (credentials,) = (step["with"] for step in steps(DEPLOY) if "credentials" in step.get("uses", ""))

    assert set(credentials) == {"role-to-assume", "aws-region"}
    assert "secrets." not in DEPLOY.read_text()


def test_the_hooks_run_what_make_check_runs() -> None:
    (repository,) = read(ROOT / ".pre-commit-config.yaml")["repos"]
    hooks = " ".join(hook["entry"] for hook in repository["hooks"])
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^([a-z]+):([^#\n]*).*\n((?:\t.*\n)*)", makefile, re.MULTILINE)
    needed = {name: needs.split() for name, needs, _ in targets}["check"]
    recipes = "".join(recipe for name, _, recipe in targets if name in ("check", *needed))

    tools = set(re.findall(r"\$\(BIN\)/(\w+)", recipes))

    assert repository["repo"] == "local"
    assert tools >= {"ruff", "mypy"}
    for tool in tools:
        assert f".venv/bin/{tool}" in hooks
