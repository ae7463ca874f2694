"""A shop's file, read by a process of its own (``reader.py``), whose answers are checked."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from subprocess import CalledProcessError
from typing import Any, BinaryIO

from pydantic import TypeAdapter, ValidationError

from features.feeds.findings import Asked, End
from features.feeds.formats import Format
from features.feeds.rules import Faults, Noted
from features.feeds.shop import Shop
from features.imports.json_lines import Record, WrongFile
from features.isolation.children import Broken, Limits, TooSlow, answers
from shared.values import times

READER = "features.feeds.reader"

LIMITS = Limits(processor=10, total=3600, memory=600_000_000, answer=16_000_000)
"""Seconds for a record and for a file, and bytes: many times what a large one takes."""

_END = TypeAdapter(End)


class FeedFile:
    """A shop's file that is being read: what is known of it is complete at its end.

    ``seen`` are the ids of its records, and ``gone`` those that can't be bought. ``doubts`` are reasons to think that
    it isn't whole. ``currencies`` counts the prices in each, and whether they name it.
    """

    def __init__(self, file: BinaryIO, shop: Shop, form: Format, now: datetime, encoding: str = "") -> None:
        self._file, self.shop = file, shop
        self._asked = Asked(
            *(shop.source, shop.address, shop.currency, shop.categories, shop.default),
            *(form, encoding, times.to_iso(now)),
        )
        self.form = Format.AUTO
        self.encoding, self.separator = "", ""
        self.seen: set[str] = set()
        self.gone: set[str] = set()
        self.doubts: list[str] = []
        self.faults = Faults()
        self.currencies: Counter[tuple[str, bool]] = Counter()
        self.read = 0

    def __iter__(self) -> Iterator[Record]:
        """The records in order. Raises WrongFile, possibly after some valid ones."""
        ended = False
        try:
            for line in self._answers():
                match _parsed(line):
                    case [[*end]]:
                        ended = True
                        self._end(_END.validate_python(end))
                    case told:
                        yield self._record(told)
        except TooSlow as error:
            raise self._wrong(f"a record takes more than {LIMITS.processor} seconds") from error
        except (Broken, CalledProcessError, ValidationError) as error:
            raise self._wrong("it breaks what reads it") from error
        except OSError as error:
            raise self._wrong(str(error)) from error
        if not ended:
            raise self._wrong("it breaks what reads it")

    def _answers(self) -> Iterator[bytes | str]:
        """What its reader says of it."""
        yield from answers(READER, self._file, LIMITS, first=json.dumps(self._asked).encode() + b"\n")

    def _wrong(self, why: str) -> WrongFile:
        return WrongFile(f"The file cannot be read {f'after record {self.read}' if self.read else 'at all'}: {why}.")

    def _record(self, told: Any) -> Record:
        match told:
            case [int(), int(), dict() | None, str(), str(), str(source_id), bool(is_gone)]:
                self.read += 1
                if source_id:
                    self.seen.add(source_id)
                if is_gone:
                    self.gone.add(source_id)
                return Record(*told[:-1])
        raise Broken

    def _end(self, end: End) -> None:
        self.form, self.encoding, self.separator, self.read = end.form, end.encoding, end.separator, end.read
        self.doubts += end.doubts
        self.currencies.update({(code, is_named): count for code, is_named, count in end.currencies})
        for name, meaning, count, source_id, value in end.faults:
            noted = self.faults.found.setdefault((name, meaning), Noted(0, source_id, value))
            noted.count += count
        self.shop.unknown.update(end.unknown)
        if end.stopped:
            raise WrongFile(end.stopped)


def _parsed(line: bytes | str) -> Any:
    """An answer's value. Raises Broken."""
    try:
        return json.loads(line)
    except (RecursionError, ValueError) as error:
        raise Broken from error
