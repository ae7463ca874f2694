"""One function: its artifact, its role and its log."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from aws_cdk import AssetHashType, Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.artifacts.bundling import HANDLER
from infra.checks import accept
from infra.functions import variables
from infra.logs import Log

if TYPE_CHECKING:
    from infra.artifacts.bundling import Artifact
    from infra.functions import Function
    from infra.settings import Stage
    from infra.table import DealsTable

TRACING_IS_A_SETTING = (
    "X-Ray is a setting of the stage, for $5 per million traces. Logs with correlation ids, metrics and alarms tell "
    "without it what is slow and what fails."
)


class PythonFunction(Construct):
    """A Lambda function, made of its row in ``functions.py``."""

    def __init__(
        self,
        scope: Construct,
        row: Function,
        *,
        artifact: Artifact,
        stage: Stage,
        table: DealsTable,
    ) -> None:
        super().__init__(scope, row.construct_id)
        self.row = row
        log = Log(self, "Log", stage=stage)
        # Not the managed policy that CDK would attach: it may create and write every log of the account.
        role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        log.grant_write(role)
        table.grant(role, row.access)
        self.function = lambda_.Function(
            self,
            "Function",
            description=f"Big Time Deals: {row.name}",
            runtime=lambda_.Runtime(f"python{stage.target.python}", lambda_.RuntimeFamily.PYTHON),
            architecture=_architecture(stage.target.architecture),
            handler=HANDLER,
            code=lambda_.Code.from_asset(
                str(artifact.path), asset_hash=artifact.digest, asset_hash_type=AssetHashType.CUSTOM
            ),
            role=role,
            log_group=log,
            recursive_loop=lambda_.RecursiveLoop.ALLOW if row.calls_itself else None,
            tracing=lambda_.Tracing.ACTIVE if stage.tracing else None,
            timeout=Duration.seconds(row.timeout * stage.slowness),
            memory_size=row.memory,
            environment=variables(row, stage, table.name),
        )
        self._snap_start = stage.snap_start
        self._accept(stage, role)

    @cached_property
    def awaited(self) -> lambda_.IFunction:
        """The function as synchronous callers invoke it: with SnapStart, its newest version, by an alias."""
        if not self._snap_start:
            return self.function
        resource = self.function.node.default_child
        assert isinstance(resource, lambda_.CfnFunction)  # noqa: S101  # a Function is this one resource
        # Not for every function: a snapshot is of a version, and the other functions have none.
        resource.snap_start = lambda_.CfnFunction.SnapStartProperty(apply_on="PublishedVersions")
        return lambda_.Alias(self, "Live", alias_name="live", version=self.function.current_version)

    def _accept(self, stage: Stage, role: iam.Role) -> None:
        accept(
            self.function,
            "DynamoDB and SQS are public services, asked over TLS with the role's own signature. A VPC would put "
            "nothing out of reach, but need endpoints or a NAT gateway, which cost by the hour.",
            "CKV_AWS_117",
        )
        accept(
            self.function,
            "Reserved concurrency is taken from what all functions of the account share, and of the ten that a new "
            "account has none can be. What calls is bounded instead: the API is throttled, the queue has a maximum of "
            "workers, a shard of the stream one reader, and the clock ticks once a minute.",
            "CKV_AWS_115",
        )
        accept(
            self.function,
            "Lambda encrypts the environment with a key of AWS, and no secret is in it: names, a stage, a log level.",
            "CKV_AWS_173",
        )
        if stage.tracing:
            accept(role, "X-Ray's rights are on everything or nothing.", "AwsSolutions-IAM5[Resource::*]")
        else:
            accept(self.function, TRACING_IS_A_SETTING, "Serverless-LambdaTracing")
        if stage.target.uv_platform is None:
            accept(
                self.function,
                "The local cloud runs functions on the interpreter that runs it.",
                "AwsSolutions-L1",
                "Serverless-LambdaLatestVersion",
            )


def _architecture(name: str) -> lambda_.Architecture:
    return lambda_.Architecture.ARM_64 if name == "arm64" else lambda_.Architecture.X86_64
