"""Buckets: private, encrypted, reached over TLS only, and forgetful."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_s3 as s3
from constructs import Construct

A_DAY = Duration.days(1)


class Bucket(s3.Bucket):
    """A bucket whose objects go by some rules. It outlives its stack, which could not delete a full one, but not a
    deployment that fails to make it."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *rules: s3.LifecycleRule,
        cors: Sequence[s3.CorsRule] | None = None,
        tls: bool = True,
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            encryption=s3.BucketEncryption.S3_MANAGED,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            enforce_ssl=tls,
            minimum_tls_version=1.2 if tls else None,
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
            lifecycle_rules=[*rules],
            cors=cors,
        )


def gone_after(days: int) -> s3.LifecycleRule:
    """The rule for objects that are gone after some days."""
    return s3.LifecycleRule(expiration=Duration.days(days), abort_incomplete_multipart_upload_after=A_DAY)
