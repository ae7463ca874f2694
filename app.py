"""What the CDK runs to learn what to deploy: ``cdk deploy -c stage=prod``; without a stage it is ``dev``."""

from __future__ import annotations

import sys

import aws_cdk as cdk

from infra.settings import STAGES
from infra.stacks import compose

app = cdk.App()
name = app.node.try_get_context("stage") or "dev"
if name not in STAGES:
    sys.exit(f"There is no stage {name!r}: choose one of {', '.join(STAGES)}.")
compose(app, STAGES[name])
app.synth()
