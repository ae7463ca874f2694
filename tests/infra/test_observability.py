"""Alarms: everything that can go wrong has one, with a bound that makes sense, a voice, and its part of the runbook."""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template

from infra import alarms
from infra.alarms import USUAL, Bound, Bounds
from infra.functions import DEAD_LETTERS, FUNCTIONS, Caller, of_stage
from infra.observability import OPERATIONS
from infra.settings import STAGES
from infra.stacks import DealsStack
from local.settings import ROOT
from shared import settings
from shared.dynamodb.schema import INDEXES
from shared.runtime import metrics
from tests.infra.conftest import Synthesized, function_of, synthesize

ANSWERING = {row.name for row in FUNCTIONS if row.caller is Caller.GATEWAY}
REPORTED = {value.name: value for value in vars(metrics).values() if isinstance(value, metrics.Metric)}

RUNBOOK = (ROOT / "docs" / "runbook.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+)\n((?:(?!## ).*\n)*)", RUNBOOK, re.MULTILINE))
NOT_OF_ALARMS = {"Following a request", "What is measured", "Stock that does not add up"}

Alarm = dict[str, Any]


@pytest.fixture(scope="session")
def local() -> Synthesized:
    """The template of the local cloud's stage."""
    return synthesize("local")


@pytest.fixture(scope="session", params=sorted(name for name, each in STAGES.items() if each.watched))
def stage(request: pytest.FixtureRequest) -> Synthesized:
    """The template of each stage that is watched, in turn."""
    found: Synthesized = request.getfixturevalue(request.param)
    return found


def alarms_of(stage: Synthesized) -> list[Alarm]:
    return [each["Properties"] for each in stage.resources("AWS::CloudWatch::Alarm").values()]


def watching(stage: Synthesized, metric: str) -> Iterator[tuple[Alarm, dict[str, Any]]]:
    """The alarms on a metric, each with its dimensions."""
    for alarm in alarms_of(stage):
        if alarm["MetricName"] == metric:
            yield alarm, {each["Name"]: each["Value"] for each in alarm["Dimensions"]}


def modules_watched(stage: Synthesized, metric: str) -> set[str]:
    """The modules of the functions that have an alarm on a metric of Lambda's."""
    return {
        function_of(stage.template["Resources"][dimensions["FunctionName"]["Ref"]])
        for alarm, dimensions in watching(stage, metric)
    }


def kind_of(alarm: Alarm) -> str:
    """The bound's name, from the alarm's: ``BigTimeDeals-dev.WorkIsOld`` is ``work_is_old``."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", alarm["AlarmName"].split(".")[1]).lower()


def test_each_bound_has_an_alarm_and_each_alarm_its_bound(stage: Synthesized) -> None:
    assert {kind_of(alarm) for alarm in alarms_of(stage)} == {bound.name for bound in fields(Bounds)}


def test_an_alarm_rings_as_its_bound_says(stage: Synthesized) -> None:
    for alarm in alarms_of(stage):
        bound = getattr(USUAL, kind_of(alarm))
        stated = [alarm[name] for name in ("Threshold", "Period", "DatapointsToAlarm", "EvaluationPeriods")]
        assert stated == [bound.threshold, bound.minutes * 60, bound.points, bound.of], alarm["AlarmName"]


def test_each_alarm_has_its_section_of_the_runbook_and_each_section_its_alarm(stage: Synthesized) -> None:
    named = set()
    for alarm in alarms_of(stage):
        told = re.fullmatch(r"(.+?)(?:: \S+)?\. What to do: docs/runbook\.md, under '(.+)'", alarm["AlarmDescription"])
        assert told, alarm["AlarmDescription"]
        assert told[1] == told[2]
        named.add(told[2])

    assert named == set(SECTIONS) - NOT_OF_ALARMS


def test_each_bound_has_its_reason() -> None:
    (bounds,) = (
        node
        for node in ast.parse(inspect.getsource(alarms)).body
        if isinstance(node, ast.ClassDef) and node.name == "Bounds"
    )
    for statement, after in zip(bounds.body, bounds.body[1:], strict=False):
        if isinstance(statement, ast.AnnAssign):
            assert isinstance(after, ast.Expr), ast.unparse(statement)


def test_cloudwatch_can_evaluate_every_bound() -> None:
    for bound in (getattr(USUAL, each.name) for each in fields(Bounds)):
        assert bound.points <= bound.of
        assert bound.minutes * bound.of <= 24 * 60


def test_a_bound_lies_between_what_is_usual_and_what_does_harm(prod: Synthesized) -> None:
    lifetime = settings.CACHE_LIFETIME.total_seconds()
    timeouts = {module: prod.function(module)["Properties"]["Timeout"] * 1000 for module in prod.modules()}
    working = set(timeouts) - ANSWERING - {"seed"}
    streams = [m["Properties"] for m in prod.resources("AWS::Lambda::EventSourceMapping").values()]
    (oldest,) = {source["MaximumRecordAgeInSeconds"] for source in streams if "MaximumRecordAgeInSeconds" in source}
    day = 24 * 3600

    assert lifetime / 2 < USUAL.cache_is_old.threshold < lifetime
    assert min(timeouts[module] for module in ANSWERING & set(timeouts)) > USUAL.answer_is_slow.threshold
    assert min(timeouts[module] for module in working) / 2 >= USUAL.work_is_slow.threshold
    assert USUAL.stream_is_behind.threshold < oldest * 1000
    assert seconds_of(USUAL.dead_letters_grow_old) + oldest < day


def seconds_of(bound: Bound) -> int:
    """How long something must be as bad as a bound says before the alarm rings."""
    return bound.minutes * 60 * bound.points


def test_a_cohort_that_fails_rings_while_sqs_still_counts_it(prod: Synthesized) -> None:
    """SQS leaves a message that was received three times out of the age of the oldest one.

    docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
    """
    queues = [each["Properties"] for each in prod.resources("AWS::SQS::Queue").values()]
    (hidden,) = (each["VisibilityTimeout"] for each in queues if "RedrivePolicy" in each)
    third_delivery = 2 * hidden

    assert hidden < USUAL.work_is_old.threshold
    assert USUAL.work_is_old.threshold + seconds_of(USUAL.work_is_old) < third_delivery


def test_every_function_except_the_deployments_own_is_watched(stage: Synthesized, prod: Synthesized) -> None:
    everything = set(stage.modules()) - {"seed"}

    assert everything > {row.name for row in of_stage(shows_work=stage is not prod) if row.caller is Caller.GATEWAY}
    for metric in ("Errors", "Throttles", "Duration"):
        assert modules_watched(stage, metric) == everything, metric


def test_every_reader_of_the_stream_is_watched(stage: Synthesized) -> None:
    readers = {
        function_of(stage.template["Resources"][source["Properties"]["FunctionName"]["Ref"]])
        for source in stage.resources("AWS::Lambda::EventSourceMapping").values()
        if "StreamArn" in json.dumps(source["Properties"]["EventSourceArn"])
    }

    assert readers == {"announcer", "indexer", "refresher"} == modules_watched(stage, "IteratorAge")


def test_a_loop_that_lambda_stops_is_watched_where_one_is_allowed(stage: Synthesized) -> None:
    """One of the metrics of invocations: docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html"""
    allowed = {
        function_of(each)
        for each in stage.resources("AWS::Lambda::Function").values()
        if each["Properties"].get("RecursiveLoop") == "Allow"
    }

    assert allowed == modules_watched(stage, "RecursiveInvocationsDropped") == {"messenger"}


def test_damaged_deals_are_watched_where_pages_are_made_of_deals(stage: Synthesized) -> None:
    watched = {dimensions[metrics.DIMENSION] for _, dimensions in watching(stage, "DamagedDeals")}

    assert watched == {"refresher", "catalog", "site"}


def test_every_queues_depth_is_watched_and_the_age_of_what_lambda_takes_out(stage: Synthesized) -> None:
    queues = stage.resources("AWS::SQS::Queue")
    work = {name for name, each in queues.items() if "RedrivePolicy" in each["Properties"]}

    def watched(metric: str) -> set[str]:
        return {dims["QueueName"]["Fn::GetAtt"][0] for _, dims in watching(stage, metric)}

    assert watched("ApproximateNumberOfMessagesVisible") == set(queues)
    assert watched("ApproximateAgeOfOldestMessage") == work


def test_failures_that_wait_for_long_ring_however_often_somebody_has_looked_at_them(stage: Synthesized) -> None:
    """A look receives a message, and SQS leaves one that was received three times out of its queue's age.

    docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
    """
    waiting = [alarm for alarm in alarms_of(stage) if kind_of(alarm) == "dead_letters_grow_old"]

    assert len(waiting) == len(DEAD_LETTERS)
    assert {alarm["MetricName"] for alarm in waiting} == {"ApproximateNumberOfMessagesVisible"}
    assert {alarm["Threshold"] for alarm in waiting} == {1}


def test_the_table_and_each_index_are_watched_for_being_refused(stage: Synthesized) -> None:
    indexes = {None, *(index.name for index in INDEXES)}

    for metric in ("ReadThrottleEvents", "WriteThrottleEvents"):
        assert {dims.get("GlobalSecondaryIndexName") for _, dims in watching(stage, metric)} == indexes, metric


def test_the_tables_failures_are_watched_for_each_operation_that_a_role_allows(stage: Synthesized) -> None:
    # A transaction is allowed as what is in it, and a batch of statements as its statements.
    together = {"ConditionCheckItem": "TransactWriteItems", "PartiQLInsert": "BatchExecuteStatement"}
    allowed = {
        action.removeprefix("dynamodb:")
        for module in set(stage.modules()) - {"seed"}
        for action, _ in stage.allowed(module)
        if action.startswith("dynamodb:") and "Stream" not in action and "Shard" not in action
    } - {"GetRecords"}

    watched = {dimensions["Operation"] for _, dimensions in watching(stage, "SystemErrors")}

    assert watched == set(OPERATIONS) >= {together.get(operation, operation) for operation in allowed}


def test_an_alarm_on_a_metric_of_ours_looks_where_the_function_puts_it(stage: Synthesized) -> None:
    places = {
        (variables["POWERTOOLS_METRICS_NAMESPACE"], variables["POWERTOOLS_SERVICE_NAME"])
        for function in stage.resources("AWS::Lambda::Function").values()
        if (variables := function["Properties"]["Environment"]["Variables"])
    }

    watched = [alarm for alarm in alarms_of(stage) if not alarm["Namespace"].startswith("AWS/")]

    assert {alarm["MetricName"] for alarm in watched} == {
        "FanOutLag",
        "CacheAge",
        "EndedDealsSwept",
        "OldestOpenOrder",
        "SignInFailures",
        "DamagedDeals",
    }
    for alarm in watched:
        ((name, value),) = ((each["Name"], each["Value"]) for each in alarm["Dimensions"])
        assert name == metrics.DIMENSION
        assert value in (REPORTED[alarm["MetricName"]].services or [value])
        assert (alarm["Namespace"], value) in places


def test_guessing_passwords_rings_wherever_one_signs_in(stage: Synthesized) -> None:
    """The API's function and that of the site's form report each for itself."""
    watched = {dimensions[metrics.DIMENSION] for _, dimensions in watching(stage, "SignInFailures")}

    assert watched == {"accounts", "account"}


RING_IN_SILENCE = {"cache_is_old", "sweep_is_missing", "reader_stands_still"}
"""What reports as long as it works: the clock each minute, a reader at each poll."""


def test_silence_rings_only_for_what_always_reports_and_not_before_its_first_value(stage: Synthesized) -> None:
    """A new alarm is in INSUFFICIENT_DATA, stays there until the first value, and notifies of changes only.

    docs.aws.amazon.com/autoscaling/application/userguide/cloudwatch-alarm-notifications.html
    """
    silent = {kind_of(alarm) for alarm in alarms_of(stage) if alarm["TreatMissingData"] == "missing"}
    told = {kind_of(alarm) for alarm in alarms_of(stage) if "InsufficientDataActions" in alarm}

    assert silent == told == RING_IN_SILENCE
    assert all(alarm["TreatMissingData"] in ("missing", "notBreaching") for alarm in alarms_of(stage))


def test_only_alarms_on_what_should_happen_ring_below_their_bound(stage: Synthesized) -> None:
    below = {kind_of(a) for a in alarms_of(stage) if a["ComparisonOperator"] == "LessThanThreshold"}

    assert below == {"sweep_is_missing", "reader_stands_still"}


def test_every_alarm_is_heard_when_it_rings_and_when_it_stops(stage: Synthesized) -> None:
    (topic,) = stage.resources("AWS::SNS::Topic")

    for alarm in alarms_of(stage):
        assert alarm["AlarmActions"] == alarm["OKActions"] == [{"Ref": topic}]
        assert alarm.get("InsufficientDataActions", [{"Ref": topic}]) == [{"Ref": topic}]


def test_every_reader_is_watched_for_standing_still(stage: Synthesized) -> None:
    """A mapping that is switched off reports nothing; one that finds nothing to read reports zeros.

    docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html#event-source-mapping-metrics
    """
    mappings = stage.resources("AWS::Lambda::EventSourceMapping")

    watched = {dimensions["EventSourceMappingUUID"]["Ref"] for _, dimensions in watching(stage, "PolledEventCount")}

    assert watched == set(mappings)
    assert {alarm["Statistic"] for alarm, _ in watching(stage, "PolledEventCount")} == {"SampleCount"}
    assert all(each["Properties"]["MetricsConfig"] == {"Metrics": ["EventCount"]} for each in mappings.values())


def test_the_topic_is_encrypted_with_a_key_that_cloudwatch_may_use(stage: Synthesized) -> None:
    (key,) = stage.resources("AWS::KMS::Key").items()
    topic = stage.only("AWS::SNS::Topic")["Properties"]

    statements = key[1]["Properties"]["KeyPolicy"]["Statement"]
    (cloudwatch,) = (each for each in statements if each["Principal"].get("Service") == "cloudwatch.amazonaws.com")

    assert topic["KmsMasterKeyId"] == {"Fn::GetAtt": [key[0], "Arn"]}
    assert key[1]["Properties"]["EnableKeyRotation"] is True
    assert set(cloudwatch["Action"]) == {"kms:Decrypt", "kms:GenerateDataKey*"}
    assert cloudwatch["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}


def test_the_topic_takes_alarms_of_this_account_and_nothing_without_tls(prod: Synthesized) -> None:
    statements = prod.only("AWS::SNS::TopicPolicy")["Properties"]["PolicyDocument"]["Statement"]

    (allowed,) = (each for each in statements if each["Effect"] == "Allow")
    (denied,) = (each for each in statements if each["Effect"] == "Deny")

    assert allowed["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    assert allowed["Action"] == "sns:Publish"
    assert allowed["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
    assert denied["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_an_address_is_written_to_where_the_stage_names_one(prod: Synthesized) -> None:
    watched = replace(STAGES["dev"], watched=True, alarm_email="oncall@shop.example")

    template = Template.from_stack(DealsStack(cdk.App(), stage=watched)).to_json()

    subscriptions = Synthesized(template).only("AWS::SNS::Subscription")["Properties"]
    assert (subscriptions["Protocol"], subscriptions["Endpoint"]) == ("email", "oncall@shop.example")
    assert prod.resources("AWS::SNS::Subscription") == {}


def test_a_stage_that_nobody_watches_has_no_alarms_to_pay_for(dev: Synthesized) -> None:
    kinds = {each["Type"] for each in dev.template["Resources"].values()}

    assert not any(kind.startswith(("AWS::CloudWatch::", "AWS::SNS::", "AWS::KMS::")) for kind in kinds)
    assert "MetricsConfig" not in json.dumps(dev.resources("AWS::Lambda::EventSourceMapping"))


def test_an_address_without_alarms_is_refused() -> None:
    with pytest.raises(ValueError, match="not watched"):
        replace(STAGES["dev"], alarm_email="oncall@shop.example")


def test_two_stages_and_two_regions_have_dashboards_of_their_own(stage: Synthesized) -> None:
    dashboard = stage.only("AWS::CloudWatch::Dashboard")["Properties"]

    assert dashboard["DashboardName"]["Fn::Join"][1][1] == {"Ref": "AWS::Region"}
    assert '"Stage"' in json.dumps(dashboard["DashboardBody"]).replace("\\", "")


def test_the_gateways_are_watched_by_their_stages(stage: Synthesized) -> None:
    for metric in ("Latency", "5XXError"):
        assert {len(dimensions) for _, dimensions in watching(stage, metric)} == {2}
        assert all({"ApiName", "Stage"} == set(dimensions) for _, dimensions in watching(stage, metric))


def test_a_small_account_has_fewer_workers(dev: Synthesized, prod: Synthesized) -> None:
    def workers(stage: Synthesized) -> list[int]:
        sources = [each["Properties"] for each in stage.resources("AWS::Lambda::EventSourceMapping").values()]
        return [each["ScalingConfig"]["MaximumConcurrency"] for each in sources if "ScalingConfig" in each]

    assert (workers(dev), workers(prod)) == ([2], [10])


def test_no_stage_silences_the_lines_that_carry_metrics() -> None:
    assert {stage.log_level for stage in STAGES.values()} <= {"DEBUG", "INFO"}


def test_the_dashboard_shows_every_alarm_and_every_metric_of_ours(stage: Synthesized) -> None:
    body = stage.only("AWS::CloudWatch::Dashboard")["Properties"]["DashboardBody"]["Fn::Join"][1]
    text = "".join(part if isinstance(part, str) else "x" for part in body)
    widgets = json.loads(text)["widgets"]

    shown = {metric[1] for widget in widgets for metric in widget["properties"].get("metrics", ())}
    shown |= {
        str(words) for widget in widgets for metric in widget["properties"].get("metrics", ()) for words in metric
    }
    named = [part["Fn::GetAtt"][0] for part in body if isinstance(part, dict) and "Fn::GetAtt" in part]

    statuses = [len(widget["properties"]["alarms"]) for widget in widgets if widget["type"] == "alarm"]

    assert all(1 <= number <= 100 for number in statuses)
    assert sum(statuses) == len(stage.resources("AWS::CloudWatch::Alarm"))
    assert set(REPORTED) <= shown
    # A metric that two functions report is two, and each has its line.
    lines = {tuple(metric[1:4]) for widget in widgets for metric in widget["properties"].get("metrics", ())}
    assert {
        (metric.name, metrics.DIMENSION, service) for metric in REPORTED.values() for service in metric.services
    } <= lines
    assert set(stage.resources("AWS::CloudWatch::Alarm")) <= set(named)
