"""Logs: kept as long as the stage says; they outlive their stack only where its data does."""

from __future__ import annotations

from aws_cdk import RemovalPolicy
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra import acceptances
from infra.checks import accept
from infra.settings import Stage

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
        accept(self, acceptances.KEY_OF_CLOUDWATCH)
