"""What a process of ``make interleave`` does: it tries pairs and crash points in a world of its own."""

from __future__ import annotations

import time
from contextlib import ExitStack, suppress
from dataclasses import fields
from multiprocessing.util import Finalize
from typing import Any

from tests.interleave import actions
from tests.interleave.exploring import Explorer
from tests.support import engines

Line = dict[str, Any]
"""What was found, as JSON."""

_kept = ExitStack()
_explorer: list[Explorer] = []


def explorer() -> Explorer:
    """This process's explorer, in a world of its own."""
    if not _explorer:
        Finalize(None, close, exitpriority=1)  # a process of a pool calls nothing that atexit knows
        _explorer.append(_kept.enter_context(actions.explored()))
    return _explorer[0]


def close() -> None:
    """End the world, and its engine, which may have ended before."""
    with suppress(Exception):
        _kept.close()
    engines.end_all()


def attempt(names: list[str], switches: int) -> Line:
    """Try a pair, or an action's crash points."""
    began = time.monotonic()
    found = explorer().pair(*names, switches=switches) if len(names) == 2 else explorer().crashes(*names)
    line = {"names": names, "switches": switches, "seconds": round(time.monotonic() - began, 2)}
    return line | {each.name: getattr(found, each.name) for each in fields(found)}
