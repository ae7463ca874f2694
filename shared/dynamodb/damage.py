"""The guard of work over many items: one that is damaged, or fails, is left out and noted; the others go on.

An item may be damaged by a write by hand or by a restore: it must not take a page down for all readers, nor stop the
clock's work for all accounts. The code that finds one is deep in a read and has no logger; the code that logs takes
the notes (``runtime.metrics``).
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
"""The things on which some work failed, each with its error."""

_MOST = 100
"""Notes that are kept where nothing takes them, as on the command line."""

_noted: deque[str] = deque(maxlen=_MOST)
_failed: deque[str] = deque(maxlen=_MOST)


def readable(items: Iterable[Item], read: Callable[[Item], T]) -> list[T]:
    """Read each item by ``read``. One that is damaged is left out, and noted: the others are shown."""
    found = []
    for item in items:
        try:
            found.append(read(item))
        except UNREADABLE as error:
            note(named(item, error))
    return found


def read(item: Item, reader: Callable[[Item], T]) -> T:
    """Read one item that is asked for by itself. Raises Damaged."""
    try:
        return reader(item)
    except Damaged:
        raise
    except UNREADABLE as error:
        raise Damaged(named(item), f"{type(error).__name__}: {error}") from error


def read_or(item: Item, read: Callable[[Item], T], *, otherwise: D) -> T | D:
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
    return read_or(item, lambda each: attribute(each, name, kind), otherwise=otherwise)


def named(item: Any, error: Exception | None = None) -> str:
    """The name of a damaged item: what its error calls it, or its key, as far as it was read."""
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
    """The results of some work, done for each thing by itself: one that fails keeps no other from being worked on.

    One that is damaged, or that makes DynamoDB call a request impossible (``noted``), is noted. Any other failure is
    noted with its reason, and the last one is raised when all work is done: what runs the work repeats it, and its
    alarm rings. A caller that has more to do before gives a list for them, as ``failures``; then none is raised.
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
    """The result of some work, as ``each`` does it; None where something is damaged, which is noted."""
    return next(each([name], lambda _: work(), str), None)


def raise_last(failures: Failures) -> None:
    """Raise the last of some failures, if there are any."""
    if failures:
        raise failures[-1][1]


def note(what: str) -> None:
    """Note that an item is damaged: ``what`` names it."""
    _noted.append(what)


def noted() -> list[str]:
    """The names of the damaged items noted since they were taken last, each once: those of the present request."""
    return list(dict.fromkeys(_noted))


def taken() -> list[str]:
    """The damaged items noted since the last call, each as often as it was met."""
    return _emptied(_noted)


def failed() -> list[str]:
    """The failures for other reasons since the last call, each with its reason."""
    return _emptied(_failed)


def _emptied(notes: deque[str]) -> list[str]:
    found = list(notes)
    notes.clear()
    return found
