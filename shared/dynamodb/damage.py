"""Guard for work over many items: a damaged or failing one is skipped and noted, and the others go on.

A write by hand or a restore can damage an item. It must not break a page for all readers, nor the scheduled work for
all accounts. The code that meets it has no logger, so ``runtime.metrics`` collects the notes and logs them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import PARTITION_KEY, SORT_KEY
from shared.errors import Damaged, Impossible

T = TypeVar("T")
R = TypeVar("R")
D = TypeVar("D")

UNREADABLE = (KeyError, ValueError, TypeError, AttributeError, OverflowError, Damaged)
"""The errors that reading a damaged item raises."""

Failures = list[tuple[Any, Exception]]
"""The failed things, each with its error."""

_MOST = 100
"""The most notes kept if they aren't taken, as on the command line."""

_noted: deque[str] = deque(maxlen=_MOST)
_failed: deque[str] = deque(maxlen=_MOST)


def readable(items: Iterable[Item], read: Callable[[Item], T]) -> list[T]:
    """Read each item by ``read``; damaged ones are skipped and noted."""
    found = []
    for item in items:
        try:
            found.append(read(item))
        except UNREADABLE as error:
            note(named(item, error))
    return found


def read(item: Item, reader: Callable[[Item], T]) -> T:
    """Read one item that a caller asked for. Raises Damaged."""
    try:
        return reader(item)
    except Damaged:
        raise
    except UNREADABLE as error:
        raise Damaged(named(item), f"{type(error).__name__}: {error}") from error


def read_or(item: Item, read: Callable[[Item], T], *, otherwise: D) -> T | D:
    """Read one item, or note that it is damaged and return ``otherwise``."""
    found = readable([item], read)
    return found[0] if found else otherwise


def attribute(item: Mapping[str, Any], name: str, kind: type[T]) -> T:
    """A required attribute of a given type. Raises KeyError, ValueError."""
    value = item[name]
    if type(value) is not kind:  # not isinstance: a bool is an int
        raise ValueError(f"{name} is no {kind.__name__}")
    return value


def attribute_or(item: Item, name: str, kind: type[T], otherwise: D) -> T | D:
    """An attribute, or ``otherwise`` if it is missing or of another type, which is noted."""
    return read_or(item, lambda each: attribute(each, name, kind), otherwise=otherwise)


def named(item: Any, error: Exception | None = None) -> str:
    """A damaged item's name: from its error, or else its key as far as readable."""
    if isinstance(error, Damaged):
        return error.name
    key = [str(item[part]) for part in (PARTITION_KEY, SORT_KEY) if part in item] if isinstance(item, Mapping) else []
    return " / ".join(key) or "?"


def each(
    things: Iterable[T],
    work: Callable[[T], R],
    name: Callable[[T], str] = named,
    *,
    failures: Failures | None = None,
    noted: tuple[type[Exception], ...] = (Impossible, *UNREADABLE),
) -> Iterator[R]:
    """Work on each thing separately and yield the results; one that fails doesn't stop the others.

    Errors in ``noted`` (damaged items, impossible requests) are noted. Any other failure is noted with its reason, and
    the last one is raised at the end, so that the caller's retry and alarm work. With a list ``failures``, failures are
    added to it and none is raised.
    """
    found: Failures = [] if failures is None else failures
    for thing in things:
        try:
            result = work(thing)
        except noted as error:
            note(error.name if isinstance(error, Damaged) else name(thing))
        except Exception as error:  # noqa: BLE001  # whatever it is, the others go on
            _failed.append(f"{name(thing)}: {type(error).__name__}: {error}")
            found.append((thing, error))
        else:
            yield result
    if failures is None:
        raise_last(found)


def alone(work: Callable[[], R], name: str) -> R | None:
    """Do one thing as ``each`` does; returns None if an item is damaged, which is noted."""
    return next(each([name], lambda _: work(), str), None)


def raise_last(failures: Failures) -> None:
    """Raise the last of the failures, if there are any."""
    if failures:
        raise failures[-1][1]


def note(what: str) -> None:
    """Note a damaged item by name."""
    _noted.append(what)


def noted() -> list[str]:
    """The distinct names noted since the last ``taken``: those of the present request."""
    return list(dict.fromkeys(_noted))


def taken() -> list[str]:
    """Take the names noted since the last call, repeated ones included."""
    return _emptied(_noted)


def failed() -> list[str]:
    """Take the other failures noted since the last call, each with its reason."""
    return _emptied(_failed)


def _emptied(notes: deque[str]) -> list[str]:
    found = list(notes)
    notes.clear()
    return found
