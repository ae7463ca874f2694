"""Items that cannot be read: left out of results, and noted here until they are counted and logged.

The code that finds one is deep in a read and has no logger; the code that logs takes what was noted
(``runtime.reporting``).
"""

from __future__ import annotations

from collections import deque

_MOST = 100
"""Notes that are kept where nothing takes them, as on the command line."""

_noted: deque[str] = deque(maxlen=_MOST)


def note(what: str) -> None:
    """Note that an item is damaged: ``what`` names it."""
    _noted.append(what)


def taken() -> list[str]:
    """The damaged items noted since the last call, each as often as it was met."""
    found = list(_noted)
    _noted.clear()
    return found
