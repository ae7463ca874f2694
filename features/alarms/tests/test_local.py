"""Alarms and dashboard on a local cloud."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import aws_cdk as cdk
import boto3
import pytest

from infra.settings import STAGES
from infra.stacks import DealsStack
from infra.stage import Watch
from local import cloud
from local.cloud import free_port
from local.settings import Home, client_arguments
from tests.support.commands import eventually
from tests.support.site import home

__all__ = ["home"]

WATCHED = replace(STAGES["dev"], watch=Watch.FULL)


@pytest.mark.thorough
def test_alarms_and_dashboard_are_deployed_and_one_that_rings_says_what_to_do(home: Home, tmp_path: Path) -> None:
    there, _ = cloud.start(home, free_port())
    arguments = client_arguments(home, there.port)
    app = cdk.App(outdir=str(tmp_path / "cdk.out"), builtin_cloud_formation_validation=False)
    DealsStack(app, stage=WATCHED)
    app.synth()
    (file,) = (tmp_path / "cdk.out").glob("*.nested.template.json")
    template = json.loads(file.read_text())
    cloudformation, cloudwatch = boto3.client("cloudformation", **arguments), boto3.client("cloudwatch", **arguments)
    s3, sns, sqs = boto3.client("s3", **arguments), boto3.client("sns", **arguments), boto3.client("sqs", **arguments)
    topic = sns.create_topic(Name="alarms")["TopicArn"]
    policy = {"Effect": "Allow", "Principal": "*", "Action": "sqs:SendMessage", "Resource": "*"}
    ear = sqs.create_queue(QueueName="ear", Attributes={"Policy": json.dumps({"Statement": [policy]})})["QueueUrl"]
    address = sqs.get_queue_attributes(QueueUrl=ear, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=address)

    given = [
        {"ParameterKey": name, "ParameterValue": topic if "Topic" in name else "one"} for name in template["Parameters"]
    ]
    s3.create_bucket(Bucket="templates")
    s3.put_object(Bucket="templates", Key="watch.json", Body=file.read_bytes())
    place = f"{arguments['endpoint_url']}/templates/watch.json"
    cloudformation.create_stack(StackName="Watch", TemplateURL=place, Parameters=given)
    cloudformation.get_waiter("stack_create_complete").wait(StackName="Watch", WaiterConfig={"Delay": 1})
    alarms = cloudwatch.describe_alarms(AlarmNamePrefix=WATCHED.stack_name, MaxRecords=100)["MetricAlarms"]
    (dashboard,) = cloudwatch.list_dashboards()["DashboardEntries"]
    body = cloudwatch.get_dashboard(DashboardName=dashboard["DashboardName"])["DashboardBody"]
    name = f"{WATCHED.stack_name}.SweepIsMissing"
    cloudwatch.set_alarm_state(AlarmName=name, StateValue="ALARM", StateReason="to hear it once")
    (message,) = eventually(lambda: sqs.receive_message(QueueUrl=ear, WaitTimeSeconds=10).get("Messages", []), bool)

    told = json.loads(json.loads(message["Body"])["Message"])
    assert len(alarms) > 50
    assert {tuple(alarm["AlarmActions"]) for alarm in alarms} == {(topic,)}
    assert len(json.loads(body)["widgets"]) > 20
    assert told["NewStateValue"] == "ALARM"
    assert told["AlarmDescription"].endswith("docs/runbook.md, under 'Sweep is missing'")
