"""The settings of alarms: who hears them, the budget, and the bound of each kind."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from infra.stage import Bound, Option, Stage, Watch


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The bounds of alarms, one for each kind, with reasons."""

    stream_is_behind: Bound = Bound(60_000, minutes=1, points=3, of=5)
    """Milliseconds that a reader of the stream is late. One or two seconds are usual; a minute means that it fails or
    can't keep up. Until it catches up, pages are outdated and no news is sent."""

    reader_stands_still: Bound = Bound(1, minutes=1, points=15, of=15)
    """Polls of a reader of the stream or the queue. Lambda counts each poll, even one that finds nothing. No poll in a
    quarter of an hour means that the mapping was disabled, which causes no errors and reports no age of a record.
    https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html"""

    work_is_old: Bound = Bound(480, minutes=1, points=3, of=5)
    """Seconds that a queue's oldest message waits. A failed one is hidden for six minutes. From its third delivery on,
    after twelve, SQS leaves it out of this age: eight minutes are more than one failed delivery takes, and leave
    time for three points.
    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html"""

    work_piles_up: Bound = Bound(1_000, minutes=5, points=2, of=2)
    """Waiting messages: cohorts of 250 readers, or uploads. A cohort queues the next one only when it is worked on, so
    even a hot deal has at most eight waiting: a thousand mean five hundred new deals at once, or a failing
    messenger."""

    loop_is_stopped: Bound = Bound(1, minutes=5)
    """Invocations that Lambda dropped because it took the messenger's work for an endless loop. The messenger is
    allowed its loop (``infra/functions.py``): one dropped invocation means that this setting was lost and no reader is
    notified.
    https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html"""

    dead_letters_are_waiting: Bound = Bound(1)
    """Messages in a dead-letter queue: the first is one too many, because only a person removes it."""

    dead_letters_grow_old: Bound = Bound(1, minutes=60, points=12, of=12)
    """The same, in each of twelve hours. The stream keeps a batch for 24 hours, of which six may have passed before the
    batch came here: after these twelve, six are left to send it again."""

    function_fails: Bound = Bound(1, minutes=5)
    """Invocations that ended in an error or a timeout. A bad request gets an answer, so each of these is a bug."""

    request_fails: Bound = Bound(1, minutes=5)
    """Requests answered with 500 because of our fault: each is a bug, too."""

    function_is_throttled: Bound = Bound(1, minutes=5)
    """Invocations that Lambda refused: the account's concurrency is used up, for all of its functions.
    https://docs.aws.amazon.com/lambda/latest/dg/lambda-concurrency.html"""

    answer_is_slow: Bound = Bound(2_000, minutes=5, points=3, of=3)
    """Milliseconds (99th percentile) of a function behind the API, and of the API. A cold start takes less, a throttled
    table more."""

    work_is_slow: Bound = Bound(15_000, minutes=5, points=2, of=2)
    """The same for a function behind the stream, the queue or the clock: half of their shortest timeout."""

    api_fails: Bound = Bound(5, minutes=5)
    """Answers of 500 and above: 503 if the table is busy, 502 and 504 if a function ended badly, 500 if
    Lambda refused to start one."""

    table_is_throttled: Bound = Bound(10, minutes=5, points=2, of=3)
    """Reads and writes that the table or an index refused. On demand, a table grows with its traffic and refuses some
    requests for moments, which are retried. Ten minutes of refusals are a hot partition, or the table's quota."""

    index_holds_up_writes: Bound = Bound(10, minutes=5)
    """Writes that an index refused. The table then refuses them too, even if it could take them itself."""

    table_fails: Bound = Bound(5, minutes=5, points=2, of=3)
    """Requests that DynamoDB answered with 500: its own failures, which are retried. They should end in minutes.
    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html"""

    news_is_late: Bound = Bound(300, minutes=5)
    """Seconds from a deal's write to a reader's message. A few are usual. A hot deal for very many users takes longer
    without a fault: then add workers or raise the bound."""

    cache_is_old: Bound = Bound(480, minutes=1, points=5, of=5)
    """Seconds since a cached page was built. The clock rebuilds copies older than five minutes, and readers ignore
    those older than ten. No report at all is as bad: the clock or its function doesn't run."""

    items_are_damaged: Bound = Bound(1, minutes=15)
    """Unreadable items that a function met. They are left out until they are repaired. What cached pages show is read
    again within five minutes, what the clock works on each minute, so the alarm stays on meanwhile."""

    clock_is_stopped: Bound = Bound(1, minutes=5, points=3, of=3)
    """Invocations of the function that the clock calls each minute. None in a quarter of an hour means that its rule
    was disabled or lost: deals don't end, and pages are rebuilt with each request. Lambda counts them, for nothing."""

    sweep_is_missing: Bound = Bound(1, minutes=1, points=5, of=5)
    """Sweeps of ended deals, one each minute, so that deals leave the feeds within a minute. No sweep in five minutes
    means that the clock or the function doesn't run."""

    too_many_requests: Bound = Bound(50_000, minutes=60)
    """Requests to a gateway in an hour: fourteen a second for an hour, which is half a dollar if each is a like. More
    is a success that needs higher bounds, or an attack on the bill."""

    sign_ins_fail: Bound = Bound(300, minutes=5)
    """Failed and refused sign-ins, through the API or the site's form. An address has about 17 in that time before it
    is refused, so this many come from a program."""


USUAL = Bounds()
"""The bounds of a stage that names no others."""

ESSENTIAL = frozenset(
    {"stream_is_behind", "dead_letters_are_waiting", "api_fails", "too_many_requests", "clock_is_stopped"}
)
"""The kinds that mean a loss of data or money, or that nothing happens by itself any more: a stage that watches the
essential has only these alarms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarms(Option):
    """Who is told of alarms, by email; the dollars of a month above which a cost is reported; the bounds of alarms."""

    email: str | None = None
    budget: int | None = None
    bounds: Bounds = USUAL

    def __post_init__(self) -> None:
        if self.email is not None and not re.fullmatch(r"[^@\s]+@[^@\s]+", self.email):
            raise ValueError(f"email must be an email address, and not {self.email!r}.")
        if self.budget is not None and self.budget < 1:
            raise ValueError(f"budget must be at least 1, and not {self.budget}.")

    def check(self, stage: Stage) -> None:
        if (self.email or self.budget) and stage.watch is Watch.NOTHING:
            raise ValueError("email and budget of Alarms must not be set on a stage that is not watched.")


UNTOLD = Alarms()
"""The settings of a stage that names none: nobody is told."""

STAGES: Mapping[str, tuple[Option, ...]] = {"prod": (Alarms(budget=25),)}
