"""Exports for analysis: each night a day's changes go to S3, where Athena reads them. Nothing reads the table.

DynamoDB exports from its backups for point-in-time recovery, which takes no capacity of the table.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport.HowItWorks.html
"""

from __future__ import annotations

from typing import Any

from aws_cdk import Aws, CfnOutput, Duration, NestedStack, Stack, TimeZone
from aws_cdk import aws_athena as athena
from aws_cdk import aws_glue as glue
from aws_cdk import aws_iam as iam
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_scheduler_targets as targets
from aws_cdk import aws_stepfunctions as stepfunctions
from constructs import Construct

from features.exports.rights import Exports
from infra import nag
from infra.encryption import READS, SENDS, may_use
from infra.lambdas import Log, Role
from infra.nag import Acceptance, accept
from infra.site import Site, Watched
from infra.stage import Stage
from infra.storage import Bucket, DealsTable, gone_after
from shared import features, hooks

BASE, CHANGES, ANSWERS = "base", "changes", "answers"
"""Folders of the bucket: a full export, incremental exports, and Athena's answers. The first two are tables, too."""

_HOUR = 3_600_000
_DAY = 24 * _HOUR
"""In milliseconds. A day is the longest window of an incremental export."""

SCANNED = 10 * 1000**3
"""The most bytes that a query may scan: five cents at $5 a terabyte."""

_ITEMS = """
WITH written AS (
  SELECT json_extract_scalar(line, '$.Item.PK.S') AS pk, json_extract_scalar(line, '$.Item.SK.S') AS sk,
         json_extract(line, '$.Item') AS item, CAST(0 AS BIGINT) AS at
  FROM base WHERE "$path" LIKE '%/data/%'
  UNION ALL
  SELECT json_extract_scalar(line, '$.Keys.PK.S'), json_extract_scalar(line, '$.Keys.SK.S'),
         json_extract(line, '$.NewImage'),
         CAST(coalesce(json_extract_scalar(line, '$.Metadata.WriteTimestampMicros'),
                       json_extract_scalar(line, '$.Metadata.WriteTimestampMicros.N')) AS BIGINT)
  FROM changes
), items AS (SELECT max_by(item, at) AS item FROM written GROUP BY pk, sk)
"""
"""Each item's newest state; deleted items have none.

A change's time is a text on AWS's page, and a number with DynamoDB's type in programs that read exports. Both are read.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport.Output.html"""

QUERIES = {
    "Discounts by brand": """
SELECT json_extract_scalar(item, '$.BrandName.S') AS brand, count(*) AS deals,
       round(avg(100 - 100 * CAST(json_extract_scalar(item, '$.Price.S') AS DOUBLE)
                         / CAST(json_extract_scalar(item, '$.ListPrice.S') AS DOUBLE)), 1) AS percent_off
FROM items
WHERE json_extract_scalar(item, '$.Type.S') = 'Deal' AND json_extract(item, '$.ListPrice') IS NOT NULL
GROUP BY 1 ORDER BY 3 DESC LIMIT 10""",
    "Messages read": """
SELECT json_extract_scalar(item, '$.Kind.S') AS kind, count(*) AS sent, count(json_extract(item, '$.ReadAt')) AS opened
FROM items WHERE json_extract_scalar(item, '$.Type.S') = 'Message' GROUP BY 1 ORDER BY 2 DESC""",
    **{title: query for each in features.roles(hooks.Items) for title, (_, query) in each.QUERIES.items()},
}
"""Queries to start with, by name."""


_COPIES_OF_THE_TABLE = Acceptance(
    "It holds copies of what the table holds, each written once, which can be made again for 35 days. CloudTrail can "
    "tell who reads them.",
    *nag.NO_LOG_NO_VERSIONS,
)
_ITS_OWN_FOLDER = Acceptance(
    "DynamoDB chooses the names of the files that it writes there.",
    "AwsSolutions-IAM5[Resource::<ExportsBucket54D5CE64.Arn>/changes/*]",
)
_LOG_DELIVERIES_ARE_OF_EVERYTHING = Acceptance(
    "The rights to deliver logs of Step Functions, and to X-Ray, are on everything or nothing.",
    "AwsSolutions-IAM5[Resource::*]",
)
_MACHINE_NOT_TRACED = Acceptance(nag.X_RAY_IS_A_SETTING, "AwsSolutions-SF2", "Serverless-StepFunctionStateMachineXray")


def add(stack: Stack, site: Site) -> None:
    """Add the exports and their alarm if the stage has the setting."""
    if exports := site.stage.option(Exports):
        nightly = NightlyExports(stack, stage=site.stage, days=exports.days, table=site.table)
        succeeded = nightly.machine.metric_succeeded()
        site.watched.append(
            Watched(
                kind="export_is_missing",
                metric=succeeded,
                bound=exports.missing,
                below=True,
                silence_is_bad=True,
                document="features/exports/README.md",
            )
        )


class NightlyExports(Construct):
    """The nightly export of changes, and Athena's tables and queries for it.

    A file's line is an item or a change as JSON with DynamoDB's types, whose attributes differ. So a table has one
    column, the line, from which queries extract values.
    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport.Output.html
    """

    def __init__(self, scope: Construct, *, stage: Stage, days: int, table: DealsTable) -> None:
        super().__init__(scope, "Exports")
        bucket = Bucket(self, "Bucket", gone_after(days), stage=stage)
        accept(bucket, _COPIES_OF_THE_TABLE)
        self.machine = self._each_night(stage, table, bucket)
        _Analysis(self, stage=stage, bucket=bucket)
        CfnOutput(Stack.of(self), "ExportBucket", value=bucket.bucket_name)

    def _each_night(self, stage: Stage, table: DealsTable, bucket: Bucket) -> stepfunctions.StateMachine:
        """At three o'clock UTC, export 24 hours that ended an hour ago, so that DynamoDB can already restore their end.

        Step Functions' requests and answers are taken to have ISO 8601 timestamps. AWS's page doesn't say so.
        https://docs.aws.amazon.com/step-functions/latest/dg/supported-services-awssdk.html
        """
        states = [
            stepfunctions.CustomState(self, name, state_json=state).add_retry(
                interval=Duration.minutes(1), max_attempts=3
            )
            for name, state in _states(stage, table, bucket).items()
        ]
        role = Role(self, "Rights", "states")
        accept(role, _ITS_OWN_FOLDER, _LOG_DELIVERIES_ARE_OF_EVERYTHING)
        machine = stepfunctions.StateMachine(
            self,
            "Night",
            role=role,
            definition_body=stepfunctions.DefinitionBody.from_chainable(
                stepfunctions.Chain.start(states[0]).next(states[1])
            ),
            query_language=stepfunctions.QueryLanguage.JSONATA,
            timeout=Duration.minutes(30),
            tracing_enabled=stage.tracing,
            logs=stepfunctions.LogOptions(
                destination=Log(self, "Log", stage=stage), level=stepfunctions.LogLevel.ALL, include_execution_data=True
            ),
        )
        if not stage.tracing:
            accept(machine, _MACHINE_NOT_TRACED)
        _grant(machine, stage, table, bucket)
        scheduler.Schedule(
            self,
            "Nightly",
            description="Exports what has changed in a day",
            enabled=not stage.standby,
            schedule=scheduler.ScheduleExpression.cron(hour="3", minute="0", time_zone=TimeZone.ETC_UTC),
            target=targets.StepFunctionsStartExecution(
                machine,
                input=scheduler.ScheduleTargetInput.from_object({"at": scheduler.ContextAttribute.scheduled_time}),
                role=Role(self, "Starts", "scheduler"),
            ),
        )
        return machine


class _Analysis(NestedStack):
    """Athena's tables and queries, in a stack of their own, for a stack has 500 resources at most.

    Their names differ from those of 1.1.0, which had them in the stage's stack: during the update, both exist.
    """

    def __init__(self, scope: Construct, *, stage: Stage, bucket: Bucket) -> None:
        super().__init__(scope, "Analysis")
        group_name = f"{stage.stack_name}-exports"
        name = group_name.lower().replace("-", "_")
        database = glue.CfnDatabase(
            self,
            "Database",
            catalog_id=Aws.ACCOUNT_ID,
            database_input={"name": name},
        )
        # All incremental exports share one folder of data files; a full export has its own.
        for table, folder in ((BASE, f"{BASE}/AWSDynamoDB/"), (CHANGES, f"{CHANGES}/AWSDynamoDB/data/")):
            glue.CfnTable(
                self,
                table.capitalize(),
                catalog_id=Aws.ACCOUNT_ID,
                database_name=name,
                table_input=_lines(table, bucket.s3_url_for_object(folder)),
            ).add_resource_dependency(database)
        group = athena.CfnWorkGroup(
            self,
            "Queries",
            name=group_name,
            recursive_delete_option=True,
            work_group_configuration={
                "bytesScannedCutoffPerQuery": SCANNED,
                "enforceWorkGroupConfiguration": True,
                "resultConfiguration": {
                    "outputLocation": bucket.s3_url_for_object(f"{ANSWERS}/"),
                    "encryptionConfiguration": _encrypted(stage),
                },
            },
        )
        for title, query in QUERIES.items():
            athena.CfnNamedQuery(
                self,
                title.replace(" ", ""),
                name=title,
                database=name,
                work_group=group_name,
                query_string=(_ITEMS + query).strip(),
            ).add_resource_dependency(group)


def _encrypted(stage: Stage) -> dict[str, str]:
    """How Athena encrypts its answers."""
    return {"encryptionOption": "SSE_KMS", "kmsKey": stage.key_arn} if stage.key_arn else {"encryptionOption": "SSE_S3"}


def _encrypted_export(stage: Stage) -> dict[str, str]:
    """How DynamoDB encrypts the files of an export."""
    return {"S3SseAlgorithm": "KMS", "S3SseKmsKeyId": stage.key_arn} if stage.key_arn else {"S3SseAlgorithm": "AES256"}


def _states(stage: Stage, table: DealsTable, bucket: Bucket) -> dict[str, dict[str, Any]]:
    """The machine's two states, by name: when the table can first be recovered, and the export.

    A window must not begin before point-in-time recovery, so the first night's begins with it.
    """
    # The CDK's own task for this loads half of all services: two seconds of each synthesis.
    call = f"arn:{Aws.PARTITION}:states:::aws-sdk:dynamodb"
    earliest = {
        "Type": "Task",
        "Resource": f"{call}:describeContinuousBackups",
        "Arguments": {"TableName": table.name},
        "Output": {"at": "{% $states.input.at %}", "recovery": f"{{% $states.result.{_RECOVERY} %}}"},
    }
    arguments = {
        "TableArn": table.table.table_arn,
        "S3Bucket": bucket.bucket_name,
        "S3Prefix": CHANGES,
        **_encrypted_export(stage),
        "ExportFormat": "DYNAMODB_JSON",
        "ExportType": "INCREMENTAL_EXPORT",
        # Repetitions within eight hours are one export.
        "ClientToken": "{% $states.input.at %}",
        "IncrementalExportSpecification": {
            "ExportFromTime": _time(f"$max([{_before(_HOUR + _DAY)}, {_EARLIEST}])"),
            "ExportToTime": _time(_before(_HOUR)),
            "ExportViewType": "NEW_IMAGE",
        },
    }
    export = {"Type": "Task", "Resource": f"{call}:exportTableToPointInTime", "Arguments": arguments}
    return {"Earliest": earliest, "Export": export}


def _grant(machine: stepfunctions.StateMachine, stage: Stage, table: DealsTable, bucket: Bucket) -> None:
    """Let the machine export the table to the folder of changes."""
    iam.Grant.add_to_principal(
        grantee=machine,
        actions=["dynamodb:DescribeContinuousBackups", "dynamodb:ExportTableToPointInTime"],
        resource_arns=[table.table.table_arn],
    )
    # https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport_Requesting.html
    iam.Grant.add_to_principal(
        grantee=machine,
        actions=["s3:AbortMultipartUpload", "s3:PutObject", "s3:PutObjectAcl"],
        resource_arns=[bucket.arn_for_objects(f"{CHANGES}/*")],
    )
    may_use(machine.role, stage, "dynamodb", *READS)
    may_use(machine.role, stage, "s3", *SENDS)


_RECOVERY = "ContinuousBackupsDescription.PointInTimeRecoveryDescription"
_EARLIEST = "1000 * $ceil($toMillis($states.input.recovery.EarliestRestorableDateTime) / 1000)"
"""The first whole second that can be recovered: exports take whole seconds."""


def _before(milliseconds: int) -> str:
    """Milliseconds before the schedule's time, in Step Functions' language."""
    return f"$toMillis($states.input.at) - {milliseconds}"


def _time(milliseconds: str) -> str:
    """A time, in Step Functions' language.

    https://docs.aws.amazon.com/step-functions/latest/dg/transforming-data.html
    """
    return f"{{% $fromMillis({milliseconds}) %}}"


def _lines(name: str, location: str) -> dict[str, Any]:
    """A table of one column: JSON doesn't contain the character that would begin a second one."""
    return {
        "name": name,
        "tableType": "EXTERNAL_TABLE",
        "parameters": {"compressionType": "gzip"},
        "storageDescriptor": {
            "columns": [{"name": "line", "type": "string"}],
            "location": location,
            "inputFormat": "org.apache.hadoop.mapred.TextInputFormat",
            "outputFormat": "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
            "serdeInfo": {
                "serializationLibrary": "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe",
                "parameters": {"field.delim": "\x01"},
            },
        },
    }
