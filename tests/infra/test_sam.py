"""The template as SAM takes it: valid, and with what the README names."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

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
    app = cdk.App(outdir=str(folder), context=WITH_PLACES, builtin_cloud_formation_validation=False)
    DealsStack(app, stage=STAGES["dev"])
    app.synth()
    return folder / "BigTimeDeals-dev.template.json"


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


def test_the_readme_names_a_template_a_function_and_an_event_that_there_are(template: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    ((named, function, event),) = re.findall(r"sam local invoke -t cdk\.out/(\S+) (\S+) -e (\S+)", readme)

    assert named == template.name
    assert json.loads(template.read_text())["Resources"][function]["Type"] == "AWS::Lambda::Function"
    assert (ROOT / event).exists()
