"""cdk-nag's rules, which a synthesis must keep, and the exceptions from them and from checkov's, each with a reason."""

from __future__ import annotations

import aws_cdk as cdk
import cdk_nag
from constructs import IConstruct

PACKS = ("AwsSolutions", "Serverless")
"""The packs of rules. A rule's name begins with its pack's."""

CHECKOV = "CKV"
"""What the names of checkov's rules begin with."""


def require(app: cdk.App) -> None:
    """Let every synthesis of an app fail that breaks a rule of these packs."""
    cdk.Validations.of(app).add_plugins(cdk_nag.AwsSolutionsChecks(app), cdk_nag.ServerlessChecks(app))


def accept(construct: IConstruct, reason: str, *rules: str) -> None:
    """Accept, for a reason, that a construct breaks rules; cdk-nag's rules, on everything within it too.

    One of several findings of a rule is named by what its brackets hold: ``AwsSolutions-IAM5[Resource::*]``. checkov
    reads what is accepted from the resource's metadata in the template. Raises ValueError for a rule of neither.
    """
    acknowledged = []
    skipped = []
    for rule in rules:
        pack = rule.partition("-")[0]
        if pack in PACKS:
            acknowledged.append(cdk.Acknowledgment(id=f"{pack}::{rule}", reason=reason))
        elif rule.startswith(CHECKOV):
            skipped.append({"id": rule, "comment": reason})
        else:
            raise ValueError(f"{rule} must be a rule of cdk-nag's packs or of checkov")
    if acknowledged:
        cdk.Validations.of(construct).acknowledge(*acknowledged)
    if skipped:
        _skip(construct, skipped)


def _skip(construct: IConstruct, skipped: list[dict[str, str]]) -> None:
    resource = construct if cdk.CfnResource.is_cfn_resource(construct) else construct.node.default_child
    assert isinstance(resource, cdk.CfnResource)  # noqa: S101  # every construct we accept something of is one resource
    earlier = (resource.get_metadata("checkov") or {"skip": []})["skip"]
    resource.add_metadata("checkov", {"skip": [*earlier, *skipped]})
