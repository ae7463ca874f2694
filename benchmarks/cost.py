"""Dollars: what the site's operations cost at list prices. ``python -m benchmarks cost`` writes docs/cost.md.

The cost of operations is measured (``operations.py``). The time that Lambda would bill for them is not, but computed
from the processor time here, by stated assumptions; other assumptions are shown, too.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import aws_cdk as cdk
from aws_cdk.assertions import Template

from benchmarks.browser import in_a_browser
from benchmarks.harness import markdown, record
from benchmarks.operations import Measured, measure
from benchmarks.prices import (
    ALARM,
    DASHBOARD,
    EDGE_EGRESS,
    EDGE_REQUEST,
    FLAT_PLANS,
    GATEWAY,
    GIGABYTE,
    GOAL,
    HTTP_GATEWAY,
    MAX_AGE,
    METRIC,
    MILLION,
    MONTH,
    PRICES,
    PRICES_AS_OF,
    QUEUEING,
    RECOVERY,
    SECRET,
    STORAGE,
    WAF_RULE,
    WEB_ACL,
    Assumptions,
    Operation,
    edge_million,
    edge_month,
    hit_rate,
    hits_needed,
)
from infra.cdn.edge import CONTENT_POLICY
from infra.gateway import ACCESS_LOG
from infra.observability.bounds import ESSENTIAL_METRICS
from infra.settings import STAGES, Cdn, Stage, Watch
from infra.stacks import DealsStack
from shared.runtime import metrics
from shared.runtime.metrics import Metric

PAGE = Path(__file__).parent.parent / "docs" / "cost.md"
CACHED = "front page, from its cached copy"
MADE = "front page, made from the indexes"
CLOCK = "a minute's work of the clock"
WATCH = "watch"

BUNDLE_DISCOUNT = 0.30
"""Of CloudFront's bill, for a year's commitment to it: its security savings bundle."""

CACHES = (1, 10)
"""Regional caches that views are spread over: readers of one country have one, of the world a dozen."""

ANSWER_HEAD = """\
content-type: application/json
vary: Accept-Encoding
content-encoding: br
etag: W/"7a8e93da8f90787ed94645dad54aeb06"
cache-control: public, max-age=5, stale-while-revalidate=30
x-correlation-id: 4a1f6c7e-54cf-4b0e-9a38-4f4d0a9ce3a1
date: Sat, 21 Nov 2026 14:05:09 GMT
x-amzn-requestid: 4a1f6c7e-54cf-4b0e-9a38-4f4d0a9ce3a1
x-amz-apigw-id: NvTzeGFvliAEKhQ=
x-amzn-trace-id: Root=1-6a2c1c55-0f2d3c4b5a69788796a5b4c3;Sampled=0
via: 1.1 0123456789abcdef0123456789abcdef.cloudfront.net (CloudFront)
x-cache: Hit from cloudfront
x-amz-cf-pop: FRA60-P5
x-amz-cf-id: 0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST==
age: 3
strict-transport-security: max-age=31536000; includeSubDomains
x-content-type-options: nosniff
x-frame-options: DENY
referrer-policy: no-referrer
content-security-policy: """
"""The head of an answer through CloudFront, to be counted; its content security policy follows."""

POLLS = 5 * 3 * MONTH / 60
"""Lambda's requests to an SQS queue in a month: five pollers, each waiting up to twenty seconds for a message."""

TYPICAL = {
    "requestId": "4a1f6c7e-54cf-4b0e-9a38-4f4d0a9ce3a1",
    "requestTime": "21/Nov/2026:14:05:09 +0000",
    "identity.sourceIp": "203.0.113.107",
    "identity.userAgent": "Amazon CloudFront",
    "httpMethod": "GET",
    "resourcePath": "/front-page",
    "path": "/v1/front-page",
    "protocol": "HTTP/1.1",
    "tlsVersion": "TLSv1.3",
    "status": "200",
    "responseLength": "20793",
    "responseLatency": "17",
    "integration.latency": "15",
}
"""Values with which the gateway fills its log line; it puts a hyphen where there is none."""


def main(rounds: int = 15) -> None:
    """Measure, compute, print and record."""
    measured = measure(rounds)
    given = Assumptions(access_log=len(access_log_line()), headers=len(ANSWER_HEAD) + len(CONTENT_POLICY))
    for section, text in sections(measured, given).items():
        record(section, text, PAGE)


def sections(measured: Measured, given: Assumptions) -> dict[str, str]:
    """The generated parts of the page, by the names of their markers."""
    operations = {each.name: each for each in measured.operations}
    sent = measured.packed + given.headers
    return {
        "prices": _prices(),
        "assumptions": _assumptions(given),
        "measured": _measured(measured, given),
        "operations": _operations(measured.operations, given),
        "front page": _front_page(operations, sent, given),
        "in a browser": in_a_browser(operations[CACHED].million(given, egress=False), given.headers),
        "months": _months(operations[CACHED], sent, given),
        "alternatives": _alternatives(operations[CACHED], sent, given),
        "sensitivity": _sensitivity(operations, given),
        "fixed": fixed(*(round(operations[each].million(given), 2) for each in (CLOCK, WATCH))),  # as the page has them
    }


def access_log_line() -> str:
    """The line that the gateway logs of a request of the front page."""
    line = json.dumps(ACCESS_LOG)
    return re.sub(r"\$context\.([\w.]+)", lambda found: TYPICAL.get(found[1], "-"), line)


def _prices() -> str:
    rows = [[each.what, f"${each.dollars:.10g}", each.unit, each.page] for each in PRICES]
    return f"As of {PRICES_AS_OF}.\n\n" + markdown(["What", "Price", "For one", "Stated on"], rows)


def _assumptions(given: Assumptions) -> str:
    return "\n".join(
        [
            "- A processor of Lambda's (arm64) takes as long as the one that measured.",
            "- A function has the share of it that its memory buys: all of it at 1,769 MB.",
            f"- DynamoDB answers in {given.wait:g} ms; requests that are under way together wait together.",
            f"- The head of an answer is {given.headers} bytes: one that CloudFront would send, counted.",
            f"- For each invocation Lambda itself logs {given.platform_log} bytes: start, end, report.",
            f"- For each request the gateway logs {given.access_log} bytes: its format, filled in.",
            f"- Each line logged is billed with {given.event_overhead} bytes more.",
        ]
    )


def _measured(measured: Measured, given: Assumptions) -> str:
    rows = []
    for each in measured.operations:
        functions = Counter(step.function for step in each.invocations)
        rows.append(
            [
                each.name,
                ", ".join(functions),
                f"{each.reads / each.count:.2f}",
                f"{each.writes / each.count:.2f}",
                f"{each.queue / each.count:.3g}",
                f"{sum(step.cpu for step in each.invocations) / each.count:.2f}",
                f"{sum(step.billed(given) for step in each.invocations) / each.count:.3g}",
                f"{sum(step.log_bytes for step in each.invocations) / each.count:,.0f}",
                f"{each.body:,}" if each.body else "",
            ]
        )
    head = ["Operation", "Functions", "RRU", "WRU", "SQS", "CPU here, ms", "Billed, ms", "Logged, bytes", "Body, bytes"]
    sizes = f"The front page is {measured.plain:,} bytes of JSON, {measured.packed:,} compressed by gzip."
    return f"{markdown(head, rows)}\n\n{sizes}"


def _operations(operations: Iterable[Operation], given: Assumptions) -> str:
    services = ["API Gateway", "Lambda", "DynamoDB", "logs", "SQS", "data"]
    rows = []
    for each in operations:
        cost = each.dollars(given)
        rows.append(
            [each.name, *(_dollars(cost[service] * MILLION) for service in services), _dollars(each.million(given))]
        )
    return markdown(["For a million of", *services, "Sum"], rows)


def _front_page(operations: Mapping[str, Operation], sent: int, given: Assumptions) -> str:
    made, cached = operations[MADE], operations[CACHED]
    origin = cached.million(given, egress=False)
    data = EDGE_EGRESS.each * sent / GIGABYTE * MILLION
    edge = f"{_dollars(EDGE_REQUEST.each * MILLION)} requests + {_dollars(data)} data"
    rows = [
        ["straight from the API, made from the indexes", "", _dollars(made.million(given))],
        ["straight from the API, from the cached copy", "", _dollars(cached.million(given))],
        *(
            [
                f"through CloudFront, {hits:.1%} hits",
                f"{edge} + {1 - hits:.1%} of {_dollars(origin)}",
                _dollars(edge_million(origin, hits, sent)),
            ]
            for hits in (0.9, 0.98, 0.998)
        ),
        [
            "the same, with a year's commitment, 98.0% hits",
            f"{1 - BUNDLE_DISCOUNT:.0%} of requests and data + 2.0% of {_dollars(origin)}",
            _dollars(edge_million(origin, 0.98, sent, discount=BUNDLE_DISCOUNT)),
        ],
    ]
    needed = {"at list prices": 0.0, "with a year's commitment": BUNDLE_DISCOUNT}
    found = {name: hits_needed(origin, sent, discount=discount) for name, discount in needed.items()}
    lines = [f"- {name}: {f'{hits:.1%}' if hits <= 1 else 'none is enough'}" for name, hits in found.items()]
    left = (GOAL - EDGE_REQUEST.each * MILLION) / MILLION / EDGE_EGRESS.each * GIGABYTE
    return (
        markdown(["A million views, no free tier", "Made of", "Dollars"], rows)
        + f"\n\nThe hit rate at which they cost ${GOAL:.2f}:\n\n"
        + "\n".join(lines)
        + f"\n\nA view gets {sent:,} bytes; with nothing but hits, the goal leaves {left:,.0f} for them."
    )


def _months(view: Operation, sent: int, given: Assumptions) -> str:
    """The cost of months of views, with the hit rate that so many views have."""
    origin = view.million(given, egress=False)
    rows = []
    for views in (0.1, 1, 3, 10, 30, 100, 300, 1000):
        row = [f"{views:g}"]
        for caches in CACHES:
            hits = hit_rate(views * MILLION / MONTH / caches)
            month = edge_month(views * MILLION, origin, hits, sent)
            row += [f"{hits:.1%}", _dollars(month / views), _dollars(edge_million(origin, hits, sent))]
        rows.append(row)
    head = ["Million views a month"]
    for caches in CACHES:
        where = "one cache" if caches == 1 else f"{caches} caches"
        head += [f"Hits, {where}", "A million cost", "without the free tier"]
    return f"{markdown(head, rows)}\n\n{_met(origin, sent)}"


def _met(origin: float, sent: int) -> str:
    """For how many views a month the goal is met, with the free tier."""
    millions = [views / 10 for views in range(1, 20_000)]
    lines = []
    for caches in CACHES:
        met = [
            views
            for views in millions
            if edge_month(views * MILLION, origin, hit_rate(views * MILLION / MONTH / caches), sent) <= GOAL * views
        ]
        where = "one cache" if caches == 1 else f"{caches} caches"
        lines.append(f"- through {where}: from {met[0]:g} to {met[-1]:g} million views a month")
    return f"A million views cost at most ${GOAL:.2f} with the free tier:\n\n" + "\n".join(lines)


def _alternatives(view: Operation, sent: int, given: Assumptions) -> str:
    origin, hits = view.million(given, egress=False), 0.98
    logs = view.dollars(given, egress=False)["logs"] * MILLION
    http_api = origin - (GATEWAY.each - HTTP_GATEWAY.each) * MILLION
    no_gateway = origin - GATEWAY.each * MILLION
    half = given.headers + (sent - given.headers) / 2
    rows = [
        ["as it is", _dollars(origin), _dollars(edge_million(origin, hits, sent))],
        ["an HTTP API for the REST API", _dollars(http_api), _dollars(edge_million(http_api, hits, sent))],
        ["a function URL for the gateway", _dollars(no_gateway), _dollars(edge_million(no_gateway, hits, sent))],
        ["no log lines", _dollars(origin - logs), _dollars(edge_million(origin - logs, hits, sent))],
        ["a body of half the size", _dollars(origin), _dollars(edge_million(origin, hits, half))],
        *(
            [
                f"CloudFront's flat-rate plan {name}, all used",
                _dollars(origin),
                _dollars(dollars / requests * MILLION + (1 - hits) * origin),
            ]
            for name, dollars, requests in FLAT_PLANS
        ),
    ]
    views, kept = MILLION, 30
    now, then = (hit_rate(views / MONTH, seconds) for seconds in (MAX_AGE, kept))
    longer = (
        f"With {kept} seconds for {MAX_AGE}, a million views a month of one cache would be {then:.1%} hits instead of "
        f"{now:.1%}, and {_dollars(edge_month(views, origin, then, sent))} dollars with the free tier instead of "
        f"{_dollars(edge_month(views, origin, now, sent))}."
    )
    return (
        markdown(["Instead, at 98% hits and without the free tier", "A million fetches", "A million views"], rows)
        + f"\n\n{longer}"
    )


def _sensitivity(operations: Mapping[str, Operation], given: Assumptions) -> str:
    cases = {
        "as assumed": given,
        "a processor twice as fast": dataclasses.replace(given, slower=given.slower / 2),
        "a processor half as fast": dataclasses.replace(given, slower=given.slower * 2),
        "DynamoDB in 10 ms": dataclasses.replace(given, wait=10.0),
    }
    names = [name for name in operations if name != CLOCK]
    rows = [[case, *(_dollars(operations[name].million(assumed)) for name in names)] for case, assumed in cases.items()]
    return markdown(["For a million of", *names], rows)


def fixed(clock: float, dearest: float) -> str:
    """A month's cost without a visitor, of three stages, and the most that a day costs. ``clock`` is for a million
    minutes, ``dearest`` for a million of the dearest requests that anyone may send."""
    prod = STAGES["prod"]
    stages = {
        "prod": prod,
        "the same, with CloudFront and `Watch.FULL`": dataclasses.replace(prod, cdn=Cdn(), watch=Watch.FULL),
        "dev": STAGES["dev"],
    }
    months = [by_the_month(stage, clock) for stage in stages.values()]
    rows = [
        [parts[0][0], *(cell for _, number, dollars in parts for cell in (f"{number:,}", _dollars(dollars)))]
        for parts in zip(*months, strict=True)
        if any(number for _, number, _ in parts)
    ]
    sums = ["Sum", *(cell for month in months for cell in ("", _dollars(sum(dollars for _, _, dollars in month))))]
    head = ["In a month", *(cell for name in stages for cell in (name, "Dollars"))]
    days = [f"${_dollars(day_at_the_limit(stage, dearest))} on {stage.name}" for stage in (prod, STAGES["dev"])]
    hour = prod.bounds.too_many_requests.threshold
    return (
        markdown(head, [*rows, sums])
        + f"\n\nAnd for each GB in the table ${STORAGE.dollars:.2f} to store it, ${RECOVERY.dollars:.2f} to be able to "
        "restore it. An account has ten metrics of alarms, ten custom metrics, three dashboards of up to 50 metrics "
        "and a million requests to SQS free of charge ([CloudWatch](https://aws.amazon.com/cloudwatch/pricing/), "
        "[SQS](https://aws.amazon.com/sqs/pricing/)); nothing of that is taken off here.\n\n"
        f"A whole day at the limit of both gateways, each request the dearest that anyone may send (a watch), costs "
        f"{' and '.join(days)}. On prod an alarm rings after an hour with more than {hour:,} requests, which cost "
        f"${_dollars(hour * dearest / MILLION)}."
    )


def day_at_the_limit(stage: Stage, dearest: float) -> float:
    """The most that a day costs: both gateways at their throttles, ``dearest`` for a million requests."""
    return 2 * stage.throttle_rate * 86_400 * dearest / MILLION


def by_the_month(stage: Stage, clock: float) -> list[tuple[str, int, float]]:
    """The cost of a stage in a month without a visitor: name, number and dollars of each."""
    counted = count_resources(stage)
    # With all of them, each function also reports its cold starts.
    every = sum(max(1, len(each.services)) for each in vars(metrics).values() if isinstance(each, Metric))
    series = {
        Watch.NOTHING: 0,
        Watch.ESSENTIAL: sum(len(each.services) for each in ESSENTIAL_METRICS),
        Watch.FULL: every + counted["reporting functions"],
    }[stage.watch]
    series += counted["counts of readers"]
    minutes, polls = MONTH / 60, counted["polled queues"] * POLLS
    return [
        ("metrics of alarms", counted["alarm metrics"], counted["alarm metrics"] * ALARM.each),
        ("dashboards", counted["AWS::CloudWatch::Dashboard"], counted["AWS::CloudWatch::Dashboard"] * DASHBOARD.each),
        ("custom metrics", series, series * METRIC.each),
        ("secrets", counted["AWS::SecretsManager::Secret"], counted["AWS::SecretsManager::Secret"] * SECRET.each),
        ("firewalls", counted["AWS::WAFv2::WebACL"], counted["AWS::WAFv2::WebACL"] * WEB_ACL.each),
        ("their rules", counted["firewall rules"], counted["firewall rules"] * WAF_RULE.each),
        ("the clock, each minute", round(minutes), clock * minutes / MILLION),
        ("waiting for the queues", round(polls), polls * QUEUEING.each),
    ]


def count_resources(stage: Stage) -> Counter[str]:
    """Count the resources of a stage by type, nested stacks included, and with them what is paid by the month."""
    stack = DealsStack(cdk.App(), stage=stage)
    templates = [Template.from_stack(each) for each in stack.node.find_all() if isinstance(each, cdk.Stack)]
    counted: Counter[str] = Counter()
    for each in (resource for template in templates for resource in template.to_json()["Resources"].values()):
        counted[each["Type"]] += 1
        counted["alarm metrics"] += _alarm_metrics(each)
        counted["reporting functions"] += "POWERTOOLS_METRICS_NAMESPACE" in json.dumps(each)
        counted["counts of readers"] += _counts_of_reader(each)
        counted["polled queues"] += "ScalingConfig" in each.get("Properties", {})
        if each["Type"] == "AWS::WAFv2::WebACL":
            counted["firewall rules"] += len(each["Properties"]["Rules"])
    return counted


def _counts_of_reader(resource: Mapping[str, Any]) -> int:
    """How many metrics an event source mapping reports at most, if it is told to count: that depends on its source.

    https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html#event-source-mapping-metrics
    """
    if "MetricsConfig" not in resource["Properties"]:
        return 0
    # Polled, filtered out, invoked, failed; and dropped and handed to a destination, or deleted from the queue.
    return 6 if "StreamArn" in json.dumps(resource["Properties"]["EventSourceArn"]) else 5


def _alarm_metrics(resource: Mapping[str, Any]) -> int:
    """How many metrics an alarm looks at: each is paid for."""
    if resource["Type"] != "AWS::CloudWatch::Alarm":
        return 0
    several = resource["Properties"].get("Metrics", [])
    return sum("MetricStat" in each for each in several) or 1


def _dollars(amount: float) -> str:
    return f"{amount:,.2f}" if amount >= 0.005 or amount == 0 else f"{amount:.4f}"
