"""The proof that the table is exported each night."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from cli.proofs import Deployed, Fails, NotHere
from features.exports import commands
from features.exports.rights import Exports
from tests.support.proofs import DEV, OUTPUTS, Aws, answers, meets, refusal  # noqa: F401  # fixtures


def export_of(*arns: str, status: str = "COMPLETED") -> Aws:
    def listed(**_: Any) -> Any:
        return {"ExportSummaries": [{"ExportArn": arn, "ExportType": "INCREMENTAL_EXPORT"} for arn in arns]}

    return Aws(
        describe_table=lambda **_: {"Table": {"TableArn": "arn"}},
        list_exports=listed,
        describe_export=lambda **asked: {
            "ExportDescription": {**asked, "ExportStatus": status, "FailureMessage": "outside of PITR"}
        },
    )


def test_the_newest_night_proves_the_export(meets: Callable[..., Deployed]) -> None:
    stage = dataclasses.replace(DEV, options=(Exports(days=30),))
    arns = ("arn/export/01700000000000-a", "arn/export/01800000000000-b")

    assert commands.export(meets(export_of(*arns), stage)) == "arn/export/01800000000000-b is complete"
    with pytest.raises(Fails, match="outside of PITR"):
        commands.export(meets(export_of(*arns, status="FAILED"), stage))
    with pytest.raises(NotHere, match="no night"):
        commands.export(meets(export_of(), stage))
    with pytest.raises(NotHere, match="exports nothing"):
        commands.export(meets(export_of(*arns)))
