"""Each minute: remove ended deals from the feeds, and run features' tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shared import features, hooks
from shared.data.catalog import feeds
from shared.dynamodb.damage import Failures, raise_last
from shared.runtime import metrics
from shared.runtime.environment import each_task, logger, table
from shared.runtime.metrics import measured, report
from shared.values import times

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

_OF_FEATURES = [each.each_minute for each in features.roles(hooks.Expiry)]


def handler(_event: dict[str, Any], context: LambdaContext) -> dict[str, int]:
    """Sweep once; returns how many endings were examined.

    A failure doesn't stop the rest. The last one is raised at the end, so that the function's alarm rings.
    """
    now, done = times.now(), {"swept": 0}

    def sweep(failures: Failures) -> None:
        done["swept"] = feeds.sweep(table(), now, failures=failures)
        report(metrics.ENDED_DEALS_SWEPT, done["swept"])

    failures = each_task(sweep, *_OF_FEATURES)
    logger().info("swept", endings=done["swept"], function_request_id=context.aws_request_id, **measured())
    raise_last(failures)
    return done
