"""What is checked before a deployment: templates by cdk-nag, checkov and SAM, and the workflows that run it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
import yaml
from aws_cdk import aws_sqs as sqs

from infra import nag, stacks
from infra.bundling import bundle
from infra.nag import PACKS, Acceptance, accept, require
from infra.settings import STAGES
from infra.stacks import DealsStack
from infra.stage import ON_LAMBDA, lambda_target
from local.settings import ROOT
from tests.infra.conftest import FLAGS, UNCOPIED, VARIANTS, Assembly
from tools.audit import Audited, of_npm, of_pip

ACKNOWLEDGED = "aws:cdk:acknowledged-rules"

each_variant = pytest.mark.parametrize("variant", VARIANTS)

ON_AWS = [name for name, stage in VARIANTS.items() if not stage.emulated]
"""The variants that AWS gets, which the slow checks look at."""


@pytest.fixture
def app(tmp_path: Path) -> cdk.App:
    """An app that is checked, with an empty stack."""
    app = cdk.App(outdir=str(tmp_path))
    cdk.Stack(app, "Stack")
    require(app)
    return app


def stack_of(app: cdk.App) -> cdk.Stack:
    stack = app.node.find_child("Stack")
    assert isinstance(stack, cdk.Stack)
    return stack


def test_what_is_accepted_passes_and_nothing_beside_it(app: cdk.App) -> None:
    first = sqs.Queue(stack_of(app), "First")
    rules = ("AwsSolutions-SQS3", "AwsSolutions-SQS4", "Serverless-SQSRedrivePolicy")
    accept(first, Acceptance("A test has it.", *rules))
    app.synth()

    sqs.Queue(stack_of(app), "Second", enforce_ssl=True)

    with pytest.raises(RuntimeError, match="Stack/Second"):
        app.synth(force=True)


def test_a_rule_that_no_check_has_cannot_be_accepted(app: cdk.App) -> None:
    queue = sqs.Queue(stack_of(app), "Queue")

    with pytest.raises(ValueError, match="SQS3"):
        accept(queue, Acceptance("A test has it.", "SQS3"))


@each_variant
def test_a_synthesis_finds_nothing_not_even_to_warn_of(assemblies: Callable[[str], Assembly], variant: str) -> None:
    reports = assemblies(variant).reports()

    # The CDK's own checks report, too, where they have something to say.
    assert set(reports) >= set(PACKS)
    for report in reports.values():
        found = [(each["ruleName"], each["violatingConstructs"]) for each in report["violations"]]
        # What a stage with data lacks is said on purpose (places.lacks).
        assert [each for each in found if not each[0].startswith("Annotation::lack-")] == []


@each_variant
def test_every_accepted_rule_of_cdk_nag_would_have_been_broken(
    assemblies: Callable[[str], Assembly], variant: str
) -> None:
    assembly = assemblies(variant)
    accepted = {
        (construct.node.path, rule)
        for construct in assembly.app.node.find_all()
        for entry in construct.node.metadata
        if entry.type == ACKNOWLEDGED
        for rule in entry.data
    }

    needed = {
        (each["acknowledgedAt"], each["acknowledgedId"])
        for report in assembly.reports().values()
        for each in report.get("suppressedViolations", [])
    }

    assert accepted == needed


@pytest.mark.parametrize("python", ["3.12", "3.13"])
def test_a_stage_may_name_an_older_python(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, python: str) -> None:
    """Its artifacts are those of the newest one here: cdk-nag does not look into them."""
    monkeypatch.setattr(stacks, "bundle", lambda name, _: bundle(name, ON_LAMBDA))
    stage = replace(STAGES["prod"], target=lambda_target(python, "x86_64"))
    app = cdk.App(outdir=str(tmp_path), context=UNCOPIED)
    stacks.compose(app, stage)

    app.synth()  # which fails on any finding

    template = Assembly(tmp_path, app).main(stage)
    assert {each["Runtime"] for each in template.all("AWS::Lambda::Function")} == {f"python{python}"}


def test_every_acceptance_is_used_and_ends_its_sentence() -> None:
    code = "".join(file.read_text() for file in (ROOT / "infra").rglob("*.py") if file.stem != "nag")
    declared = {name: each for name, each in vars(nag).items() if isinstance(each, Acceptance)}

    assert [name for name in declared if f"nag.{name}" not in code] == []
    assert all(each.reason.endswith(".") for each in declared.values())


@pytest.mark.thorough
@pytest.mark.parametrize("variant", ON_AWS)
def test_cfn_lint_finds_nothing(assemblies: Callable[[str], Assembly], variant: str) -> None:
    # Imported here: cfn-lint loads its rules, which takes seconds.
    from cfnlint.api import lint_file  # noqa: PLC0415
    from cfnlint.config import ManualArgs  # noqa: PLC0415

    options = ManualArgs(regions=["us-east-1", "eu-central-1"], ignore_checks=[*nag.CFN_LINT])

    assert [str(each) for file in assemblies(variant).templates for each in lint_file(file, options)] == []


@pytest.fixture(scope="module")
def checked(assemblies: Callable[[str], Assembly], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Checkov's findings on all templates for AWS, checked at once: most of its time is its start."""
    folder = tmp_path_factory.mktemp("templates")
    for variant in ON_AWS:
        for template in assemblies(variant).templates:
            shutil.copy(template, folder)
    subprocess.run(["make", "--silent", "checkov"], cwd=ROOT, check=True, timeout=1800)
    done = subprocess.run(
        [
            *(ROOT / ".venv-checkov" / "bin" / "checkov", "--directory", folder),
            *("--framework", "cloudformation", "--output", "json", "--skip-download"),
        ],
        check=False,
        capture_output=True,
        text=True,
        timeout=1800,
        env={"PATH": os.environ["PATH"], "CKV_SKIP_PACKAGE_UPDATE_CHECK": "true"},
    )
    assert done.stdout, done.stderr
    results: dict[str, Any] = json.loads(done.stdout)["results"]
    return results


@pytest.mark.thorough
def test_checkov_finds_nothing(checked: dict[str, Any]) -> None:
    assert checked["parsing_errors"] == []
    assert [(each["check_id"], each["resource"], each["file_path"]) for each in checked["failed_checks"]] == []


@pytest.mark.thorough
def test_every_accepted_rule_of_checkov_would_have_been_broken(
    assemblies: Callable[[str], Assembly], checked: dict[str, Any]
) -> None:
    skipped = {(Path(each["file_path"]).name, each["resource"], each["check_id"]) for each in checked["skipped_checks"]}

    accepted = {
        (template.name, resource, skip["id"])
        for variant in ON_AWS
        for template in assemblies(variant).templates
        for resource, skip in _skips(json.loads(template.read_text()))
    }

    assert accepted == skipped


def _skips(template: dict[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    for name, resource in template["Resources"].items():
        for skip in resource.get("Metadata", {}).get("checkov", {}).get("skip", []):
            yield f"{resource['Type']}.{name}", skip


REFUSED = {"@aws-cdk/aws-iam:minimizePolicies", "@aws-cdk/core:enablePartitionLiterals"}
"""Flags that the CDK recommends and docs/decisions.md refuses."""


def test_every_flag_that_the_cdk_recommends_is_set_or_refused() -> None:
    (package,) = files("aws_cdk._jsii").glob("*.tgz")  # type: ignore[attr-defined]  # a folder
    with tarfile.open(package) as contents:
        found = contents.extractfile("package/recommended-feature-flags.json")
        assert found is not None
        recommended = json.load(found)

    assert recommended | dict.fromkeys(REFUSED, False) == FLAGS
    decisions = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8")
    assert all(name.rpartition(":")[2] in decisions for name in REFUSED)


SAM = ROOT / ".venv-sam" / "bin" / "sam"

WITH_PLACES = {**FLAGS, "aws:cdk:enable-asset-metadata": True}
"""The CDK command line's settings by which templates tell SAM where the code is."""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The template of the stage dev, as ``make synth`` writes it."""
    folder = tmp_path_factory.mktemp("cdk.out")
    app = cdk.App(outdir=str(folder), context=WITH_PLACES, builtin_cloud_formation_validation=False)
    DealsStack(app, stage=STAGES["dev"])
    app.synth()
    return folder / "BigTimeDeals-dev.template.json"


@pytest.mark.thorough
def test_sam_finds_the_template_valid(template: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [SAM, "validate", "--lint", "--region", "us-east-1", "--template", template],
        check=False,
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SAM_CLI_TELEMETRY": "0"},
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "is a valid SAM Template" in done.stdout


@pytest.mark.thorough
def test_the_readme_names_a_template_a_function_and_an_event_that_there_are(template: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    ((named, function, event),) = re.findall(r"sam local invoke -t cdk\.out/(\S+) (\S+) -e (\S+)", readme)

    assert named == template.name
    assert json.loads(template.read_text())["Resources"][function]["Type"] == "AWS::Lambda::Function"
    assert (ROOT / event).exists()


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CI = ROOT / ".github" / "workflows" / "ci.yml"
DEPLOY = ROOT / ".github" / "workflows" / "deploy.yml"

MOST = {"actions": "read", "contents": "read", "id-token": "write", "pages": "write"}
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


def test_a_deployment_is_watched_and_probed_and_what_was_there_before_is_deployed_again_if_that_fails() -> None:
    done = read(DEPLOY)["jobs"]["deploy"]["steps"]
    deploys = [n for n, step in enumerate(done) if "cdk deploy" in step.get("run", "")]
    watched, probed = [n for n, step in enumerate(done) if step.get("id") in ("alarms", "probe")]
    (noted,) = [n for n, step in enumerate(done) if "> ringing-before.txt" in step.get("run", "")]
    again = done[deploys[-1]]

    assert noted < deploys[0] < watched < probed < deploys[1]
    assert "--state-value ALARM" in done[watched]["run"]
    assert done[probed]["run"].endswith(f"probe || test $? -eq {UNTESTED}")
    # Only if one of the two failed: if the deployment itself fails, CloudFormation has gone back already.
    assert again["if"] == "failure() && (steps.alarms.outcome == 'failure' || steps.probe.outcome == 'failure')"
    # Runs are told apart by their stage, and what is deployed again has been deployed with success.
    assert read(DEPLOY)["run-name"] == "deploy ${{ inputs.stage }}"
    assert 'displayTitle == \\"deploy $STAGE\\"' in again["run"]
    assert "--status success" in again["run"]


UNTESTED = 3
"""The exit code of a probe that AWS didn't let ask."""


@pytest.mark.thorough
def test_the_command_line_runs_where_nothing_is_installed() -> None:
    subprocess.run(["make", "--silent", "portable", f"FOR={sys.executable}"], cwd=ROOT, check=True, timeout=600)

    done = subprocess.run(
        [sys.executable, "-S", "-c", "import cli; cli.start()", "--help"],  # without this environment's packages
        cwd=ROOT / "build" / "btd",
        check=False,
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "build" / "btd")},
    )

    assert done.returncode == 0, done.stderr


def test_what_deploys_runs_the_functions_own_python() -> None:
    (python,) = (step["with"]["python-version"] for step in steps(DEPLOY) if "setup-python" in step.get("uses", ""))

    assert python == ON_LAMBDA.python


def test_nothing_is_deployed_that_the_tests_have_not_passed() -> None:
    jobs = read(DEPLOY)["jobs"]

    assert (jobs["deploy"]["needs"], jobs["build"]["needs"]) == ("build", "test")
    assert jobs["test"] == {"uses": "./.github/workflows/ci.yml"}
    assert "workflow_call" in read(CI)["on"]
    assert "bash .ci/run" in [step.get("run") for step in steps(CI)]


@each_workflow
def test_no_package_is_installed_in_a_job_that_can_have_a_token(file: Path) -> None:
    trusted = [job for job in read(file)["jobs"].values() if "id-token" in job.get("permissions", {})]

    commands = [step["run"] for job in trusted for step in job["steps"] if "run" in step]
    used = [step["uses"].partition("@")[0] for job in trusted for step in job["steps"] if "uses" in step]

    assert not [each for each in commands if re.search(r"\b(make|pip|npm|npx|uv)\b", each)]
    assert not {"actions/checkout", "actions/setup-python"} & {*used}


def test_dependabot_sees_each_lock_and_the_actions() -> None:
    updates = read(ROOT / ".github" / "dependabot.yml")["updates"]

    seen = {
        (each["package-ecosystem"], folder)
        for each in updates
        for folder in each.get("directories") or [each["directory"]]
    }

    assert seen == {("pip", "/requirements"), ("npm", "/"), ("npm", "/demo"), ("github-actions", "/")}
    assert all((ROOT / folder.strip("/") / "package-lock.json").exists() for kind, folder in seen if kind == "npm")


PACKAGE = {"name": "a", "version": "1", "vulns": []}
ANSWERS: dict[str, tuple[Audited, bool]] = {
    "a vulnerability": (of_pip("x", {"dependencies": [PACKAGE | {"vulns": [{"id": "CVE-1"}]}]}), True),
    "a package that isn't known": (of_pip("x", {"dependencies": [{"name": "a", "skip_reason": "not found"}]}), True),
    "no feed": (of_pip("x", {"message": "connection refused"}), True),
    "nothing": (of_pip("x", {"dependencies": [PACKAGE]}), False),
    "a vulnerability of Node's": (of_npm("x", {"vulnerabilities": {"a": {"severity": "high"}}}), True),
    "no feed of Node's": (of_npm("x", {"message": "405 Method Not Allowed"}), True),
    "nothing of Node's": (of_npm("x", {"vulnerabilities": {}}), False),
}


@pytest.mark.parametrize(("audited", "fails"), ANSWERS.values(), ids=ANSWERS)
def test_what_was_not_audited_is_no_success(audited: Audited, fails: bool) -> None:  # a case
    assert bool(audited.known or audited.unknown) is fails


@pytest.mark.thorough
def test_the_list_of_what_an_artifact_is_made_of_is_its_lock(tmp_path: Path) -> None:
    subprocess.run(["make", "--silent", "sbom"], cwd=ROOT, check=True, timeout=1800)

    for name in ("lambda-lean", "lambda-full"):
        bom = json.loads((ROOT / "build" / "sbom" / f"{name}.cdx.json").read_text())
        locked = re.findall(r"^([\w-]+)==([\w.]+)", (ROOT / "requirements" / f"{name}.txt").read_text(), re.MULTILINE)

        assert bom["bomFormat"] == "CycloneDX"
        assert sorted((each["name"], each["version"]) for each in bom["components"]) == sorted(locked)


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
    credentials = [step["with"] for step in steps(DEPLOY) if "credentials" in step.get("uses", "")]

    assert credentials
    assert all(set(each) == {"role-to-assume", "aws-region"} for each in credentials)
    assert "secrets." not in DEPLOY.read_text()


def test_the_hooks_run_what_make_check_runs() -> None:
    (repository,) = read(ROOT / ".pre-commit-config.yaml")["repos"]
    hooks = " ".join(hook["entry"] for hook in repository["hooks"])
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^([a-z]+):([^#\n]*).*\n((?:\t.*\n)*)", makefile, re.MULTILINE)
    needed = {name: needs.split() for name, needs, _ in targets}["check"]
    recipes = "".join(recipe for name, _, recipe in targets if name in ("check", *needed))

    tools = set(re.findall(r"\$\(BIN\)/(python -m [\w.]+|\w+)", recipes))

    assert repository["repo"] == "local"
    assert tools >= {"ruff", "python -m tools.roles"}
    for tool in tools:
        assert f".venv/bin/{tool}" in hooks
