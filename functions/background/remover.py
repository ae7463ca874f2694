"""Each minute: finish the removal of accounts, and free their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shared.data import removal
from shared.dynamodb.damage import Failures, raise_last
from shared.errors import Busy
from shared.runtime.environment import logger, table
from shared.runtime.metrics import measured

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


def handler(_event: dict[str, Any], context: LambdaContext) -> dict[str, bool]:
    """Continue removals until all are finished or time is over; returns whether all are."""
    failures: Failures = []
    finished = removal.go_on_with_all(table(), failures=failures)
    logger().info("removed", accounts=finished, function_request_id=context.aws_request_id, **measured())
    raise_last([each for each in failures if not isinstance(each[1], Busy)])  # those that are busy wait a minute
    return {"finished": not failures}
