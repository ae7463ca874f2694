"""Each minute: send the fetches that are due."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from features.pictures import hosts
from features.pictures.data import fetches
from features.pictures.models import QUEUE
from shared.dynamodb.damage import Failures
from shared.runtime.environment import budget, credentials, logger, table
from shared.values import times

if TYPE_CHECKING:
    from shared.services import Queue


@cache
def uploads_queue() -> Queue:
    """The queue of uploads, connected once per execution environment."""
    from shared import services  # noqa: PLC0415  # a stage that fetches nothing needs none

    return services.connect_queue(os.environ[QUEUE], budget(), **credentials())


def each_minute(failures: Failures) -> None:
    """Send fetches that are due to the resizer, if this stage fetches pictures."""
    if hosts.of_stage() and (sent := fetches.sweep(table(), uploads_queue(), times.now(), failures)):
        logger().info("pictures to fetch", sent=sent)
