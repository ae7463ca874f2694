"""Where a stage is deployed (``cdk.json``: account, region, tags, key), and what a stage with data still lacks."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from aws_cdk import App, CfnResource, Environment, Stack

from infra.stage import Stage

SERVICES = ("dynamodb", "lambda", "apigateway", "sqs", "events", "logs", "cloudwatch", "s3")
"""The services that every stage needs, by their names in boto3. Features name theirs (``Option.services``)."""

MOST_RESOURCES = 500
"""https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html"""

NO_SNAPSHOTS = ("ap-east-2", "ap-southeast-6")
"""Regions whose Lambda has no SnapStart: https://docs.aws.amazon.com/lambda/latest/dg/snapstart.html"""

_SETTINGS = ("account", "region", "tags", "key_arn")


def placed(stage: Stage, stages: Mapping[str, Mapping[str, Any]] | None) -> Stage:
    """A stage with what ``cdk.json`` says about it. Raises ValueError for settings that can't be meant."""
    given = (stages or {}).get(stage.name, {})
    if unknown := sorted({*given} - {*_SETTINGS}):
        raise ValueError(
            f"cdk.json has {', '.join(unknown)} for stage {stage.name}: it may have {', '.join(_SETTINGS)}."
        )
    named = given.get("tags", {})
    if not isinstance(named, Mapping):
        said = f'cdk.json must have tags for stage {stage.name} as names with texts: {{"team": "deals"}}.'
        raise ValueError(said)  # noqa: TRY004  # as for every setting
    for key, value in {**given, "tags": "", **named}.items():
        if not isinstance(value, str):
            said = f'cdk.json must have {key} for stage {stage.name} as a text, "{value}", with its quotes.'
            raise ValueError(said)  # noqa: TRY004  # the same
    tags = tuple(sorted(named.items()))
    return replace(
        stage, account=given.get("account"), region=given.get("region"), tags=tags, key_arn=given.get("key_arn")
    )


def refuse(stage: Stage, regions: Callable[[str], Sequence[str]], environment: Mapping[str, str] = os.environ) -> None:
    """Raise ValueError if a stage can't be deployed where it would be. ``regions`` are those of a service.

    The CDK's command line says in ``CDK_DEFAULT_ACCOUNT`` whose credentials it has.
    """
    account = environment.get("CDK_DEFAULT_ACCOUNT")
    if stage.account and account and account != stage.account:
        raise ValueError(
            f"The credentials are those of account {account}, and stage {stage.name} belongs to {stage.account}."
        )
    region = stage.region or environment.get("CDK_DEFAULT_REGION")
    if region is None or stage.emulated:
        return
    if region not in regions("dynamodb"):
        raise ValueError(f"There is no region {region} that boto3 knows.")
    needed = (*SERVICES, *(service for each in stage.options for service in each.services))
    if missing := [each for each in dict.fromkeys(needed) if region not in regions(each)]:
        raise ValueError(f"Stage {stage.name} needs {', '.join(missing)}, which {region} doesn't have.")
    if stage.snap_start and region in NO_SNAPSHOTS:
        raise ValueError(f"Stage {stage.name} has snap_start, and {region} doesn't have Lambda's SnapStart.")


def environment(stage: Stage) -> Environment | None:
    """The environment of a stage's stack; None, for the caller's own, if nothing is said."""
    return Environment(account=stage.account, region=stage.region) if stage.account or stage.region else None


def lacks(stage: Stage) -> list[str]:
    """What a stage that keeps data should have and hasn't: a sentence for each."""
    if not stage.keeps_data:
        return []
    wanted = {
        "account in cdk.json: nothing keeps a deployment from another account": stage.account,
        "region in cdk.json: it is deployed wherever the caller's profile points": stage.region,
        "domain, nor a proxy with a name: its address changes if its API is made anew": stage.origin,
    }
    return [f"{stage.stack_name} has no {what}." for what, has in wanted.items() if not has]


def count(app: App) -> None:
    """Raise ValueError for a stack with more resources than CloudFormation takes."""
    for stack in (each for each in app.node.find_all() if Stack.is_stack(each)):
        own = [each for each in stack.node.find_all() if CfnResource.is_cfn_resource(each) and Stack.of(each) is stack]
        if len(own) > MOST_RESOURCES:
            raise ValueError(
                f"{stack.node.id} would have {len(own)} resources, and CloudFormation takes {MOST_RESOURCES}: "
                "switch a feature off, or checks_bodies or cors_origins."
            )
