"""What reading a shop's file answers: a line of JSON for each record, and an :class:`End`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import BinaryIO

from features.feeds.findings import Asked, End
from features.feeds.formats import Format
from features.feeds.reading import Feed
from features.feeds.shop import Shop
from features.imports.json_lines import Record, WrongFile
from shared.values import times

TOO_MUCH_MEMORY = "it takes too much memory"


def answers(asked: Asked, file: BinaryIO, most: int | None = None) -> Iterator[str]:
    """Read a file, at most so many records of it."""
    shop = Shop(asked.source, asked.address, asked.currency, asked.categories, asked.default)
    feed = Feed(file, shop, Format(asked.form), times.from_iso(asked.now), asked.encoding)
    why = ""
    try:
        records: Iterator[Record] = iter(feed)
        for record in islice(records, most):
            yield _line([*record, record.source_id in feed.gone])
        if most is not None and next(records, None):
            why = f"Only the first {most:,} records are read."
    except WrongFile as error:
        why = str(error)
    except MemoryError:
        why = feed.stopped(TOO_MUCH_MEMORY)
    except Exception as error:  # noqa: BLE001  # a file that no rule foresaw is refused, too
        why = feed.stopped(f"{type(error).__name__} {error}")
    yield _line([End.of(feed, why)])


def _line(told: list[object]) -> str:
    return json.dumps(told) + "\n"
