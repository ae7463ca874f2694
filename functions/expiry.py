"""Each minute: deals whose offer has ended leave the feeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shared import times
from shared.data import endings
from shared.runtime import logger, table

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


def handler(_event: dict[str, Any], _context: LambdaContext) -> dict[str, int]:
    """Sweep once; returns how many endings were looked at."""
    swept = endings.sweep(table(), times.now())
    logger().info("swept", endings=swept)
    return {"swept": swept}
