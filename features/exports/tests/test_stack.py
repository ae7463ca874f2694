"""The nightly exports."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import aws_cdk as cdk
import botocore.session
from aws_cdk.assertions import Template
from botocore.model import StructureShape

from features.exports.rights import Exports
from features.exports.stack import QUERIES, add
from infra.settings import STAGES
from infra.site import Site
from infra.storage import DealsTable
from tests.infra.conftest import Synthesized
from tests.support.cases import cases_by_name

DAY = 24 * 3600 * 1000
EARLIEST = "1000 * $ceil($toMillis($states.input.recovery.EarliestRestorableDateTime) / 1000)"


def states_of(full: Synthesized) -> dict[str, Any]:
    """The states of the machine, in their order; references to resources are their names."""
    parts = full.only("AWS::StepFunctions::StateMachine")["DefinitionString"]["Fn::Join"][1]
    text = "".join(part if isinstance(part, str) else str(part.get("Ref", "an ARN")) for part in parts)
    machine = json.loads(text)
    assert list(machine["States"]) == [machine["StartAt"], machine["States"][machine["StartAt"]]["Next"]]
    states: dict[str, Any] = machine["States"]
    return states


def test_nothing_is_exported_unless_the_stage_says_so(prod: Synthesized, full: Synthesized) -> None:
    kinds = ("AWS::Scheduler::Schedule", "AWS::StepFunctions::StateMachine", "AWS::Glue::Table")

    assert [kind for kind in kinds if prod.resources(kind)] == []
    assert [kind for kind in kinds if not full.resources(kind)] == []


def test_each_night_exports_a_day_and_no_moment_is_left_out(full: Synthesized) -> None:
    """A window is 24 hours at most, and must have ended.

    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport_Requesting.html
    """
    schedule = full.only("AWS::Scheduler::Schedule")
    window = states_of(full)["Export"]["Arguments"]["IncrementalExportSpecification"]

    at = r"\$toMillis\(\$states\.input\.at\) - (\d+)"
    begin = re.fullmatch(
        rf"\{{% \$fromMillis\(\$max\(\[{at}, {re.escape(EARLIEST)}\]\)\) %\}}", window["ExportFromTime"]
    )
    end = re.fullmatch(rf"\{{% \$fromMillis\({at}\) %\}}", window["ExportToTime"])
    assert begin
    assert end
    assert int(begin[1]) - int(end[1]) == DAY
    assert int(end[1]) > 0
    assert schedule["ScheduleExpression"] == "cron(0 3 * * ? *)"
    assert schedule["Target"]["Input"] == '{"at":"<aws.scheduler.scheduled-time>"}'


def test_the_first_window_begins_when_recovery_does(full: Synthesized) -> None:
    """A window that began before is refused:
    https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ExportTableToPointInTime.html
    """
    (table,) = full.resources("AWS::DynamoDB::Table", "Deals")
    model = botocore.session.get_session().get_service_model("dynamodb")
    answer = model.operation_model("DescribeContinuousBackups").output_shape
    assert isinstance(answer, StructureShape)
    backups = answer.members["ContinuousBackupsDescription"]
    assert isinstance(backups, StructureShape)
    recovery = backups.members["PointInTimeRecoveryDescription"]
    assert isinstance(recovery, StructureShape)

    earliest = states_of(full)["Earliest"]

    assert "EarliestRestorableDateTime" in recovery.members
    assert earliest["Resource"].endswith(":aws-sdk:dynamodb:describeContinuousBackups")
    assert earliest["Arguments"] == {"TableName": table}
    assert earliest["Output"] == {
        "at": "{% $states.input.at %}",
        "recovery": "{% $states.result.ContinuousBackupsDescription.PointInTimeRecoveryDescription %}",
    }


def test_the_export_may_read_nothing_and_write_to_its_folder_only(full: Synthesized) -> None:
    role = full.only("AWS::StepFunctions::StateMachine")["RoleArn"]
    (bucket,) = full.resources("AWS::S3::Bucket", "Exports")

    allowed = {
        (action, json.dumps(statement["Resource"]))
        for statement in full.statements(role)
        for action in ([statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"])
        if not action.startswith("logs:")
    }

    (table,) = full.resources("AWS::DynamoDB::Table", "Deals")
    folder = json.dumps({"Fn::Join": ["", [{"Fn::GetAtt": [bucket, "Arn"]}, "/changes/*"]]})
    writes = {(action, folder) for action in ("s3:PutObject", "s3:PutObjectAcl", "s3:AbortMultipartUpload")}
    asked = ("dynamodb:DescribeContinuousBackups", "dynamodb:ExportTableToPointInTime")
    assert allowed == writes | {(action, json.dumps({"Fn::GetAtt": [table, "Arn"]})) for action in asked}


def test_a_night_without_an_export_is_watched() -> None:
    stack = cdk.Stack(cdk.App(), "One")
    stage = replace(STAGES["prod"], options=(Exports(days=30),))
    site = cast("Site", SimpleNamespace(stage=stage, table=DealsTable(stack, stage=stage), watched=[]))

    add(stack, site)

    (night,) = site.watched
    (machine,) = Template.from_stack(stack).find_resources("AWS::StepFunctions::StateMachine")
    assert stack.resolve(night.metric.dimensions) == {"StateMachineArn": {"Ref": machine}}
    assert (night.metric.metric_name, night.metric.statistic) == ("ExecutionsSucceeded", "Sum")
    assert (night.bound.minutes * 60, night.bound.threshold) == (24 * 3600, 1)
    assert night.below
    assert night.silence_is_bad


def test_exports_are_forgotten_when_the_stage_says(full: Synthesized) -> None:
    (rule,) = full.only("AWS::S3::Bucket", "Exports")["LifecycleConfiguration"]["Rules"]

    assert (rule["ExpirationInDays"], rule["Status"]) == (30, "Enabled")


def test_athena_reads_where_the_export_writes(full: Synthesized) -> None:
    """https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport.Output.html."""
    request = states_of(full)["Export"]["Arguments"]
    tables = [each["TableInput"] for each in full.all("AWS::Glue::Table")]

    places = {each["Name"]: each["StorageDescriptor"]["Location"]["Fn::Join"][1][1:] for each in tables}

    bucket = {"Ref": request["S3Bucket"]}
    assert places["changes"] == [bucket, f"/{request['S3Prefix']}/AWSDynamoDB/data/"]
    assert places["base"] == [bucket, "/base/AWSDynamoDB/"]


def test_queries_see_each_item_as_it_is_now(full: Synthesized) -> None:
    """SQLite stands in for Athena, with the two functions that it lacks: so much SQL they share."""
    queries = {each["Name"]: each["QueryString"] for each in full.all("AWS::Athena::NamedQuery")}
    deal = {"PK": {"S": "DEAL#1"}, "SK": {"S": "DEAL#1"}, "Type": {"S": "Deal"}, "BrandName": {"S": "Acme"},
            "Price": {"S": "75.00"}, "ListPrice": {"S": "100.00"}}  # fmt: skip
    of_features = {title: of for title, (_, of) in cases_by_name("QUERIED").items()}
    lines = [
        ("base", "s3://b/base/AWSDynamoDB/1-a/manifest-files.json", {"itemCount": 1}),
        ("base", "s3://b/base/AWSDynamoDB/1-a/data/x.json.gz", {"Item": deal}),
        ("base", "s3://b/base/AWSDynamoDB/1-a/data/x.json.gz", {"Item": {**deal, **keys("DEAL#2")}}),
        ("changes", "", changed("DEAL#1", 20, {**deal, "Price": {"S": "50.00"}}, typed=False)),
        ("changes", "", changed("DEAL#1", 10, {**deal, "Price": {"S": "90.00"}})),
        ("changes", "", changed("DEAL#2", 10, None, typed=False)),  # it was deleted
        *(("changes", "", changed(f"QUERIED#{title}", 10, item)) for title, (item, _) in of_features.items()),
        ("changes", "", changed("MESSAGES#ana", 10, {"Type": {"S": "Message"}, "Kind": {"S": "hot"}})),
    ]

    with closing(sqlite3.connect(":memory:")) as database:
        database.create_function("json_extract_scalar", 2, _scalar)
        database.create_aggregate("max_by", 2, _MaxBy)  # type: ignore[arg-type]  # the stubs know no any
        for table in ("base", "changes"):
            database.execute(f'CREATE TABLE {table} (line, "$path")')
        for table, path, line in lines:
            database.execute(f"INSERT INTO {table} VALUES (?, ?)", (json.dumps(line), path))
        answers = {name: database.execute(query).fetchall() for name, query in queries.items()}

    assert answers.keys() == QUERIES.keys()
    assert answers["Discounts by brand"] == [("Acme", 1, 50.0)]
    assert answers["Messages read"] == [("hot", 1, 0)]
    assert {title: answers[title] for title in of_features} == {title: rows for title, (_, rows) in of_features.items()}


def keys(key: str) -> dict[str, Any]:
    return {"PK": {"S": key}, "SK": {"S": key}}


def changed(key: str, at: int, image: dict[str, Any] | None, *, typed: bool = True) -> dict[str, Any]:
    """A line of an incremental export; a deletion has no image, and a time has a type or, as on AWS's page, none."""
    line: dict[str, Any] = {
        "Metadata": {"WriteTimestampMicros": {"N": str(at)} if typed else str(at)},
        "Keys": keys(key),
    }
    return line if image is None else line | {"NewImage": {**keys(key), **image}}


def _scalar(document: str | None, path: str) -> str | None:
    found: Any = json.loads(document) if document else None
    for name in path.removeprefix("$.").split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, str) else None


class _MaxBy:
    def __init__(self) -> None:
        self._newest: tuple[int, str | None] = (-1, None)

    def step(self, value: str | None, at: int) -> None:
        if at > self._newest[0]:
            self._newest = (at, value)

    def finalize(self) -> str | None:
        return self._newest[1]
