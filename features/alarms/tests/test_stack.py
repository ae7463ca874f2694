"""Alarms, their topic, the budget and the dashboard."""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Annotations, Match

from features.alarms import stack
from features.alarms.measures import OPERATIONS
from features.alarms.rights import ESSENTIAL, USUAL, Alarms, Bounds
from infra.functions import FUNCTIONS, reporters
from infra.rows import Caller
from infra.settings import STAGES
from infra.stage import Bound, Watch
from local.settings import ROOT
from shared import settings
from shared.dynamodb.schema import INDEXES
from shared.runtime import metrics
from tests.infra.conftest import Assembly, Synthesized
from tests.infra.test_runbook import OF_NO_FAULT, REPORTED, SECTIONS, sections_of
from tests.support.cases import cases, cases_by_name

ANSWERING = {row.name for row in FUNCTIONS if row.caller is Caller.GATEWAY and not row.shows_work}
Alarm = dict[str, Any]

BOUNDS: dict[str, Bound] = {
    **{each.name: getattr(USUAL, each.name) for each in fields(Bounds)},
    **cases_by_name("BOUNDS"),
}
"""The bound of each kind of alarm: those of every stage, and those that features have."""


def alarms_of(stage: Synthesized) -> list[Alarm]:
    return stage.all("AWS::CloudWatch::Alarm")


def watching(stage: Synthesized, metric: str) -> Iterator[dict[str, Any]]:
    """The dimensions of each alarm on a metric."""
    for alarm in alarms_of(stage):
        if alarm["MetricName"] == metric:
            yield {each["Name"]: each["Value"] for each in alarm["Dimensions"]}


def modules_watched(stage: Synthesized, metric: str) -> set[str]:
    """The modules of the functions that have an alarm on a metric of Lambda's."""
    return {stage.module(dimensions["FunctionName"]["Ref"]) for dimensions in watching(stage, metric)}


def kind_of(alarm: Alarm) -> str:
    """The bound's name, from the alarm's: ``BigTimeDeals-dev.WorkIsOld`` is ``work_is_old``."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", alarm["AlarmName"].split(".")[1]).lower()


def seconds_of(bound: Bound) -> int:
    """How long something must be as bad as a bound says before the alarm rings."""
    return bound.minutes * 60 * bound.points


def test_each_bound_has_an_alarm_that_rings_as_it_says(full: Synthesized) -> None:
    for alarm in alarms_of(full):
        bound = BOUNDS[kind_of(alarm)]
        stated = [alarm[name] for name in ("Threshold", "Period", "DatapointsToAlarm", "EvaluationPeriods")]
        assert stated == [bound.threshold, bound.minutes * 60, bound.points, bound.of], alarm["AlarmName"]

    assert {kind_of(alarm) for alarm in alarms_of(full)} == set(BOUNDS)


def test_each_alarm_has_its_section_of_the_runbook_and_each_section_its_alarm(full: Synthesized) -> None:
    named = defaultdict(set)
    for alarm in alarms_of(full):
        told = re.fullmatch(r"(.+?)(?:: \S+)?\. What to do: (\S+), under '(.+)'", alarm["AlarmDescription"])
        assert told, alarm["AlarmDescription"]
        assert told[1] == told[3]
        named[told[2]].add(told[3])

    assert named.pop("docs/runbook.md") == set(SECTIONS) - OF_NO_FAULT
    for page, sections in named.items():
        assert sections <= sections_of((ROOT / page).read_text(encoding="utf-8")).keys()


def test_each_bound_has_its_reason_and_can_be_evaluated() -> None:
    (declared,) = ast.parse(inspect.getsource(Bounds)).body
    assert isinstance(declared, ast.ClassDef)
    for statement, after in zip(declared.body, declared.body[1:], strict=False):
        if isinstance(statement, ast.AnnAssign):
            assert isinstance(after, ast.Expr), ast.unparse(statement)
    for bound in BOUNDS.values():
        assert bound.points <= bound.of
        assert bound.minutes * bound.of <= 24 * 60


def test_a_bound_lies_between_what_is_usual_and_what_does_harm(full: Synthesized) -> None:
    lifetime = settings.CACHE_LIFETIME.total_seconds()
    timeouts = {module: full.function(module)["Timeout"] * 1000 for module in full.modules()}
    working = set(timeouts) - ANSWERING - {"seed"}
    streams = full.all("AWS::Lambda::EventSourceMapping")
    (oldest,) = {source["MaximumRecordAgeInSeconds"] for source in streams if "MaximumRecordAgeInSeconds" in source}
    day = 24 * 3600

    assert lifetime / 2 < USUAL.cache_is_old.threshold < lifetime
    assert min(timeouts[module] for module in ANSWERING) > USUAL.answer_is_slow.threshold
    assert min(timeouts[module] for module in working) / 2 >= USUAL.work_is_slow.threshold
    assert USUAL.stream_is_behind.threshold < oldest * 1000
    assert seconds_of(USUAL.dead_letters_grow_old) + oldest < day


def test_a_cohort_that_fails_rings_while_sqs_still_counts_it(full: Synthesized) -> None:
    """SQS leaves a message that was received three times out of the age of the oldest one.

    docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
    """
    queues = full.all("AWS::SQS::Queue")
    (hidden,) = {each["VisibilityTimeout"] for each in queues if "RedrivePolicy" in each}
    third_delivery = 2 * hidden

    assert hidden < USUAL.work_is_old.threshold
    assert USUAL.work_is_old.threshold + seconds_of(USUAL.work_is_old) < third_delivery


def test_every_function_except_the_deployments_own_is_watched(full: Synthesized) -> None:
    everything = set(full.modules()) - {"seed"}

    assert everything > ANSWERING
    for metric in ("Errors", "Throttles", "Duration"):
        assert modules_watched(full, metric) == everything, metric


def test_every_reader_is_watched_for_being_late_and_for_standing_still(full: Synthesized) -> None:
    """A mapping that is switched off reports nothing; one that finds nothing to read reports zeros.

    docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html#event-source-mapping-metrics
    """
    mappings = full.resources("AWS::Lambda::EventSourceMapping")
    readers = {
        full.module(source["Properties"]["FunctionName"]["Ref"])
        for source in mappings.values()
        if "StreamArn" in json.dumps(source["Properties"]["EventSourceArn"])
    }
    polled = [alarm for alarm in alarms_of(full) if alarm["MetricName"] == "PolledEventCount"]

    assert readers == {"publisher", "refresher"} == modules_watched(full, "IteratorAge")
    assert {each["EventSourceMappingUUID"]["Ref"] for each in watching(full, "PolledEventCount")} == set(mappings)
    assert {alarm["Statistic"] for alarm in polled} == {"SampleCount"}
    assert all(each["Properties"]["MetricsConfig"] == {"Metrics": ["EventCount"]} for each in mappings.values())


def test_a_loop_that_lambda_stops_is_watched_where_one_is_allowed(full: Synthesized) -> None:
    """One of the metrics of invocations: docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html"""
    # A cohort of readers queues the next one: after 16 of them Lambda would take this for an endless loop.
    allowed = {module for module in full.modules() if full.function(module).get("RecursiveLoop") == "Allow"}

    assert allowed == modules_watched(full, "RecursiveInvocationsDropped") == {"messenger"}


def test_every_queues_depth_is_watched_and_the_age_of_what_lambda_takes_out(full: Synthesized) -> None:
    """A look receives a message, and SQS leaves one that was received three times out of its queue's age.

    docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
    """
    queues = full.resources("AWS::SQS::Queue")
    work = {name for name, each in queues.items() if "RedrivePolicy" in each["Properties"]}
    dead = set(queues) - work
    grown_old = [alarm for alarm in alarms_of(full) if kind_of(alarm) == "dead_letters_grow_old"]

    def watched(metric: str) -> set[str]:
        return {dimensions["QueueName"]["Fn::GetAtt"][0] for dimensions in watching(full, metric)}

    assert watched("ApproximateNumberOfMessagesVisible") == set(queues)
    assert watched("ApproximateAgeOfOldestMessage") == work
    assert [alarm["MetricName"] for alarm in grown_old] == ["ApproximateNumberOfMessagesVisible"] * len(dead)
    assert {alarm["Threshold"] for alarm in grown_old} == {1}


def test_the_table_and_each_index_are_watched_for_being_refused(full: Synthesized) -> None:
    indexes = {None, *(index.name for index in INDEXES)}

    for metric in ("ReadThrottleEvents", "WriteThrottleEvents"):
        assert {each.get("GlobalSecondaryIndexName") for each in watching(full, metric)} == indexes, metric


def test_the_tables_failures_are_watched_for_each_operation_that_a_role_allows(full: Synthesized) -> None:
    # A transaction is allowed as what is in it, and a batch of statements as its statements.
    together = {"ConditionCheckItem": "TransactWriteItems", "PartiQLInsert": "BatchExecuteStatement"}
    allowed = {
        action.removeprefix("dynamodb:")
        for module in set(full.modules()) - {"seed"}
        for action, _ in full.allowed(module)
        if action.startswith("dynamodb:") and "Stream" not in action and "Shard" not in action
    } - {"GetRecords"}

    watched = {dimensions["Operation"] for dimensions in watching(full, "SystemErrors")}

    assert watched == set(OPERATIONS) >= {together.get(operation, operation) for operation in allowed}


def test_an_alarm_on_a_metric_of_ours_looks_where_the_function_puts_it(full: Synthesized) -> None:
    places = {
        (variables["POWERTOOLS_METRICS_NAMESPACE"], variables["POWERTOOLS_SERVICE_NAME"])
        for variables in map(full.variables, full.modules())
    }
    watched = [alarm for alarm in alarms_of(full) if not alarm["Namespace"].startswith("AWS/")]
    of = {
        name: {dimensions[metrics.DIMENSION] for dimensions in watching(full, name)}
        for name in {alarm["MetricName"] for alarm in watched}
    }

    # Where the table is read, and where a caller waits: these every function may report.
    reading = {row.name for row in FUNCTIONS if row.access and row.name in full.modules()} - {"seed"}
    everywhere = {"DamagedItems": reading, "Faults": ANSWERING}
    assert of == {name: set(reporters(REPORTED[name])) or everywhere[name] for name in of}
    assert {(alarm["Namespace"], alarm["Dimensions"][0]["Value"]) for alarm in watched} <= places


RING_IN_SILENCE = {
    "cache_is_old",
    "clock_is_stopped",
    "sweep_is_missing",
    "reader_stands_still",
    *cases("RING_IN_SILENCE"),
}
"""Metrics that come as long as their source works: the clock each minute, a reader at each poll."""


def test_silence_rings_only_for_what_always_reports_and_not_before_its_first_value(full: Synthesized) -> None:
    """A new alarm is in INSUFFICIENT_DATA, stays there until the first value, and notifies of changes only.

    docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-actions.html
    """
    silent = {kind_of(alarm) for alarm in alarms_of(full) if alarm["TreatMissingData"] == "missing"}
    told = {kind_of(alarm) for alarm in alarms_of(full) if "InsufficientDataActions" in alarm}
    below = {kind_of(alarm) for alarm in alarms_of(full) if alarm["ComparisonOperator"] == "LessThanThreshold"}

    assert silent == told == RING_IN_SILENCE
    assert all(alarm["TreatMissingData"] in ("missing", "notBreaching") for alarm in alarms_of(full))
    # Only what should happen rings below its bound.
    assert below == {"clock_is_stopped", "sweep_is_missing", "reader_stands_still", *cases("RING_BELOW")}


def test_every_alarm_is_heard_when_it_rings_and_when_it_stops(full: Synthesized) -> None:
    (topic,) = full.resources("AWS::SNS::Topic")

    for alarm in alarms_of(full):
        assert alarm["AlarmActions"] == alarm["OKActions"] == [{"Ref": topic}]
        assert alarm.get("InsufficientDataActions", [{"Ref": topic}]) == [{"Ref": topic}]


def test_the_alarm_topic_takes_alarms_and_the_budget_of_this_account_over_tls_only(prod: Synthesized) -> None:
    statements = prod.only("AWS::SNS::TopicPolicy")["PolicyDocument"]["Statement"]
    allowed = [each for each in statements if each["Effect"] == "Allow"]
    (denied,) = (each for each in statements if each["Effect"] == "Deny")

    assert {each["Principal"]["Service"] for each in allowed} == {"cloudwatch.amazonaws.com", "budgets.amazonaws.com"}
    for each in allowed:
        assert each["Action"] == "sns:Publish"
        assert each["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
    assert denied["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_a_stage_that_watches_the_essential_has_the_alarms_of_loss_and_of_cost(prod: Synthesized) -> None:
    assert {kind_of(alarm) for alarm in alarms_of(prod)} == ESSENTIAL.union(cases("ESSENTIAL"))
    assert len(list(watching(prod, "Count"))) == len(prod.resources("AWS::ApiGateway::Stage")) == 2
    assert prod.resources("AWS::CloudWatch::Dashboard") == {}
    assert "MetricsConfig" not in json.dumps(prod.resources("AWS::Lambda::EventSourceMapping"))
    # Its functions report what these alarms look at, and nothing else that is paid for.
    looked_at = {alarm["MetricName"] for alarm in alarms_of(prod)} & set(REPORTED)
    told = {prod.variables(module).get("METRICS") for module in prod.modules()}
    assert told == {" ".join(looked_at)}


def test_a_month_that_costs_more_than_its_budget_is_reported_where_alarms_are(prod: Synthesized) -> None:
    budget = prod.only("AWS::Budgets::Budget")
    (topic,) = prod.resources("AWS::SNS::Topic")

    assert budget["Budget"]["BudgetLimit"] == {"Amount": 25, "Unit": "USD"}
    assert budget["Budget"]["TimeUnit"] == "MONTHLY"
    told = {
        each["Notification"]["NotificationType"]: each["Subscribers"] for each in budget["NotificationsWithSubscribers"]
    }
    assert set(told) == {"ACTUAL", "FORECASTED"}
    assert [*told.values()] == [[{"SubscriptionType": "SNS", "Address": {"Ref": topic}}]] * 2


def test_an_address_is_written_to_where_the_stage_names_one(prod: Synthesized, full: Synthesized) -> None:
    subscription = full.only("AWS::SNS::Subscription")
    assert (subscription["Protocol"], subscription["Endpoint"]) == ("email", "oncall@shop.example")
    assert prod.resources("AWS::SNS::Subscription") == {}


def test_an_unwatched_stage_has_no_alarms_to_pay_for(dev: Synthesized) -> None:
    kinds = {each["Type"] for each in dev.template["Resources"].values()}

    assert not any(kind.startswith(("AWS::CloudWatch::", "AWS::SNS::", "AWS::KMS::")) for kind in kinds)
    assert "MetricsConfig" not in json.dumps(dev.resources("AWS::Lambda::EventSourceMapping"))


def test_the_laptop_has_no_nested_stack_because_its_cloud_cannot_update_one(
    assemblies: Callable[[str], Assembly],
) -> None:
    assert assemblies("local").main(STAGES["local"]).resources("AWS::CloudFormation::Stack") == {}


def test_two_stages_and_two_regions_have_dashboards_of_their_own(full: Synthesized) -> None:
    dashboard = full.only("AWS::CloudWatch::Dashboard")

    assert dashboard["DashboardName"]["Fn::Join"][1][1] == {"Ref": "AWS::Region"}
    assert '"Stage"' in json.dumps(dashboard["DashboardBody"]).replace("\\", "")


def test_the_gateways_are_watched_by_their_stages(full: Synthesized) -> None:
    for metric in ("Latency", "5XXError"):
        assert [set(dimensions) for dimensions in watching(full, metric)] == [{"ApiName", "Stage"}] * 2


def test_the_dashboard_shows_every_alarm_and_every_metric_of_ours(full: Synthesized) -> None:
    body = full.only("AWS::CloudWatch::Dashboard")["DashboardBody"]["Fn::Join"][1]
    widgets = json.loads("".join(part if isinstance(part, str) else "x" for part in body))["widgets"]
    named = {part["Fn::GetAtt"][0] for part in body if isinstance(part, dict) and "Fn::GetAtt" in part}

    lines = [metric for widget in widgets for metric in widget["properties"].get("metrics", ())]
    statuses = [len(widget["properties"]["alarms"]) for widget in widgets if widget["type"] == "alarm"]

    assert all(1 <= number <= 100 for number in statuses)
    assert sum(statuses) == len(full.resources("AWS::CloudWatch::Alarm"))
    assert set(full.resources("AWS::CloudWatch::Alarm")) <= named
    assert set(REPORTED) <= {str(words) for metric in lines for words in metric}
    # A metric that two functions report is two, and each has its line.
    assert {
        (metric.name, metrics.DIMENSION, service) for metric in REPORTED.values() for service in reporters(metric)
    } <= {tuple(metric[1:4]) for metric in lines}


def test_a_stage_with_data_says_what_it_lacks_to_be_heard(assemblies: Callable[[str], Assembly]) -> None:
    prod = STAGES["prod"]
    whole = assemblies("prod").app.node.find_child(prod.stack_name)

    assert isinstance(whole, cdk.Stack)
    assert Annotations.from_stack(whole).find_warning("*", Match.string_like_regexp("has no email"))
    heard = replace(prod, options=(Alarms(email="oncall@shop.example", budget=25),))
    assert stack.lacks(heard) == stack.lacks(STAGES["dev"]) == []
    unheard = stack.lacks(replace(prod, watch=Watch.NOTHING, options=()))
    assert [each.split(" ")[3].rstrip(":") for each in unheard] == ["watch", "email", "budget"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: replace(STAGES["dev"], options=(Alarms(email="oncall@shop.example"),)), "not watched"),
        (lambda: replace(STAGES["dev"], options=(Alarms(budget=10),)), "not watched"),
        (lambda: Alarms(budget=0), "budget must be at least 1"),
        (lambda: Alarms(email="oncall"), "an email address"),
    ],
)
def test_settings_that_do_not_fit_are_refused(wrong: Callable[[], object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        wrong()
