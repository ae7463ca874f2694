"""The CDK app, which composes a stage's stacks: ``cdk deploy -c stage=prod``; the default stage is ``dev``.

``-c first=yes`` leaves a stage's data and stack unprotected, so that a failed first deployment can be repeated.
``-c origin=http://...`` gives the site's origin if the stage can't know it: the local cloud's port may vary.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import aws_cdk as cdk

from infra.settings import STAGES
from infra.stacks import compose
from tools import folders

folders.check()
app = cdk.App()
name = app.node.try_get_context("stage") or "dev"
if name not in STAGES:
    sys.exit(f"There is no stage {name!r}: choose one of {', '.join(STAGES)}.")
stage = STAGES[name]
if origin := app.node.try_get_context("origin"):
    stage = replace(stage, site_origin=origin)
if app.node.try_get_context("first"):
    stage = replace(stage, first=True)
compose(app, stage)
app.synth()
