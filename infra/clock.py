"""The clock: functions that run each minute."""

from __future__ import annotations

from collections.abc import Iterable

from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from constructs import Construct

from infra import acceptances
from infra.checks import accept
from infra.function import PythonFunction

_TOO_LATE = Duration.minutes(1)


class EachMinute(Construct):
    """Invokes each minute the functions whose rows say so.

    A minute that is missed or fails is not repeated: the next one does its work.
    """

    def __init__(self, scope: Construct, *, functions: Iterable[PythonFunction]) -> None:
        super().__init__(scope, "EachMinute")
        invoked = [each.function for each in sorted(functions, key=lambda each: each.row.name) if each.row.each_minute]
        rule = events.Rule(
            self,
            "Rule",
            description="Takes ended deals out of the feeds, and rebuilds caches before they grow stale",
            schedule=events.Schedule.rate(Duration.minutes(1)),
            targets=[
                targets.LambdaFunction(function, retry_attempts=0, max_event_age=_TOO_LATE) for function in invoked
            ],
        )
        accept(rule, acceptances.CLOCK_REPEATS)
        for function in invoked:
            function.configure_async_invoke(retry_attempts=0, max_event_age=_TOO_LATE)
            accept(function, acceptances.INVOKED_BY_THE_CLOCK)
