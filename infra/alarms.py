"""When alarms ring: one bound for each kind, with its reason. A stage that needs another says so in ``settings.py``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bound:
    """A threshold that must be reached in ``points`` of the last ``of`` periods of some ``minutes`` each.

    Metrics come out of log lines, some seconds late: where one point may be missing, fewer than all must do.
    """

    threshold: float
    minutes: int = 1
    points: int = 1
    of: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much is too much, for each kind of alarm."""

    stream_is_behind: Bound = Bound(60_000, minutes=1, points=3, of=5)
    """Milliseconds by which a reader of the stream is late. It reads within a second or two; a minute is a reader that
    fails, or one that cannot keep up. Pages are wrong and nobody is told for as long."""

    reader_stands_still: Bound = Bound(1, minutes=1, points=15, of=15)
    """Polls of a reader of the stream or the queue. Lambda counts each, with a zero where nothing was there: none in a
    quarter of an hour is a mapping that somebody disabled. It makes no errors, and reports no age of a record."""

    work_is_old: Bound = Bound(900, minutes=1, points=3, of=5)
    """Seconds that the oldest cohort waits. One that fails is hidden for six minutes: a quarter of an hour is
    more than one bad delivery, and comes before the fifth, after which it is in the dead-letter queue."""

    work_piles_up: Bound = Bound(1_000, minutes=5, points=2, of=2)
    """Cohorts that wait, of 250 readers each. A cohort queues the next one only when it is worked on, so that even
    a hot deal has no more than eight waiting: this is five hundred new deals at once, or a messenger that fails."""

    loop_is_stopped: Bound = Bound(1, minutes=5)
    """Invocations that Lambda dropped because it took the messenger's work for an endless loop. The messenger is
    allowed its own (``functions.py``), so one is a setting that was lost, and readers who are told nothing."""

    dead_letters_are_waiting: Bound = Bound(1)
    """Messages in a queue of failures: the first is one too many, for nothing takes it from there but a person."""

    dead_letters_grow_old: Bound = Bound(12 * 3600, minutes=60)
    """Seconds that the oldest failure waits. The stream remembers a batch for 24 hours, of which six may have gone by
    when it got there: after these twelve there are six left to send it again."""

    function_fails: Bound = Bound(1, minutes=5)
    """Invocations that ended in an error or a timeout. What is bad about a request is answered, so each is a bug."""

    function_is_throttled: Bound = Bound(1, minutes=5)
    """Invocations that Lambda refused: the account's concurrency is used up, for all of its functions."""

    answer_is_slow: Bound = Bound(2_000, minutes=5, points=3, of=3)
    """Milliseconds, 99th percentile, of a function behind the API and of the API itself. A cold start is within it, a
    table that is throttled is not."""

    work_is_slow: Bound = Bound(15_000, minutes=5, points=2, of=2)
    """The same of a function behind the stream, the queue or the clock: half of the shortest of their timeouts."""

    api_fails: Bound = Bound(5, minutes=5)
    """Answers of 500 and above: 503 where the table is busy, 502 and 504 where a function ended badly."""

    table_is_throttled: Bound = Bound(10, minutes=5, points=2, of=3)
    """Reads and writes that the table or an index refused. On demand, a table grows with its traffic and refuses for
    moments meanwhile; requests are repeated until then. Ten minutes of it are a hot partition, or the account's limits.
    """

    index_holds_up_writes: Bound = Bound(10, minutes=5)
    """Writes that an index refused. Each is a write of the table refused, whatever the table itself could take."""

    table_fails: Bound = Bound(5, minutes=5, points=2, of=3)
    """Requests that DynamoDB answered with 500: its own failure, repeated by botocore. It should be over in minutes."""

    news_is_late: Bound = Bound(300, minutes=5)
    """Seconds from a deal's write to a reader's message. Seconds are usual; a hot deal for very many users may rightly
    take longer, and then wants more workers or a higher bound."""

    cache_is_old: Bound = Bound(480, minutes=1, points=5, of=5)
    """Seconds since a cached page was built. The clock rebuilds what is older than five minutes, and readers do without
    what is older than ten. Nothing reported any more is as bad: the clock, or its function, stands still."""

    deals_are_damaged: Bound = Bound(1, minutes=15)
    """Deals that nobody can make sense of, met while pages were made. They are left out until somebody mends them. What
    the cached pages show is read again within five minutes, so the alarm goes on while one of them is damaged."""

    sweep_is_missing: Bound = Bound(1, minutes=1, points=5, of=5)
    """Sweeps of ended deals, of which there is one each minute: ended deals leave the feeds within a minute of it. None
    in five minutes is a clock, or a function, that stands still."""

    orders_are_stuck: Bound = Bound(3 * 24 * 3600, minutes=60)
    """Seconds since the oldest open order was placed. Three days are a weekend and a day to send it in: a buyer who
    waits longer is one whom nobody saw."""

    sign_ins_fail: Bound = Bound(300, minutes=5)
    """Failed and refused attempts to sign in. An address has about 17 in that time before it is refused: this is
    somebody's machine."""


USUAL = Bounds()
"""The bounds of a stage that names no others."""
