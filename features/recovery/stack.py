"""Backups by AWS Backup, in a nested stack: a vault, a plan with copies, and a plan of restores that are tried.

https://docs.aws.amazon.com/aws-backup/latest/devguide/restore-testing.html
"""

from __future__ import annotations

from typing import Any

from aws_cdk import NestedStack, RemovalPolicy, Stack
from aws_cdk import aws_backup as backup
from aws_cdk import aws_iam as iam
from constructs import Construct

from features.recovery.rights import Recovery
from infra.nag import Acceptance, accept
from infra.site import Site
from infra.stage import Stage

_POLICIES = ("AWSBackupServiceRolePolicyForBackup", "AWSBackupServiceRolePolicyForRestores")

_AWS_OWN_POLICIES = Acceptance(
    "AWS documents these policies of its own for the role of AWS Backup, and extends them with the service.",
    *(f"AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/{name}]" for name in _POLICIES),
)
_KEY_OF_BACKUP = Acceptance(
    "AWS Backup encrypts the vault with a key of AWS, for nothing; a key of one's own is a setting.", "CKV_AWS_166"
)


def add(stack: Stack, site: Site) -> None:
    """Add the backups if the stage has the setting."""
    if recovery := site.stage.option(Recovery):
        Backups(stack, stage=site.stage, recovery=recovery, table=site.table.table.table_arn)


class Backups(NestedStack):
    """A vault, filled each night. It is kept when its stack is deleted: it has what would be lost."""

    def __init__(self, scope: Construct, *, stage: Stage, recovery: Recovery, table: str) -> None:
        super().__init__(scope, "Recovery")
        self._stage, self._recovery, self._table = stage, recovery, table
        self._vault = backup.CfnBackupVault(
            self, "Vault", backup_vault_name=stage.stack_name, encryption_key_arn=stage.key_arn
        )
        self._vault.apply_removal_policy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
        if stage.key_arn is None:
            accept(self._vault, _KEY_OF_BACKUP)
        self._role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("backup.amazonaws.com"),
            managed_policies=[
                iam.ManagedPolicy.from_aws_managed_policy_name(f"service-role/{name}") for name in _POLICIES
            ],
        )
        accept(self._role, _AWS_OWN_POLICIES)
        self._each_night()
        if recovery.drill:
            self._each_month()

    def _each_night(self) -> None:
        """Back the table up at one o'clock UTC, and copy the backup."""
        kept = {"deleteAfterDays": self._recovery.days}
        copies = [{"destinationBackupVaultArn": self._recovery.copy_to, "lifecycle": kept}]
        rule: dict[str, Any] = {
            "ruleName": "Nightly",
            "targetBackupVault": self._vault.ref,
            "scheduleExpression": "cron(0 1 * * ? *)",
            "startWindowMinutes": 60,
            "completionWindowMinutes": 600,
            "lifecycle": kept,
            **({"copyActions": copies} if self._recovery.copy_to else {}),
        }
        plan = backup.CfnBackupPlan(
            self, "Plan", backup_plan={"backupPlanName": self._stage.stack_name, "backupPlanRule": [rule]}
        )
        backup.CfnBackupSelection(
            self,
            "Table",
            backup_plan_id=plan.ref,
            backup_selection={
                "selectionName": "Table",
                "iamRoleArn": self._role.role_arn,
                "resources": [self._table],
            },
        )

    def _each_month(self) -> None:
        """Have AWS Backup restore the newest backup, keep the table for four hours, and delete it."""
        plan = backup.CfnRestoreTestingPlan(
            self,
            "Drill",
            restore_testing_plan_name=self._stage.stack_name.replace("-", "_"),
            schedule_expression="cron(0 4 1 * ? *)",
            start_window_hours=4,
            recovery_point_selection={
                "algorithm": "LATEST_WITHIN_WINDOW",
                "includeVaults": [self._vault.attr_backup_vault_arn],
                "recoveryPointTypes": ["SNAPSHOT"],
                "selectionWindowDays": min(7, self._recovery.days),
            },
        )
        selection = backup.CfnRestoreTestingSelection(
            self,
            "DrillOfTable",
            restore_testing_plan_name=plan.restore_testing_plan_name,
            restore_testing_selection_name="Table",
            iam_role_arn=self._role.role_arn,
            protected_resource_type="DynamoDB",
            protected_resource_arns=[self._table],
            validation_window_hours=4,
        )
        selection.add_resource_dependency(plan)
