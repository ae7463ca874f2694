"""What the CDK runs to learn what to deploy: ``cdk deploy -c stage=prod``; without a stage it is ``dev``."""

from __future__ import annotations

import sys

import aws_cdk as cdk

from infra.cdn import CdnStack
from infra.checks import require
from infra.settings import STAGES
from infra.stacks import DealsStack

app = cdk.App()
name = app.node.try_get_context("stage") or "dev"
if name not in STAGES:
    sys.exit(f"There is no stage {name!r}: choose one of {', '.join(STAGES)}.")
stage = STAGES[name]
deals = DealsStack(app, stage=stage)
if stage.cdn and deals.origin_secret:
    CdnStack(app, stage=stage, cdn=stage.cdn, api=deals.rest_api, secret=deals.origin_secret)
require(app)
app.synth()
