"""Importing deals from JSON Lines: many at a time, each at most once, whatever interrupts it.

A deal's identity is its ``sourceId``, and its id is derived from that, so meeting a deal twice is harmless: what exists
stays as it is, except for a withdrawal that is news. Lines are taken in windows: the table is asked which of a window's
deals exist, missing brands are created, and the rest goes in as transactions of ``MAX_TOGETHER``, several at once.
"""

from __future__ import annotations

import json
import threading
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, BinaryIO

from shared.api.bodies import CLOCK_SKEW, NewBrand, NewDeal, SourceId, Time
from shared.api.validation import checked
from shared.data.catalog import brands, deal_items, deals, imports
from shared.data.catalog.imports import MAX_TOGETHER
from shared.dynamodb.table import MAX_BATCH_KEYS, Table
from shared.errors import BrandExists, Busy, DealExists, DealsError, Unavailable
from shared.http.body import parse_object
from shared.models.catalog import Deal
from shared.values import times

MAX_LINE = 64 * 1024
"""Bytes of a line: a deal has at most 8 KB, and JSON may spell each of its characters in six."""

WINDOW = 100 * MAX_TOGETHER
"""Lines in memory at a time: enough to keep all workers busy, and to bring a brand's deals together."""

BY = "an import"
"""Who withdraws deals here, as their logs say."""

WORKERS = 4
"""Transactions at once. More would only conflict at the items that count deals, and wait."""


class DealLine(NewDeal):
    """A line of an import: a deal as one posts it, its identity at its source, and when it was posted and withdrawn."""

    source_id: SourceId
    posted_at: Time | None = None
    withdrawn_at: Time | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A line that can be imported. ``size`` is in bytes."""

    number: int
    size: int
    source_id: str
    brand_name: str
    deal: Deal


@dataclass(slots=True)
class Report:
    """The counts of an import so far. ``withdrawn`` counts deals that were there and are withdrawn by it; ``bad`` says
    of each line that was not imported, by its number, why."""

    created: int = 0
    created_withdrawn: int = 0
    existing: int = 0
    withdrawn: int = 0
    brands: int = 0
    bad: dict[int, str] = field(default_factory=dict)


class Importer:
    """One import into a table. ``advance`` is told the bytes that are done with, from several threads."""

    def __init__(
        self, table: Table, now: datetime, *, workers: int = WORKERS, advance: Callable[[int], None] = lambda _: None
    ) -> None:
        self.report = Report()
        self._table = table
        self._now = now
        self._advance = advance
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="import")
        self._lock = threading.Lock()
        self._names: dict[str, str] = {}

    def run(self, source: BinaryIO) -> None:
        """Import all lines. Raises Unavailable; ``report`` has the result, also after an error."""
        try:
            self._names = brands.names(self._table)
            for window in windows(self._entries(source)):
                self._import(window)
        finally:
            # Transactions under way are let finish and are counted; those that wait are dropped.
            self._pool.shutdown(wait=True, cancel_futures=True)

    def _entries(self, source: BinaryIO) -> Iterator[Entry]:
        for number, line in enumerate(lines(source), start=1):
            try:
                entry = parse(number, line, self._now)
            except (DealsError, ValueError) as error:
                self._refuse(number, str(error), len(line))
                continue
            if entry is None:
                self._advance(len(line))
            else:
                yield entry

    def _import(self, window: Sequence[Entry]) -> None:
        known = imports.by_source(self._table, [entry.source_id for entry in window])
        self._create_brands(entry for entry in window if entry.source_id not in known)
        new = [self._named(entry) for entry in window if entry.source_id not in known]
        # Deals of one category and brand together: a transaction writes each of their counts once.
        new.sort(key=lambda entry: (entry.deal.status(self._now), entry.deal.category, entry.deal.brand))
        # Those to be withdrawn together: they are read, and the others are not.
        there = sorted(
            (entry for entry in window if entry.source_id in known), key=lambda entry: entry.deal.withdrawn_at is None
        )
        work = [partial(self._create, batch) for batch in _batches(new, MAX_TOGETHER)]
        work += [partial(self._meet, batch, known) for batch in _batches(there, MAX_BATCH_KEYS)]
        for done in [self._pool.submit(task) for task in work]:
            done.result()

    def _create_brands(self, entries: Iterable[Entry]) -> None:
        """Create the brands that are missing, each named as it is first written.

        One after the other: all of them are listed in one item, where they would only conflict.
        """
        for entry in entries:
            slug = entry.deal.brand
            if slug in self._names:
                continue
            try:
                brands.create(self._table, slug, entry.brand_name, self._now)
            except BrandExists:  # another import was first, perhaps with another spelling
                self._names |= brands.names(self._table)
            else:
                self._names[slug] = entry.brand_name
                self.report.brands += 1

    def _named(self, entry: Entry) -> Entry:
        return replace(entry, deal=replace(entry.deal, brand_name=self._names[entry.deal.brand]))

    def _create(self, batch: Sequence[Entry]) -> None:
        """Create a batch in one transaction; where something in it is refused, what remains of it, or one by one."""
        try:
            imports.create_many(self._table, [entry.deal for entry in batch], self._now)
        except DealsError as error:
            if isinstance(error, Unavailable) and not isinstance(error, Busy):
                raise
            if isinstance(error, DealExists) and self._create_rest(batch):
                return
            if len(batch) == 1:
                self._refuse(batch[0].number, str(error), batch[0].size)
                return
            for entry in batch:
                self._create([entry])
            return
        with self._lock:
            self.report.created += len(batch)
            self.report.created_withdrawn += sum(entry.deal.withdrawn_at is not None for entry in batch)
        self._advance(sum(entry.size for entry in batch))

    def _create_rest(self, batch: Sequence[Entry]) -> bool:
        """Another import was faster with some of a batch: create the rest. False if no deal of it exists."""
        known = imports.by_source(self._table, [entry.source_id for entry in batch])
        if not known:
            return False
        self._meet([entry for entry in batch if entry.source_id in known], known)
        rest = [entry for entry in batch if entry.source_id not in known]
        if rest:
            self._create(rest)
        return True

    def _meet(self, entries: Sequence[Entry], known: dict[str, str]) -> None:
        """Count deals that exist already; a line may withdraw one."""
        news = {known[each.source_id]: each.deal.withdrawn_at for each in entries if each.deal.withdrawn_at is not None}
        for deal in deals.get_many(self._table, [*news]):
            if deal.withdrawn_at is None:
                deals.edit(self._table, deal.deal_id, {"withdrawn_at": news[deal.deal_id]}, self._now, by=BY)
                with self._lock:
                    self.report.withdrawn += 1
        with self._lock:
            self.report.existing += len(entries)
        self._advance(sum(entry.size for entry in entries))

    def _refuse(self, number: int, reason: str, size: int) -> None:
        with self._lock:
            self.report.bad[number] = reason
        self._advance(size)


def _batches(entries: Sequence[Entry], most: int) -> list[Sequence[Entry]]:
    return [entries[start : start + most] for start in range(0, len(entries), most)]


def lines(source: BinaryIO) -> Iterator[bytes]:
    """The lines of a file, of an overlong one no more than its start and its length in bytes."""
    while line := source.readline(MAX_LINE + 1):
        length = len(line)
        while not line.endswith(b"\n") and length > MAX_LINE and (more := source.readline(MAX_LINE)):
            length += len(more)
            if more.endswith(b"\n"):
                break
        yield line


def windows(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """Entries in groups. A source id that a group holds already starts the next: there, its deal exists."""
    window: dict[str, Entry] = {}
    for entry in entries:
        if len(window) == WINDOW or entry.source_id in window:
            yield list(window.values())
            window = {}
        window[entry.source_id] = entry
    if window:
        yield list(window.values())


def parse(number: int, line: bytes, now: datetime) -> Entry | None:
    """The deal of a line, or None for an empty one. Raises ValueError, InvalidBody, InvalidTime."""
    if len(line) > MAX_LINE:
        raise ValueError(f"must have at most {MAX_LINE // 1024} KB")
    document = _document(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line)
    if document is None:
        return None
    fields = checked(DealLine, document)
    if fields.posted_at is not None and fields.created_at is not None:
        raise ValueError("must have postedAt or createdAt, which are one field, and not both")
    fields.created_at = fields.created_at or fields.posted_at
    deal = fields.to_deal(now, entropy=b"")  # none: the id is derived from the source's
    deal_items.check(deal)
    withdrawn_at = fields.withdrawn_at
    if withdrawn_at is not None and not deal.created_at <= withdrawn_at <= now + CLOCK_SKEW:
        raise ValueError(f"withdrawnAt: must be between {times.to_iso(deal.created_at)} and now")
    return Entry(
        number=number,
        size=len(line),
        source_id=fields.source_id,
        brand_name=_brand_name(document),
        deal=replace(deal, withdrawn_at=withdrawn_at),
    )


def _document(line: bytes) -> Any:
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise ValueError("must be UTF-8") from error
    if not text.strip():
        return None
    try:
        document = parse_object(text)
    except json.JSONDecodeError as error:
        raise ValueError("must be JSON") from error
    except ValueError as error:
        raise ValueError(f"must be JSON: {error}") from error
    if document is None:
        raise ValueError("must be a JSON object")
    return document


def _brand_name(document: dict[str, Any]) -> str:
    """The brand as it is written, by the rules for a new brand's name."""
    return NewBrand(name=unicodedata.normalize("NFC", document["brand"])).name
