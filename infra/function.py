"""One function: its artifact, its role and its log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import AssetHashType, Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.bundling import handler_of

if TYPE_CHECKING:
    from infra.bundling import Artifact
    from infra.settings import Stage
    from infra.table import Access, DealsTable

NAMESPACE = "BigTimeDeals"
"""Where the functions' metrics are found in CloudWatch."""


class PythonFunction(Construct):
    """A Lambda function of a module of ``functions/``, allowed one access to the table.

    ``timeout`` is in seconds, ``memory`` in MiB (a full processor comes at 1,769).
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        module: str,
        artifact: Artifact,
        stage: Stage,
        table: DealsTable,
        access: Access,
        timeout: int = 10,
        memory: int = 512,
    ) -> None:
        super().__init__(scope, construct_id)
        log = logs.LogGroup(
            self,
            "Log",
            retention=_retention(stage.log_retention_days),
            removal_policy=RemovalPolicy.RETAIN if stage.keeps_data else RemovalPolicy.DESTROY,
        )
        # Not the managed policy that CDK would attach: it may create and write every log of the account.
        role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        log.grant_write(role)
        table.grant(role, access)
        self.function = lambda_.Function(
            self,
            "Function",
            description=f"Big Time Deals: {module}",
            runtime=lambda_.Runtime(f"python{stage.target.python}", lambda_.RuntimeFamily.PYTHON),
            architecture=_architecture(stage.target.architecture),
            handler=handler_of(module),
            code=lambda_.Code.from_asset(
                str(artifact.path), asset_hash=artifact.digest, asset_hash_type=AssetHashType.CUSTOM
            ),
            role=role,
            log_group=log,
            timeout=Duration.seconds(timeout),
            memory_size=memory,
            environment={
                "TABLE_NAME": table.name,
                "STAGE": stage.name,
                "LOG_LEVEL": stage.log_level,
                "POWERTOOLS_SERVICE_NAME": module,
                "POWERTOOLS_METRICS_NAMESPACE": NAMESPACE,
                **({"BEHIND_CDN": "true"} if stage.cdn else {}),
            },
        )


def _architecture(name: str) -> lambda_.Architecture:
    return lambda_.Architecture.ARM_64 if name == "arm64" else lambda_.Architecture.X86_64


def _retention(days: int) -> logs.RetentionDays:
    return {
        1: logs.RetentionDays.ONE_DAY,
        7: logs.RetentionDays.ONE_WEEK,
        30: logs.RetentionDays.ONE_MONTH,
        90: logs.RetentionDays.THREE_MONTHS,
    }[days]
