"""The template as SAM takes it: valid, with functions whose code and handlers are where it says."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest

from infra.settings import STAGES
from infra.stacks import DealsStack

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.thorough

SAM = ROOT / ".venv-sam" / "bin" / "sam"

WITH_PLACES = {"aws:cdk:enable-asset-metadata": True}
"""The CDK command line's settings by which templates tell SAM where the code is."""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The template of the stage dev, as ``make synth`` writes it."""
    folder = tmp_path_factory.mktemp("cdk.out")
    app = cdk.App(outdir=str(folder), context=WITH_PLACES)
    DealsStack(app, stage=STAGES["dev"])
    app.synth()
    return folder / "BigTimeDeals-dev.template.json"


@pytest.fixture(scope="module")
def functions(template: Path) -> dict[str, dict[str, Any]]:
    """The template's functions, by logical id."""
    resources: dict[str, dict[str, Any]] = json.loads(template.read_text())["Resources"]
    return {name: each for name, each in resources.items() if each["Type"] == "AWS::Lambda::Function"}


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


def test_each_functions_handler_is_in_its_code(template: Path, functions: dict[str, dict[str, Any]]) -> None:
    assert len(functions) >= 10
    for name, function in functions.items():
        code = template.parent / function["Metadata"]["aws:asset:path"]
        start, _, handler = function["Properties"]["Handler"].rpartition(".")
        for module in (start, function["Properties"]["Environment"]["Variables"]["FUNCTION"]):
            place = code / module.replace(".", "/")
            file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
            tree = ast.parse(file.read_text(encoding="utf-8"))
            defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
            assigned = (target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets)
            defined |= {target.id for target in assigned if isinstance(target, ast.Name)}
            assert handler in defined, name


def test_the_readme_names_a_template_a_function_and_an_event_that_there_are(
    template: Path, functions: dict[str, dict[str, Any]]
) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    ((named, function, event),) = re.findall(r"sam local invoke -t cdk\.out/(\S+) (\S+) -e (\S+)", readme)

    assert named == template.name
    assert function in functions
    assert (ROOT / event).exists()
