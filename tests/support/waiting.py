"""Waiting for a state, never for a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 180.0
"""Seconds after which a state is no longer waited for. Most come in one or two, on a busy machine in many."""


def until(look: Callable[[], bool]) -> bool:
    """Whether something has come true."""
    return _last_seen(look, bool)


def eventually(look: Callable[[], T], is_right: Callable[[T], bool]) -> T:
    """Wait until something that follows from a write through the stream is right, and return it."""
    seen = _last_seen(look, is_right)
    assert is_right(seen), seen
    return seen


def _last_seen(look: Callable[[], T], is_right: Callable[[T], bool]) -> T:
    deadline = time.monotonic() + PATIENCE
    while not is_right(seen := look()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return seen
