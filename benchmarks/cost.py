"""The cost of the site's operations in dollars, at list prices. ``python -m benchmarks cost`` writes docs/cost.md.

The cost of operations is measured (``operations.py``). The time that Lambda would bill for them is not, but computed
from the processor time here, by stated assumptions; other assumptions are shown, too.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

import aws_cdk as cdk
from aws_cdk.assertions import Template

from benchmarks import formulas, months
from benchmarks.browser import in_a_browser
from benchmarks.formulas import GOAL, MONTH, Assumptions, Operation, edge_million, edge_month, hit_rate
from benchmarks.harness import DOCS, markdown, record, section
from benchmarks.months import CACHED, CLOCK, ONE_DEAL, SIGN_IN, WATCH
from benchmarks.operations import Measured, measure
from infra.functions import reporters
from infra.settings import STAGES
from infra.stacks import DealsStack
from infra.stage import Stage, Watch
from shared import features, hooks
from shared.runtime import metrics
from shared.runtime.metrics import Metric
from shared.values import prices
from shared.values.prices import MILLION

MADE = "front page, made from the indexes"
ANYONE = (CACHED, MADE, ONE_DEAL, "like", WATCH)
"""Operations that anyone may ask for as often as the gateways allow. Signing in has a rate of its own."""

BUNDLE_DISCOUNT = 0.30
"""The share of CloudFront's bill that a year's commitment saves: its security savings bundle."""

CACHES = (1, 10)
"""Regional caches that views are spread over: readers of one country have one, of the world a dozen."""

POLLS = 5 * 3 * MONTH // 60
"""Lambda's requests to an SQS queue in a month: five pollers, each waiting up to twenty seconds for a message."""


def main(rounds: int = 15) -> None:
    """Measure, compute, print and record."""
    for name, text in sections(measure(rounds), Assumptions()).items():
        record(name, text, DOCS / "cost.md")


def sections(measured: Measured, given: Assumptions) -> dict[str, str]:
    """The generated parts of the page, by the names of their markers."""
    operations = {each.name: each for each in measured.operations}
    view, sent = operations[CACHED], measured.packed + given.headers
    origin = view.million(given, egress=False)
    logs = view.dollars(given, egress=False)["logs"] * MILLION
    sums = {name: round(each.million(given), 2) for name, each in operations.items()}  # as the page has them
    found = {
        "prices": listed(),
        "assumptions": _assumptions(given),
        "measured": _measured(measured, given),
        "operations": _operations(measured.operations, given),
        "front page": _front_page(operations[MADE].million(given), view.million(given), origin, sent),
        "in a browser": in_a_browser(origin, given.headers),
        "months": _months(origin, sent),
        "alternatives": _alternatives(origin, logs, sent, given),
        "plans": plans(origin),
        "sensitivity": _sensitivity(operations, given),
        "fixed": fixed(sums[CLOCK]),
        "a day at the limit": at_the_limit(sums),
    }
    tables = months.Tables(lambda name: found[name] if name in found else section(name, DOCS / "cost.md"))
    return found | {"three months": months.listed(tables)}


def listed() -> str:
    """The prices, and the pages that state them."""
    rows = [
        [each.what, f"${each.dollars:.10g}", each.unit, f"{each.free:,}" if each.free else "", each.page]
        for each in prices.PRICES
    ]
    head = ["What", "Price", "For one", "Free each month", "Stated on"]
    return f"As of {prices.AS_OF}.\n\n{markdown(head, rows)}"


def _assumptions(given: Assumptions) -> str:
    return f"""\
- Lambda's processor (arm64) takes as long as the processor of the measuring machine.
- A function gets a share of the processor by its memory: all of it at 1,769 MB.
- DynamoDB answers in {given.wait:g} ms; concurrent requests wait together.
- The head of an answer is {given.headers} bytes, counted from an answer that CloudFront would send.
- Lambda itself logs {given.platform_log} bytes for each invocation: start, end, report.
- The gateway logs at most {given.access_log} bytes for each request: its format, filled in.
- CloudWatch bills {given.event_overhead} more bytes for each line."""


def _measured(measured: Measured, given: Assumptions) -> str:
    rows = []
    for each in measured.operations:
        steps = each.invocations
        rows.append(
            [
                each.name,
                ", ".join(dict.fromkeys(step.function for step in steps)),
                f"{each.reads / each.count:.2f}",
                f"{each.writes / each.count:.2f}",
                f"{each.queue / each.count:.3g}",
                f"{sum(step.cpu for step in steps) / each.count:.2f}",
                f"{sum(step.billed(given) for step in steps) / each.count:.3g}",
                f"{sum(step.log_bytes for step in steps) / each.count:,.0f}",
                f"{each.body:,}" if each.body else "",
            ]
        )
    head = ["Operation", "Functions", "RRU", "WRU", "SQS", "CPU here, ms", "Billed, ms", "Logged, bytes", "Body, bytes"]
    sizes = f"The front page is {measured.plain:,} bytes of JSON, {measured.packed:,} compressed by gzip."
    return f"{markdown(head, rows)}\n\n{sizes}"


def _operations(operations: Iterable[Operation], given: Assumptions) -> str:
    costs = {each.name: each.dollars(given) for each in operations}
    rows = [
        [name, *(_dollars(part * MILLION) for part in (*cost.values(), sum(cost.values())))]
        for name, cost in costs.items()
    ]
    return markdown(["For a million of", *next(iter(costs.values())), "Sum"], rows)


def _front_page(made: float, cached: float, origin: float, sent: int) -> str:
    """``made`` and ``cached`` are a million straight from the API, ``origin`` a million fetched by CloudFront."""
    data = prices.EDGE_EGRESS.each * sent / formulas.GIGABYTE * MILLION
    edge = f"{_dollars(prices.EDGE_REQUEST.each * MILLION)} requests + {_dollars(data)} data"
    rows = [
        ["straight from the API, made from the indexes", "", _dollars(made)],
        ["straight from the API, from the cached copy", "", _dollars(cached)],
    ]
    for hits in (0.9, 0.98, 0.998):
        parts = f"{edge} + {1 - hits:.1%} of {_dollars(origin)}"
        rows.append([f"through CloudFront, {hits:.1%} hits", parts, _dollars(edge_million(origin, hits, sent))])
    committed = edge_million(origin, 0.98, sent, discount=BUNDLE_DISCOUNT)
    parts = f"{1 - BUNDLE_DISCOUNT:.0%} of requests and data + 2.0% of {_dollars(origin)}"
    rows.append(["the same, with a year's commitment, 98.0% hits", parts, _dollars(committed)])
    needed = []
    for name, discount in (("at list prices", 0.0), ("with a year's commitment", BUNDLE_DISCOUNT)):
        hits = formulas.hits_needed(origin, sent, discount=discount)
        needed.append(f"- {name}: {f'{hits:.1%}' if hits <= 1 else 'none is enough'}")
    left = (GOAL / MILLION - prices.EDGE_REQUEST.each) / prices.EDGE_EGRESS.each * formulas.GIGABYTE
    return (
        markdown(["A million views, no free tier", "Made of", "Dollars"], rows)
        + f"\n\nThe hit rate at which they cost ${GOAL:.2f}:\n\n"
        + "\n".join(needed)
        + f"\n\nA view takes {sent:,} bytes. If every view were a hit, the goal would allow {left:,.0f} bytes."
    )


def _months(origin: float, sent: int) -> str:
    """The cost of numbers of monthly views, each with its hit rate, and how many views meet the goal."""

    def month(millions: float, caches: int) -> tuple[float, float]:
        hits = hit_rate(millions * MILLION / MONTH / caches)
        return hits, edge_month(millions * MILLION, origin, hits, sent) / millions

    head = ["Million views a month"]
    rows = [[f"{millions:g}"] for millions in (0.1, 1, 3, 10, 30, 100, 300, 1000)]
    met = []
    for caches in CACHES:
        where = "one cache" if caches == 1 else f"{caches} caches"
        head += [f"Hits, {where}", "A million cost", "without the free tier"]
        for row in rows:
            hits, dollars = month(float(row[0]), caches)
            row += [f"{hits:.1%}", _dollars(dollars), _dollars(edge_million(origin, hits, sent))]
        cheap = [tenths / 10 for tenths in range(1, 20_000) if month(tenths / 10, caches)[1] <= GOAL]
        met.append(f"- through {where}: from {cheap[0]:g} to {cheap[-1]:g} million views a month")
    table = markdown(head, rows)
    return f"{table}\n\nA million views cost at most ${GOAL:.2f} with the free tier:\n\n" + "\n".join(met)


def _alternatives(origin: float, logs: float, sent: int, given: Assumptions) -> str:
    hits, half = 0.98, given.headers + (sent - given.headers) / 2
    fetches = {
        "as it is": (origin, sent),
        "an HTTP API for the REST API": (origin - (prices.GATEWAY.each - prices.HTTP_GATEWAY.each) * MILLION, sent),
        "a function URL for the gateway": (origin - prices.GATEWAY.each * MILLION, sent),
        "no log lines": (origin - logs, sent),
        "a body of half the size": (origin, half),
    }
    rows = [
        [name, _dollars(fetched), _dollars(edge_million(fetched, hits, size))]
        for name, (fetched, size) in fetches.items()
    ]
    kept, rates = 30, [hit_rate(MILLION / MONTH, seconds) for seconds in (formulas.MAX_AGE, 30)]
    now, then = (_dollars(edge_month(MILLION, origin, rate, sent)) for rate in rates)
    return (
        markdown(["Instead, at 98% hits and without the free tier", "A million fetches", "A million views"], rows)
        + f"\n\nIf a page stayed fresh for {kept} seconds instead of {formulas.MAX_AGE}, a million views a month "
        f"through one cache would have {rates[1]:.1%} hits instead of {rates[0]:.1%}, and cost {then} dollars "
        f"with the free tier instead of {now}."
    )


BEHAVIOURS = 44
"""Of the distribution in front of prod with all features; without some, it has fewer."""


def plans(origin: float, hits: float = 0.98) -> str:
    """CloudFront's flat-rate plans, and which of them admit the site's distribution, which has policies of its own."""
    rows = [
        [
            each.name,
            f"{each.dollars:,}",
            f"{each.requests // MILLION:,}",
            f"{each.gigabytes:,}",
            str(each.behaviours),
            "yes" if each.own_policies else "no",
            "yes" if each.own_policies and each.behaviours >= BEHAVIOURS else "no",
            _dollars(each.dollars / each.requests * MILLION + (1 - hits) * origin),
        ]
        for each in prices.PLANS
    ]
    head = ["Plan", "Dollars a month", "Million requests", "GB", "Behaviours", "Own cache policies", "Admits this site"]
    return markdown([*head, f"A million views, all used, {hits:.0%} hits"], rows)


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


def fixed(clock: float) -> str:
    """A month's cost without a visitor, of three stages. ``clock`` is for a million minutes."""
    prod = STAGES["prod"]
    stages = {
        "prod": prod,
        "the same, with `Watch.FULL`": dataclasses.replace(prod, watch=Watch.FULL),
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
    return f"""{markdown(head, [*rows, sums])}

[Storage](#storage) comes in addition. The table doesn't subtract the free tier: ten metrics of alarms, \
ten custom metrics, three dashboards of up to 50 metrics and a million requests to SQS \
([CloudWatch](https://aws.amazon.com/cloudwatch/pricing/), [SQS](https://aws.amazon.com/sqs/pricing/))."""


def at_the_limit(sums: Mapping[str, float]) -> str:
    """The most that a day costs, by what is sent all day; ``sums`` are dollars for a million."""
    stages = STAGES["prod"], STAGES["dev"]
    rows = []
    for name in (*ANYONE, SIGN_IN):
        rates = [stage.sign_in_rate if name == SIGN_IN else stage.throttle_rate for stage in stages]
        days = [_dollars(day_at_the_limit(rate, sums[name])) for rate in rates]
        rows.append(
            [name, _dollars(sums[name]), *(cell for pair in zip(map(str, rates), days, strict=True) for cell in pair)]
        )
    dearest = max(ANYONE, key=lambda name: sums[name])
    head = ["All day", "A million", *(cell for stage in stages for cell in (f"{stage.name}, a second", "A day"))]
    text = f"""{markdown(head, rows)}

The most expensive request that anyone may send is a {dearest}."""
    few = features.merged(hooks.Benchmarks, lambda each: each.limited())
    if few:
        day = 24 * max(each.dollars * each.an_hour for each in few.values()) / MILLION
        named = ", ".join(
            f"{name} (${each.dollars:,.2f} for a million, {each.an_hour} an hour)" for name, each in few.items()
        )
        members = day_at_the_limit(stages[0].throttle_rate, sums[dearest]) / day
        text += f"""

Features have requests that cost more, and limit them for each member: {named}. A member who sends one of them all \
day costs at most ${day:,.2f}; {math.ceil(members):,} such members cost as much as that day on prod."""
    return text


def day_at_the_limit(rate: float, million: float) -> float:
    """Dollars of a day with ``rate`` requests a second at each of both gateways, by those of a million requests."""
    return 2 * rate * 86_400 * million / MILLION


def by_the_month(stage: Stage, clock: float) -> list[tuple[str, int, float]]:
    """The cost of a stage in a month without a visitor: name, number and dollars of each."""
    counted = count_resources(stage)
    # With all of them, each function also reports its cold starts.
    of_features = features.roles(hooks.Metrics)
    known = chain(vars(metrics).values(), *(each.METRICS for each in of_features))
    ours = {each.name: each for each in known if isinstance(each, Metric)}
    every = sum(max(1, len(reporters(each))) for each in ours.values())
    series = {
        Watch.NOTHING: 0,
        Watch.ESSENTIAL: sum(len(each.services) for each in chain(*(each.ESSENTIAL for each in of_features))),
        Watch.FULL: every + counted["reporting functions"],
    }[stage.watch]
    series += counted["counts of readers"]
    numbers = [
        ("metrics of alarms", counted["alarm metrics"], prices.ALARM.each),
        ("dashboards", counted["AWS::CloudWatch::Dashboard"], prices.DASHBOARD.each),
        ("custom metrics", series, prices.METRIC.each),
        ("secrets", counted["AWS::SecretsManager::Secret"], prices.SECRET.each),
        ("firewalls", counted["AWS::WAFv2::WebACL"], prices.WEB_ACL.each),
        ("their rules", counted["firewall rules"], prices.WAF_RULE.each),
        ("the clock, each minute", MONTH // 60, clock / MILLION),
        ("waiting for the queues", counted["polled queues"] * POLLS, prices.QUEUEING.each),
    ]
    return [(name, number, number * each) for name, number, each in numbers]


def count_resources(stage: Stage) -> Counter[str]:
    """Count a stage's resources by type, nested stacks included: their monthly cost follows."""
    stack = DealsStack(cdk.App(), stage=stage)
    templates = [Template.from_stack(each) for each in stack.node.find_all() if isinstance(each, cdk.Stack)]
    counted: Counter[str] = Counter()
    for each in (resource for template in templates for resource in template.to_json()["Resources"].values()):
        counted[each["Type"]] += 1
        match each:
            case {"Type": "AWS::CloudWatch::Alarm", "Properties": alarm}:
                counted["alarm metrics"] += sum("MetricStat" in part for part in alarm.get("Metrics", [])) or 1
            case {"Type": "AWS::Lambda::Function", "Properties": function}:
                counted["reporting functions"] += "POWERTOOLS_METRICS_NAMESPACE" in json.dumps(function)
            case {"Type": "AWS::WAFv2::WebACL", "Properties": firewall}:
                counted["firewall rules"] += len(firewall["Rules"])
            case {"Type": "AWS::Lambda::EventSourceMapping", "Properties": reader}:
                counted["polled queues"] += "ScalingConfig" in reader
                counted["counts of readers"] += _counts_of(reader)
    return counted


def _counts_of(reader: Mapping[str, Any]) -> int:
    """How many metrics an event source mapping reports at most, if that is configured: it depends on its source.

    https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html#event-source-mapping-metrics
    """
    if "MetricsConfig" not in reader:
        return 0
    # Polled, filtered out, invoked, failed; and dropped and handed to a destination, or deleted from the queue.
    return 6 if "StreamArn" in json.dumps(reader["EventSourceArn"]) else 5


def _dollars(amount: float) -> str:
    return f"{amount:,.2f}" if amount >= 0.005 or amount == 0 else f"{amount:.4f}"
