"""The proof that the table is exported each night."""

from __future__ import annotations

from cli.proofs import Deployed, Fails, NotHere, Proof
from features.exports.rights import Exports


def export(site: Deployed) -> str:
    """The newest nightly export has not failed."""
    if site.stage.option(Exports) is None:
        raise NotHere("the stage exports nothing")
    client = site.client("dynamodb")
    table = client.describe_table(TableName=site.outputs["TableName"])["Table"]["TableArn"]
    pages = client.get_paginator("list_exports").paginate(TableArn=table)
    nights = [each for page in pages for each in page["ExportSummaries"] if each["ExportType"] == "INCREMENTAL_EXPORT"]
    if not nights:
        raise NotHere(
            "no night was exported yet: start one (features/exports/README.md), and probe again when it is done"
        )
    newest = max(nights, key=lambda each: str(each["ExportArn"]))  # it ends with the milliseconds of its start
    described = client.describe_export(ExportArn=newest["ExportArn"])["ExportDescription"]
    if described["ExportStatus"] == "FAILED":
        raise Fails(f"{described['ExportArn']}: {described.get('FailureMessage')}")
    if described["ExportStatus"] != "COMPLETED":
        raise NotHere(f"{described['ExportArn']} is {described['ExportStatus']}: probe again when it is done")
    return f"{described['ExportArn']} is complete"


PROOFS = {"export": Proof(export, 20, "MiniStack exports nothing")}
