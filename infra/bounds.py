"""When alarms ring: one bound for each kind, with its reason. A stage that needs another says so in ``settings.py``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bound:
    """A threshold that must be reached in ``points`` of the last ``of`` periods of some ``minutes`` each.

    Metrics come out of log lines some seconds late: where a point may be missing, ``points`` is less than ``of``.
    """

    threshold: float
    minutes: int = 1
    points: int = 1
    of: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much is too much, for each kind of alarm."""

    stream_is_behind: Bound = Bound(60_000, minutes=1, points=3, of=5)
    """Milliseconds that a reader of the stream is late. One or two seconds are usual; a reader that is late by a
    minute fails or cannot keep up. Meanwhile pages are out of date and no news is sent."""

    reader_stands_still: Bound = Bound(1, minutes=1, points=15, of=15)
    """Polls of a reader of the stream or the queue. Lambda counts each poll, also one that finds nothing. No poll in a
    quarter of an hour means that the mapping was disabled, which makes no errors and reports no age of a record.

    https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html"""

    work_is_old: Bound = Bound(480, minutes=1, points=3, of=5)
    """Seconds that the oldest message of a queue waits. One that fails is hidden for six minutes. From its third
    delivery on, after twelve, SQS leaves it out of this age: eight minutes are more than one failed delivery takes, and
    leave time for three points.

    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html"""

    work_piles_up: Bound = Bound(1_000, minutes=5, points=2, of=2)
    """Messages that wait: cohorts of 250 readers, or uploads. A cohort queues the next one only when it is worked
    on, so that even a hot deal has at most eight waiting: a thousand mean five hundred new deals at once, or a
    messenger that fails."""

    loop_is_stopped: Bound = Bound(1, minutes=5)
    """Invocations that Lambda dropped because it took the messenger's work for an endless loop. The messenger is
    allowed its loop (``functions.py``): one dropped invocation means that this setting was lost and readers are
    notified nothing.

    https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html"""

    dead_letters_are_waiting: Bound = Bound(1)
    """Messages in a dead-letter queue: the first is one too many, because only a person takes it out."""

    dead_letters_grow_old: Bound = Bound(1, minutes=60, points=12, of=12)
    """The same, in each of twelve hours. The stream keeps a batch for 24 hours, of which six may have passed before the
    batch came here: after these twelve, six are left to send it again."""

    function_fails: Bound = Bound(1, minutes=5)
    """Invocations that ended in an error or a timeout. A bad request gets an answer, so each of these is a bug."""

    request_fails: Bound = Bound(1, minutes=5)
    """Requests that were answered with 500 because of a fault of ours: each of these is a bug, too."""

    function_is_throttled: Bound = Bound(1, minutes=5)
    """Invocations that Lambda refused: the account's concurrency is used up, for all of its functions.

    https://docs.aws.amazon.com/lambda/latest/dg/lambda-concurrency.html"""

    answer_is_slow: Bound = Bound(2_000, minutes=5, points=3, of=3)
    """Milliseconds, 99th percentile, of a function behind the API and of the API itself. A cold start takes less, a
    table that is throttled takes more."""

    work_is_slow: Bound = Bound(15_000, minutes=5, points=2, of=2)
    """The same for a function behind the stream, the queue or the clock: half of the shortest of their timeouts."""

    api_fails: Bound = Bound(5, minutes=5)
    """Answers of 500 and above: 503 where the table is busy, 502 and 504 where a function ended badly."""

    table_is_throttled: Bound = Bound(10, minutes=5, points=2, of=3)
    """Reads and writes that the table or an index refused. On demand, a table grows with its traffic and refuses some
    requests for moments, which are tried again. Ten minutes of refusals are a hot partition, or the account's limits.
    """

    index_holds_up_writes: Bound = Bound(10, minutes=5)
    """Writes that an index refused. The table then refuses them too, even if it could take them itself."""

    table_fails: Bound = Bound(5, minutes=5, points=2, of=3)
    """Requests that DynamoDB answered with 500: its own failures, after which we ask again. They should end in minutes.

    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html"""

    news_is_late: Bound = Bound(300, minutes=5)
    """Seconds from a deal's write to a reader's message. A few are usual. A hot deal for very many users takes longer
    without a fault: then add workers or raise the bound."""

    cache_is_old: Bound = Bound(480, minutes=1, points=5, of=5)
    """Seconds since a cached page was built. The clock rebuilds what is older than five minutes, and readers do without
    what is older than ten. No report at all is as bad: the clock or its function does not run."""

    items_are_damaged: Bound = Bound(1, minutes=15)
    """Items that cannot be read, met by a function. They are left out until they are repaired. What the cached pages
    show is read again within five minutes, and what the clock works on each minute, so the alarm stays on meanwhile."""

    sweep_is_missing: Bound = Bound(1, minutes=1, points=5, of=5)
    """Sweeps of ended deals. There is one each minute, so that deals leave the feeds within a minute of their end. No
    sweep in five minutes means that the clock or the function does not run."""

    too_many_requests: Bound = Bound(50_000, minutes=60)
    """Requests to a gateway in an hour: fourteen a second, all hour, which is half a dollar if each is a like. More is
    a success that needs higher bounds, or an attack on the bill."""

    sign_ins_fail: Bound = Bound(300, minutes=5)
    """Failed and refused attempts to sign in, through the API or the site's form. An address has about 17 in that time
    before it is refused: so many come from a program."""


USUAL = Bounds()
"""The bounds of a stage that names no others."""

ESSENTIAL = frozenset({"stream_is_behind", "dead_letters_are_waiting", "api_fails", "too_many_requests"})
"""The kinds that mean that data or money is being lost: a stage that watches the essential has these alone."""
