"""What functions reach in addition to the table: the fan-out's queue."""

from __future__ import annotations

import os
from functools import cache

from shared import services
from shared.runtime.environment import budget, credentials
from shared.services import Queue


@cache
def queue() -> Queue:
    """The queue that the environment names (``QUEUE_URL``), connected once per execution environment."""
    return services.connect_queue(os.environ["QUEUE_URL"], budget(), **credentials())
