"""A site's name in a hosted zone of Route 53, which its owner made: the zone isn't the stack's."""

from __future__ import annotations

from collections.abc import Iterable

from aws_cdk import aws_route53 as route53
from constructs import Construct


def alias(scope: Construct, zone_id: str, name: str, *, kinds: Iterable[str], target: str, target_zone_id: str) -> None:
    """Add a record of each kind (A, AAAA) that leads from a name to one of AWS's services."""
    for kind in kinds:
        route53.CfnRecordSet(
            scope,
            f"Name{kind}",
            hosted_zone_id=zone_id,
            name=name,
            type=kind,
            alias_target=route53.CfnRecordSet.AliasTargetProperty(dns_name=target, hosted_zone_id=target_zone_id),
        )
