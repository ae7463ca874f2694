"""Kinds of work that may end in a dead-letter queue: what reads their messages, and describes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Kind(NamedTuple):
    """A kind of work: the parser of its messages (ValueError for another kind), its description with its deals, its
    queue (of ``WORK``), and the function whose log has the error."""

    read: Callable[[str], Any]
    report: Callable[[Any], tuple[str, list[str]]]
    queue: str
    worker: str
