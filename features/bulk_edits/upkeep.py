"""Each minute: go on with bulk edits."""

from __future__ import annotations

from features.bulk_edits import data
from shared.dynamodb.damage import Failures
from shared.runtime.environment import logger, request_id, table
from shared.values import times


def each_minute(failures: Failures) -> None:
    """Take the next steps of unfinished edits."""
    for edit in data.sweep(table(), times.now(), correlation_id=request_id(), failures=failures):
        logger().info("bulk edit finished", edit=edit.edit_id, does=edit.does, state=edit.state, deals=len(edit.walked))
