"""Items that nobody can make sense of: left out where they are met, and noted here until somebody counts them.

Who meets one is deep in a read and has nothing to log with; who logs takes what was noted (``runtime.reporting``).
"""

from __future__ import annotations

from collections import deque

_MOST = 100
"""Notes kept where nobody takes them, as in the terminal."""

_noted: deque[str] = deque(maxlen=_MOST)


def note(what: str) -> None:
    """Note that an item is damaged: ``what`` names it."""
    _noted.append(what)


def taken() -> list[str]:
    """What was noted since this was last asked, each as often as it was met."""
    found = list(_noted)
    _noted.clear()
    return found
