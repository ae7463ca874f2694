"""The CDK app, which composes a stage's stacks: ``cdk deploy -c stage=prod``; the default stage is ``dev``.

``-c first=yes`` leaves a stage's data and stack unprotected, so that a failed first deployment can be repeated.
``-c uncompiled=yes`` takes a stage without byte code where Python is not the target's. Account, region and tags of a
stage are in ``cdk.json``.
``-c origin=http://...`` gives the site's origin if the stage can't know it: the local cloud's port may vary.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import aws_cdk as cdk

from infra.stage import Stage
from tools import folders

folders.check()  # what follows is made of the features' parts
try:
    from infra import places
    from infra.bundling import compiler
    from infra.settings import STAGES
    from infra.stacks import compose
    from shared.services import regions
except ValueError as error:  # settings that don't fit together
    sys.exit(f"infra/settings.py: {error}")


def chosen(app: cdk.App) -> Stage:
    """The stage to deploy. Raises ValueError for one that can't be meant."""
    name = app.node.try_get_context("stage") or "dev"
    if name not in STAGES:
        raise ValueError(f"There is no stage {name!r}: choose one of {', '.join(STAGES)}.")
    given = app.node.try_get_context("stages") or {}
    if unknown := sorted({*given} - {*STAGES}):
        raise ValueError(f"cdk.json has a stage {unknown[0]!r}, which infra/settings.py doesn't have.")
    stage = places.placed(STAGES[name], given)
    if origin := app.node.try_get_context("origin"):
        stage = replace(stage, site_origin=origin)
    if first := app.node.try_get_context("first"):
        if first != "yes":
            raise ValueError(f"-c first={first} isn't known: it is yes, or left out.")
        stage = replace(stage, first=True)
    if stage.keeps_data and compiler(stage.target.python) is None and not app.node.try_get_context("uncompiled"):
        python = stage.target.python
        raise ValueError(
            f"There is no Python {python} here to compile stage {name}'s byte code with, and without it each function "
            f"starts in twice the time: install it (.venv/bin/uv python install {python}), or add -c uncompiled=yes."
        )
    places.refuse(stage, regions)
    return stage


app = cdk.App()
try:
    compose(app, chosen(app))
    places.count(app)
except ValueError as error:
    sys.exit(str(error))
except Exception as error:
    if fault := folders.sentence(error):
        sys.exit(fault)
    raise
app.synth()
