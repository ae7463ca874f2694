"""Buckets: private, encrypted, reached over TLS only, and forgetful."""

from __future__ import annotations

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_s3 as s3
from constructs import Construct


class Bucket(s3.Bucket):
    """A bucket whose objects are gone after some days. It outlives its stack, which could not delete a full one."""

    def __init__(self, scope: Construct, construct_id: str, *, days: int) -> None:
        super().__init__(
            scope,
            construct_id,
            encryption=s3.BucketEncryption.S3_MANAGED,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            removal_policy=RemovalPolicy.RETAIN,
            lifecycle_rules=[
                s3.LifecycleRule(
                    expiration=Duration.days(days), abort_incomplete_multipart_upload_after=Duration.days(1)
                )
            ],
        )
