"""One Lambda function as a construct: its artifact, its role, and its log.

A log is kept as long as the stage says; it outlives its stack only where the stage's data does.
"""

from __future__ import annotations

from functools import cached_property

from aws_cdk import AssetHashType, Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra import nag
from infra.bundling import HANDLER, Artifact
from infra.functions import Function, variables
from infra.nag import accept
from infra.settings import ON_LAMBDA, Stage
from infra.table import DealsTable

RETENTIONS = {
    1: logs.RetentionDays.ONE_DAY,
    7: logs.RetentionDays.ONE_WEEK,
    30: logs.RetentionDays.ONE_MONTH,
    90: logs.RetentionDays.THREE_MONTHS,
}
"""The days that a stage may name. CloudWatch takes some numbers only."""


class Log(logs.LogGroup):
    """A log group of a stage. CloudFormation chooses its name, unless the writer needs a certain one (``name``).

    A log with a chosen name never outlives its stack: the next stack could not make a log of the same name.
    """

    def __init__(self, scope: Construct, construct_id: str, *, stage: Stage, name: str | None = None) -> None:
        super().__init__(
            scope,
            construct_id,
            log_group_name=name,
            retention=RETENTIONS[stage.log_retention_days],
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
            if stage.keeps_data and name is None
            else RemovalPolicy.DESTROY,
        )
        accept(self, nag.KEY_OF_CLOUDWATCH)


class PythonFunction(Construct):
    """A Lambda function, made of its row in ``functions.py``."""

    def __init__(self, scope: Construct, row: Function, *, artifact: Artifact, stage: Stage, table: DealsTable) -> None:
        super().__init__(scope, row.name.capitalize())
        self.row = row
        log = Log(self, "Log", stage=stage)
        # Not the managed policy that CDK would attach: it may create and write every log of the account.
        self.role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        log.grant_write(self.role)
        table.grant(self.role, row.access_at(stage))
        self.function = lambda_.Function(
            self,
            "Function",
            description=f"Big Time Deals: {row.name}",
            runtime=lambda_.Runtime(f"python{stage.target.python}", lambda_.RuntimeFamily.PYTHON),
            architecture=lambda_.Architecture.custom(stage.target.architecture),
            handler=HANDLER,
            code=lambda_.Code.from_asset(
                str(artifact.path), asset_hash=artifact.digest, asset_hash_type=AssetHashType.CUSTOM
            ),
            role=self.role,
            log_group=log,
            recursive_loop=lambda_.RecursiveLoop.ALLOW if row.calls_itself else None,
            tracing=lambda_.Tracing.ACTIVE if stage.tracing else None,
            timeout=Duration.seconds(row.timeout * stage.slowness),
            memory_size=row.memory,
            environment=variables(row, stage, table.name),
        )
        self._snap_start = stage.snap_start
        accept(self.function, nag.NO_VPC, nag.NO_RESERVED_CONCURRENCY, nag.NO_SECRET_IN_ENVIRONMENT)
        if stage.tracing:
            accept(self.role, nag.X_RAY_TAKES_EVERYTHING)
        else:
            accept(self.function, nag.FUNCTION_NOT_TRACED)
        if stage.target.python != ON_LAMBDA.python:
            here = stage.target.uv_platform is None
            accept(self.function, nag.PYTHON_OF_THE_LOCAL_CLOUD if here else nag.OLDER_PYTHON)

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
