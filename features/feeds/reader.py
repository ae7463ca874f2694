"""The child process that reads a shop's file: ``python -m features.feeds.reader``, for ``files.py``.

A file is hostile. This process reads it with limits of memory and of processor time for each record, has no
credentials, and can open nothing. It answers a line of JSON for each record, and an :class:`End`.
"""

from __future__ import annotations

import encodings
import json
import pkgutil
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any

from features.feeds.answering import answers
from features.feeds.findings import Asked
from features.isolation.confinement import confine, go_on
from shared.values import money


def main() -> None:
    """Read the question in the first line of standard input, and the file behind it."""
    _prepare()
    confine()
    asked = Asked(*json.loads(sys.stdin.buffer.readline()))
    for line in answers(asked, _Input()):  # type: ignore[arg-type]  # it is read, and nothing else
        sys.stdout.write(line)
        go_on()


class _Input:
    """Standard input. While it waits for more, what is read so far is answered."""

    def __init__(self) -> None:
        self._file: Any = sys.stdin.buffer

    def read1(self, size: int) -> Any:
        sys.stdout.flush()
        return self._file.read1(size)


def _prepare() -> None:
    """Load what is otherwise loaded when it is first needed: currencies, and all encodings that a file may name."""
    money.currencies()
    for module in pkgutil.iter_modules(encodings.__path__):
        with suppress(ImportError):  # some are of Windows alone
            import_module(f"encodings.{module.name}")


if __name__ == "__main__":
    main()
