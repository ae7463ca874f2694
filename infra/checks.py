"""cdk-nag's rules, which a synthesis must keep, and how something is accepted that breaks one (``acceptances.py``)."""

from __future__ import annotations

import aws_cdk as cdk
import cdk_nag
from constructs import IConstruct

from infra.acceptances import Acceptance

PACKS = ("AwsSolutions", "Serverless")
"""The packs of rules. A rule's name begins with its pack's."""

CHECKOV = "CKV"
"""The beginning of the names of checkov's rules."""


def require(app: cdk.App) -> None:
    """Let every synthesis of an app fail that breaks a rule of these packs."""
    cdk.Validations.of(app).add_plugins(cdk_nag.AwsSolutionsChecks(app), cdk_nag.ServerlessChecks(app))


def accept(construct: IConstruct, *acceptances: Acceptance) -> None:
    """Accept that a construct breaks rules; cdk-nag's rules, on everything within it too.

    checkov reads it from the resource's metadata in the template. Raises ValueError for a rule of neither.
    """
    for reason, rule in ((each.reason, rule) for each in acceptances for rule in each.rules):
        pack = rule.partition("-")[0]
        if pack in PACKS:
            cdk.Validations.of(construct).acknowledge(cdk.Acknowledgment(id=f"{pack}::{rule}", reason=reason))
        elif rule.startswith(CHECKOV):
            resource = construct if cdk.CfnResource.is_cfn_resource(construct) else construct.node.default_child
            assert isinstance(resource, cdk.CfnResource)  # noqa: S101  # all that we accept something of is one resource
            earlier = (resource.get_metadata("checkov") or {"skip": []})["skip"]
            resource.add_metadata("checkov", {"skip": [*earlier, {"id": rule, "comment": reason}]})
        else:
            raise ValueError(f"{rule} must be a rule of cdk-nag's packs or of checkov")
