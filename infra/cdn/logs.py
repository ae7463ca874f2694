"""CloudFront's access log: standard logging, version 2, to a bucket that only its delivery writes to."""

from __future__ import annotations

from aws_cdk import Aws
from aws_cdk import aws_cloudfront as cloudfront
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra import acceptances
from infra.buckets import Bucket, gone_after
from infra.checks import accept
from infra.settings import Stage

LOGGED = (
    *("date", "time", "x-edge-location", "x-edge-request-id", "c-ip", "cs-method", "cs-uri-stem", "sc-status"),
    *("sc-bytes", "cs-bytes", "time-taken", "time-to-first-byte", "x-edge-result-type", "ssl-protocol"),
)
"""The fields of a request that are logged: neither its cookies nor its query."""


def log_accesses(scope: Construct, stage: Stage, distribution: cloudfront.Distribution) -> None:
    """Log a distribution's requests for as long as the stage keeps logs."""
    bucket = Bucket(scope, "Log", gone_after(stage.log_retention_days))
    source = f"arn:{Aws.PARTITION}:logs:{Aws.REGION}:{Aws.ACCOUNT_ID}:delivery-source:*"
    bucket.add_to_resource_policy(
        iam.PolicyStatement(
            principals=[iam.ServicePrincipal("delivery.logs.amazonaws.com")],
            actions=["s3:PutObject"],
            resources=[bucket.arn_for_objects(f"AWSLogs/{Aws.ACCOUNT_ID}/*")],
            conditions={
                "StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID},
                "ArnLike": {"aws:SourceArn": source},
            },
        )
    )
    delivery_source = logs.CfnDeliverySource(
        scope,
        "LogSource",
        name=f"{stage.stack_name}-access",
        log_type="ACCESS_LOGS",
        resource_arn=distribution.distribution_arn,
    )
    destination = logs.CfnDeliveryDestination(
        scope,
        "LogDestination",
        name=f"{stage.stack_name}-access",
        destination_resource_arn=bucket.bucket_arn,
        output_format="json",
    )
    delivery = logs.CfnDelivery(
        scope,
        "LogDelivery",
        delivery_source_name=delivery_source.name,
        delivery_destination_arn=destination.attr_arn,
        record_fields=list(LOGGED),
    )
    delivery.add_resource_dependency(delivery_source)
    accept(bucket, acceptances.LOGS_OF_LOGS)
    if bucket.policy is not None:
        destination.node.add_dependency(bucket.policy)
