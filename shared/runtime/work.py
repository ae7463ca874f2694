"""The queue of the fan-out, for the functions that put work into it or take it out."""

from __future__ import annotations

import os
from functools import cache

from shared import sqs
from shared.runtime.environment import budget, credentials
from shared.sqs import Queue


@cache
def queue() -> Queue:
    """The queue that the environment names (``QUEUE_URL``), connected once per execution environment."""
    return sqs.connect(os.environ["QUEUE_URL"], budget(), **credentials())
