"""List prices, and the formulas that turn what operations take into dollars. ``benchmarks/cost.py`` applies them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from shared.dynamodb.capacity import READ_DOLLARS, WRITE_DOLLARS

MILLION = 1_000_000
GIGABYTE = 10**9
MONTH = 30 * 86_400
"""In seconds."""


@dataclass(frozen=True, slots=True)
class Price:
    """A list price in dollars, and the page that states it."""

    what: str
    dollars: float
    per: float
    unit: str
    page: str

    @property
    def each(self) -> float:
        """Dollars for one."""
        return self.dollars / self.per


AWS = "aws.amazon.com"
GATEWAY = Price("API Gateway, REST request", 3.50, MILLION, "million", f"{AWS}/api-gateway/pricing")
HTTP_GATEWAY = Price("API Gateway, HTTP API request", 1.00, MILLION, "million", f"{AWS}/api-gateway/pricing")
INVOCATION = Price("Lambda, request", 0.20, MILLION, "million", f"{AWS}/lambda/pricing")
COMPUTING = Price("Lambda, arm64", 0.0000133334, 1, "GB-second", f"{AWS}/lambda/pricing")
READ = Price("DynamoDB, read request unit", READ_DOLLARS, MILLION, "million", f"{AWS}/dynamodb/pricing/on-demand")
WRITE = Price("DynamoDB, write request unit", WRITE_DOLLARS, MILLION, "million", f"{AWS}/dynamodb/pricing/on-demand")
PROVISIONED_READ = Price("DynamoDB, read capacity unit", 0.00013, 3600, "hour", f"{AWS}/dynamodb/pricing/provisioned")
PROVISIONED_WRITE = Price("DynamoDB, write capacity unit", 0.00065, 3600, "hour", f"{AWS}/dynamodb/pricing/provisioned")
"""A capacity unit serves one unit each second: 3,600 in the hour that it is paid for."""

STORAGE = Price("DynamoDB, storage", 0.25, 1, "GB-month", f"{AWS}/dynamodb/pricing/on-demand")
RECOVERY = Price("DynamoDB, point-in-time recovery", 0.20, 1, "GB-month", f"{AWS}/dynamodb/pricing/on-demand")
QUEUEING = Price("SQS, standard request", 0.40, MILLION, "million", f"{AWS}/sqs/pricing")
MAIL = Price("SES, mail, without a plan; not verified", 0.10, 1000, "1,000", f"{AWS}/ses/pricing")
LOGGING = Price("CloudWatch Logs, ingestion", 0.50, 1, "GB", f"{AWS}/cloudwatch/pricing")
ALARM = Price("CloudWatch, metric of an alarm", 0.10, 1, "month", f"{AWS}/cloudwatch/pricing")
DASHBOARD = Price("CloudWatch, dashboard", 3.00, 1, "month", f"{AWS}/cloudwatch/pricing")
METRIC = Price("CloudWatch, custom metric", 0.30, 1, "month", f"{AWS}/cloudwatch/pricing")
SECRET = Price("Secrets Manager, secret", 0.40, 1, "month", f"{AWS}/secrets-manager/pricing")
WEB_ACL = Price("WAF, web ACL", 5.00, 1, "month", f"{AWS}/waf/pricing")
WAF_RULE = Price("WAF, rule", 1.00, 1, "month", f"{AWS}/waf/pricing")
WAF_REQUEST = Price("WAF, request", 0.60, MILLION, "million", f"{AWS}/waf/pricing")
EGRESS = Price("Data from a region to the internet", 0.09, 1, "GB", f"{AWS}/ec2/pricing/on-demand")
EDGE_REQUEST = Price("CloudFront, HTTPS request, US", 0.0100, 10_000, "10,000", f"{AWS}/cloudfront/pricing")
EDGE_EGRESS = Price("CloudFront, data to viewers, US and Europe", 0.085, 1, "GB", f"{AWS}/cloudfront/pricing")
PRICES = (
    *(GATEWAY, HTTP_GATEWAY, INVOCATION, COMPUTING, READ, WRITE),
    *(PROVISIONED_READ, PROVISIONED_WRITE, STORAGE, RECOVERY, QUEUEING, MAIL, LOGGING),
    *(ALARM, DASHBOARD, METRIC, SECRET, WEB_ACL, WAF_RULE, WAF_REQUEST, EGRESS, EDGE_REQUEST, EDGE_EGRESS),
)
PRICES_AS_OF = "November 2026"
GOAL = 1.25
"""Dollars for a million views of the front page, with caching."""

MAX_AGE = 5
"""Seconds for which a public page is fresh (``shared/http/answers.py``)."""

FLAT_PLANS = (("Pro", 15, 10 * MILLION), ("Business", 200, 125 * MILLION), ("Premium", 1_000, 500 * MILLION))
"""CloudFront's flat-rate plans: dollars a month and requests; data, logs and a firewall are in the price."""

FREE_EDGE = (10 * MILLION, 1000)
"""CloudFront's free requests and GB, each month."""


@dataclass(frozen=True, slots=True)
class Assumptions:
    """Quantities that cannot be measured here.

    ``slower`` is Lambda's arm64 processor in units of this machine's; ``wait`` is DynamoDB's answer in milliseconds;
    ``platform_log`` are the bytes that Lambda itself logs for an invocation, ``access_log`` those of the gateway for a
    request of the front page (its format is in ``infra/gateway.py``), ``event_overhead`` what CloudWatch Logs adds to
    each event; ``headers`` are bytes of an answer's head, counted of one that came through CloudFront.
    """

    slower: float = 1.0
    wait: float = 4.0
    platform_log: int = 290
    access_log: int = 456
    event_overhead: int = 26
    headers: int = 838


@dataclass(frozen=True, slots=True)
class Invocation:
    """One invocation of a function: MB of memory, ms of processor time here, round trips to DynamoDB, lines logged."""

    function: str
    memory: int
    cpu: float
    waits: float
    log_bytes: float
    log_lines: float

    def billed(self, given: Assumptions) -> float:
        """Milliseconds that Lambda bills: 1,769 MB come with a whole processor, less memory with a share of one."""
        share = min(1.0, self.memory / 1769)
        return math.ceil(self.cpu * given.slower / share + self.waits * given.wait)

    def dollars(self, given: Assumptions) -> tuple[float, float]:
        """Its cost to Lambda, and that of its logs."""
        # Lambda's three lines of its own: start, end, report.
        logged = self.log_bytes + given.platform_log + (self.log_lines + 3) * given.event_overhead
        computing = INVOCATION.each + COMPUTING.each * self.billed(given) / 1000 * self.memory / 1024
        return computing, LOGGING.each * logged / GIGABYTE


@dataclass(frozen=True, slots=True)
class Operation:
    """The quantities that one operation takes."""

    name: str
    invocations: tuple[Invocation, ...]
    reads: float
    writes: float
    requests: int = 0
    body: int = 0
    queue: float = 0
    count: int = 1

    def dollars(self, given: Assumptions, *, egress: bool = True) -> dict[str, float]:
        """The cost of one, by service; ``egress`` is off where CloudFront fetches it, which is free of charge."""
        sent = self.requests * (self.body + given.headers) / GIGABYTE
        logged = self.requests * (given.access_log + given.event_overhead) / GIGABYTE
        functions = [step.dollars(given) for step in self.invocations]
        cost = {
            "API Gateway": self.requests * GATEWAY.each,
            "Lambda": sum(computing for computing, _ in functions),
            "DynamoDB": self.reads * READ.each + self.writes * WRITE.each,
            "logs": sum(logs for _, logs in functions) + logged * LOGGING.each,
            "SQS": self.queue * QUEUEING.each,
            "data": sent * EGRESS.each if egress else 0.0,
        }
        return {service: dollars / self.count for service, dollars in cost.items()}

    def million(self, given: Assumptions, *, egress: bool = True) -> float:
        """Dollars for a million of them."""
        return sum(self.dollars(given, egress=egress).values()) * MILLION


def hit_rate(views_per_second: float, max_age: float = MAX_AGE) -> float:
    """The share of views that one cache answers by itself, when they come at random.

    A fetched page is fresh for ``max_age`` seconds, and the first view after that causes another fetch: one for each
    1 + rate x max_age views. Serving a stale page meanwhile saves that view the wait, but not the fetch.
    """
    return views_per_second * max_age / (1 + views_per_second * max_age)


def edge_million(origin: float, hits: float, sent: float, *, discount: float = 0.0) -> float:
    """Dollars for a million views through CloudFront, without its free tier.

    ``origin`` is what a million requests to the API cost, ``hits`` the share of views that never reach it, ``sent`` the
    bytes that a view gets.
    """
    edge = EDGE_REQUEST.each + EDGE_EGRESS.each * sent / GIGABYTE
    return edge * MILLION * (1 - discount) + (1 - hits) * origin


def browser_million(origin: float, hits: float, page: float, files: Sequence[float] = ()) -> float:
    """Dollars for a million views of a page in a browser through CloudFront, without its free tier.

    ``page`` and ``files`` are the bytes of each answer. Browsers and CloudFront keep files for a year: among a million
    views, the one fetch by each of CloudFront's caches costs next to nothing.
    """
    return edge_million(origin, hits, page) + sum(edge_million(0, 1, each) for each in files)


def edge_month(views: float, origin: float, hits: float, sent: float) -> float:
    """Dollars for a month's views through CloudFront, with its free tier, which every account has each month."""
    free_requests, free_gigabytes = FREE_EDGE
    requests = max(0.0, views - free_requests) * EDGE_REQUEST.each
    data = max(0.0, views * sent / GIGABYTE - free_gigabytes) * EDGE_EGRESS.each
    return requests + data + views * (1 - hits) * origin / MILLION


def hits_needed(origin: float, sent: float, *, goal: float = GOAL, discount: float = 0.0) -> float:
    """The hit rate at which a million views cost the goal, without the free tier. Above 1, none is enough."""
    return 1 - (goal - edge_million(origin, 1, sent, discount=discount)) / origin
