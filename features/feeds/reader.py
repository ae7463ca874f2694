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

from cli.json_lines import WrongFile
from features.feeds.findings import Asked, End
from features.feeds.formats import Format
from features.feeds.reading import Feed
from features.feeds.shop import Shop
from shared.isolation.confinement import confine, go_on
from shared.values import money, times

TOO_MUCH_MEMORY = "it takes too much memory"


def main() -> None:
    """Read the question in the first line of standard input, and the file behind it."""
    _prepare()
    confine()
    asked = Asked(*json.loads(sys.stdin.buffer.readline()))
    shop = Shop(asked.source, asked.address, asked.currency, asked.categories, asked.default)
    feed = Feed(
        _Input(),  # type: ignore[arg-type]  # it is read, and nothing else
        shop,
        Format(asked.form),
        times.from_iso(asked.now),
        asked.encoding,
    )
    _answer([End.of(feed, _read(feed))])


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


def _read(feed: Feed) -> str:
    """Answer a feed's records; returns why the rest of its file isn't read."""
    try:
        for record in feed:
            _answer([*record, record.source_id in feed.gone])
            go_on()
    except WrongFile as error:
        return str(error)
    except MemoryError:
        return feed.stopped(TOO_MUCH_MEMORY)
    except Exception as error:  # noqa: BLE001  # a file that no rule foresaw is refused, too
        return feed.stopped(f"{type(error).__name__} {error}")
    return ""


def _answer(told: list[Any]) -> None:
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
