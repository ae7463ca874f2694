"""The formulas that turn what operations take into dollars, at the prices of ``shared/values/prices.py``.
``benchmarks/cost.py`` applies them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from shared.values.prices import (
    COMPUTING,
    EDGE_EGRESS,
    EDGE_REQUEST,
    EGRESS,
    GATEWAY,
    INVOCATION,
    LOGGING,
    MILLION,
    QUEUEING,
    READ,
    WRITE,
)

GIGABYTE = 10**9
MONTH = 30 * 86_400
"""In seconds."""

GOAL = 1.25
"""Dollars for a million views of the front page, with caching."""

MAX_AGE = 5
"""Seconds for which a public page is fresh (``shared/http/answers.py``)."""


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
    requests = max(0.0, views - EDGE_REQUEST.free) * EDGE_REQUEST.each
    data = max(0.0, views * sent / GIGABYTE - EDGE_EGRESS.free) * EDGE_EGRESS.each
    return requests + data + views * (1 - hits) * origin / MILLION


def hits_needed(origin: float, sent: float, *, goal: float = GOAL, discount: float = 0.0) -> float:
    """The hit rate at which a million views cost the goal, without the free tier. Above 1, none is enough."""
    return 1 - (goal - edge_million(origin, 1, sent, discount=discount)) / origin
