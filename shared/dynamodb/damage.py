"""Items that cannot be read: left out of results, and noted here until they are counted and logged.

Somebody may write to the table by hand, or a restore may go wrong: one such item must not take a page down for
everybody. The code that finds one is deep in a read and has no logger; the code that logs takes what was noted
(``runtime.reporting``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import PARTITION_KEY, SORT_KEY
from shared.errors import Damaged

T = TypeVar("T")
D = TypeVar("D")

UNREADABLE = (KeyError, ValueError, TypeError, AttributeError, OverflowError, Damaged)
"""The errors by which reading an item shows that it is damaged."""

_MOST = 100
"""Notes that are kept where nothing takes them, as on the command line."""

_noted: deque[str] = deque(maxlen=_MOST)


def readable(items: Iterable[Item], read: Callable[[Item], T]) -> list[T]:
    """Read each item by ``read``. One that is damaged is left out, and noted: the others are shown."""
    found = []
    for item in items:
        try:
            found.append(read(item))
        except UNREADABLE as error:
            note(named(item, error))
    return found


def whole(item: Item, read: Callable[[Item], T], *, otherwise: D) -> T | D:
    """Read one item, or give something else in its place where it is damaged, which is noted."""
    found = readable([item], read)
    return found[0] if found else otherwise


def attribute(item: Mapping[str, Any], name: str, kind: type[T]) -> T:
    """An attribute that must be there, and of a kind. Raises KeyError, ValueError."""
    value = item[name]
    if type(value) is not kind:  # not isinstance: a bool is an int
        raise ValueError(f"{name} is no {kind.__name__}")
    return value


def attribute_or(item: Item, name: str, kind: type[T], otherwise: D) -> T | D:
    """An attribute, or something else in its place where it is missing or of another kind, which is noted."""
    return whole(item, lambda each: attribute(each, name, kind), otherwise=otherwise)


def named(item: Any, error: Exception | None = None) -> str:
    """The name of a damaged item: what its error calls it, or its key, as far as it was read."""
    if isinstance(error, Damaged):
        return error.name
    key = [str(item[part]) for part in (PARTITION_KEY, SORT_KEY) if part in item] if isinstance(item, Mapping) else []
    return " / ".join(key) or "?"


def note(what: str) -> None:
    """Note that an item is damaged: ``what`` names it."""
    _noted.append(what)


def taken() -> list[str]:
    """The damaged items noted since the last call, each as often as it was met."""
    found = list(_noted)
    _noted.clear()
    return found
