"""Waiting for a state, never for a time."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(look: Callable[[], bool], seconds: float = 180.0) -> bool:
    """Whether something has come true within some time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if look():
            return True
        time.sleep(0.1)
    return look()
