"""Backups of the table, their copies, and the restore that is tried."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from features.recovery.rights import Recovery
from infra.settings import STAGES
from tests.infra.conftest import VARIANTS, Synthesized

VAULT = "arn:aws:backup:eu-west-1:444455556666:backup-vault:copies"
OURS = replace(STAGES["prod"], account="444455556666", region="eu-west-1")


def test_a_stage_without_the_setting_has_no_vault(prod: Synthesized) -> None:
    assert not prod.resources("AWS::Backup::BackupVault")


def test_the_table_is_backed_up_each_night_and_each_backup_is_copied(everything: Synthesized) -> None:
    (rule,) = everything.only("AWS::Backup::BackupPlan")["BackupPlan"]["BackupPlanRule"]
    selected = everything.only("AWS::Backup::BackupSelection")["BackupSelection"]
    (table,) = everything.resources("AWS::DynamoDB::Table", "Deals")

    assert [each["DestinationBackupVaultArn"] for each in rule["CopyActions"]] == [VAULT]
    assert {each["Lifecycle"]["DeleteAfterDays"] for each in (rule, *rule["CopyActions"])} == {35}
    assert selected["Resources"] == [{"Fn::GetAtt": [table, "Arn"]}]


def test_the_vault_outlives_its_stack_and_has_the_stages_key(everything: Synthesized) -> None:
    (vault,) = everything.resources("AWS::Backup::BackupVault").values()

    assert (vault["DeletionPolicy"], vault["UpdateReplacePolicy"]) == ("RetainExceptOnCreate", "Retain")
    assert vault["Properties"]["EncryptionKeyArn"] == VARIANTS["everything"].key_arn


def test_a_restore_of_the_newest_backup_is_tried_each_month(everything: Synthesized) -> None:
    plan = everything.only("AWS::Backup::RestoreTestingPlan")
    (vault,) = everything.resources("AWS::Backup::BackupVault")

    (from_vault,) = plan["RecoveryPointSelection"]["IncludeVaults"]

    assert from_vault == {"Fn::GetAtt": [vault, "BackupVaultArn"]}
    assert everything.only("AWS::Backup::RestoreTestingSelection")["ProtectedResourceType"] == "DynamoDB"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: Recovery(copy_to="copies"), "ARN of a backup vault"),
        (lambda: Recovery(days=0), "a day or more"),
        (lambda: replace(OURS, options=(Recovery(copy_to=VAULT),)), "another account or region than stage prod"),
    ],
)
def test_copies_that_would_save_nothing_are_refused(wrong: Callable[[], object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        wrong()
