"""An import of deals, from the command line or a page.

Each deal is imported at most once, despite interruptions: its id is derived from its ``sourceId``, and an existing deal
stays as it is, except for a new withdrawal. Records are processed in windows: find a window's existing deals, create
missing brands, draw numbers, and create the new deals in as few transactions as possible, several at once. Meanwhile
the next window is read.
"""

from __future__ import annotations

import threading
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, BinaryIO

from features.imports import json_lines
from features.imports.json_lines import Record, WrongFile
from shared.api.bodies import CLOCK_SKEW, NewBrand, NewDeal, SourceId, Time
from shared.api.fields import checked
from shared.data.catalog import deals, topics
from shared.dynamodb.table import MAX_BATCH_KEYS, Table
from shared.errors import BrandExists, Busy, DealExists, DealsError, DealTooLarge, EditedMeanwhile, Unavailable
from shared.models.catalog import Deal
from shared.values import links, times
from shared.values.naming import counted, folded

WINDOW = 1_500
"""Records in a window, of which two are in memory: enough to keep all workers busy, and to group a brand's deals."""

BY = "an import"
"""The name in deals' logs for changes by an import."""

SHOWN_ALIKE = 3
"""Bad lines to name for each reason."""

SHOWN_NAMES = 10
"""Brands' names to show that have the slug of another one."""

WORKERS = 4
"""Parallel transactions. More would only conflict at the items that count deals."""


class DealLine(NewDeal):
    """A record of an import: a deal, its identity at its source, and when it was posted and withdrawn."""

    source_id: SourceId
    posted_at: Time | None = None
    withdrawn_at: Time | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A valid record. ``size`` is in bytes."""

    number: int
    size: int
    source_id: str
    brand_name: str
    deal: Deal


@dataclass(slots=True)
class Report:
    """The counts of an import so far.

    ``withdrawn`` and ``also`` count existing deals, the latter what else was done to them, such as ``updated``.
    ``left_out`` counts skipped records by reason; ``bad`` has each refused record's reason by number; ``said`` are
    other sentences for the summary. ``stopped`` says why the file wasn't read to its end, and ``refused`` what else
    wasn't done, with the reason.
    """

    created: int = 0
    created_withdrawn: int = 0
    existing: int = 0
    withdrawn: int = 0
    also: Counter[str] = field(default_factory=Counter)
    brands: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    bad: dict[int, str] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    stopped: str = ""
    refused: str = ""

    def sentences(self) -> Iterator[str]:
        """What was done: a sentence for each count."""
        created = counted(self.created, "deal") + " created"
        if self.created_withdrawn:
            created += f" ({self.created_withdrawn:,} of them withdrawn since)"
        yield created
        yield f"{counted(self.existing, 'deal')} already there"
        yield f"{counted(self.withdrawn, 'deal')} of those withdrawn now"
        for done, number in self.also.items():
            yield f"{counted(number, 'deal')} {done}"
        for why, number in self.left_out.items():
            yield f"{counted(number, 'record')} left out: {why}"
        yield from self.said
        yield f"{counted(self.brands, 'brand')} created"
        yield f"{counted(len(self.bad), 'bad line')}"

    def bad_lines(self) -> list[str]:
        """The lines that weren't imported, with reasons; only the first of many with the same reason."""
        many = {reason: number for reason, number in Counter(self.bad.values()).items() if number > SHOWN_ALIKE}
        shown: dict[str, str] = {}
        for number, reason in sorted(self.bad.items()):
            if reason in many:
                shown.setdefault(reason, f"line {number} and {many[reason] - 1:,} more: {reason}")
            else:
                shown[str(number)] = f"line {number}: {reason}"
        return [*shown.values()]


Advance = Callable[[int], None]


class Importer:
    """One import into a table. ``advance`` gets the number of bytes processed, from several threads.

    Another importer may read other files, change existing deals, and finish with work of its own: it overrides the
    first methods.
    """

    def __init__(
        self, table: Table, now: datetime, *, workers: int = WORKERS, advance: Advance = lambda _: None
    ) -> None:
        self.report = Report()
        self.table = table
        self.now = now
        self._advance = advance
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="import")
        self._lock = threading.Lock()
        self._names: dict[str, str] = {}
        self._first_names: dict[str, str] = {}
        self._met: Counter[tuple[str, str]] = Counter()
        self._under_way: list[Future[None]] = []

    def read(self, source: BinaryIO) -> Iterator[Record]:
        """The file's records. Raises WrongFile, possibly after some valid ones."""
        return json_lines.records(source)

    def entry(self, record: Record) -> Entry:
        """A record's deal. Raises ValueError, InvalidBody, InvalidTime."""
        return entry(record, self.now)

    def same_product(self, there: Deal, entry: Entry) -> bool:
        """Whether a record is about its existing deal's product, and not about another one under its id."""
        return entry.deal.title == there.title or links.product(entry.deal.link) == links.product(there.link)

    def changes(self, there: Deal, entry: Entry) -> Mapping[str, Any]:
        """What a record changes about its existing deal: it may withdraw it, which also is the end of its offer."""
        over_at = entry.deal.withdrawn_at
        if over_at is None or there.withdrawn_at is not None:
            return {}
        has_ended = there.ends_at is not None and there.ends_at <= over_at
        return {"withdrawn_at": over_at} | ({} if has_ended else {"ends_at": over_at})

    def finish(self) -> None:
        """What is left to do when all records are written; ``report.stopped`` says whether some weren't read."""

    def run(self, source: BinaryIO) -> None:
        """Import all records. Raises Unavailable; ``report`` has the result, even after an error."""
        try:
            self._names = topics.brand_names(self.table)
            for window in windows(self._entries(source)):
                self._wait()
                self.write(window)
            self._wait()
            self.finish()
            self.report.said += self._names_that_met()
        finally:
            # Running transactions finish and are counted; waiting ones are dropped.
            self._pool.shutdown(wait=True, cancel_futures=True)

    def _entries(self, source: BinaryIO) -> Iterator[Entry]:
        try:
            for record in self.read(source):
                if record.fields is None:
                    self._leave_out(record)
                    continue
                try:
                    found = self.entry(record)
                except (DealsError, ValueError) as error:
                    self.refuse(record.number, str(error), record.size)
                    continue
                yield self._stored(found)
        except WrongFile as error:
            self.report.stopped = str(error)

    def _stored(self, entry: Entry) -> Entry:
        """An entry with its brand's stored slug; its name is counted if it differs in more than case and accents."""
        brand = topics.stored_slug(entry.deal.brand, self._names)
        known = self._first_names.setdefault(brand, self._names.get(brand, entry.brand_name))
        if known != entry.brand_name and folded(known) != folded(entry.brand_name):
            self._met[known, entry.brand_name] += 1
        return entry if brand == entry.deal.brand else replace(entry, deal=replace(entry.deal, brand=brand))

    def _names_that_met(self) -> list[str]:
        """A sentence for each name that has the slug of another brand, the most frequent first."""
        said = [
            f"{name!r} in {counted(number, 'record')} is filed under the brand {known!r}: both names have one slug"
            for (known, name), number in self._met.most_common(SHOWN_NAMES)
        ]
        rest = len(self._met) - len(said)
        return [*said, f"and {counted(rest, 'name')} more"] if rest else said

    def _leave_out(self, record: Record) -> None:
        if record.fault:
            self.refuse(record.number, record.fault, record.size)
            return
        if record.left_out:
            self.report.left_out[record.left_out] += 1
        self._advance(record.size)

    def write(self, window: Sequence[Entry]) -> None:
        """Start writing a window's records. Earlier windows must be written."""
        known = deals.by_source(self.table, [entry.source_id for entry in window])
        there = [entry for entry in window if entry.source_id in known]
        batches = (there[start : start + MAX_BATCH_KEYS] for start in range(0, len(there), MAX_BATCH_KEYS))
        work = [partial(self._update_existing, batch, known) for batch in batches]
        new = [entry for entry in window if entry.source_id not in known]
        self._create_brands(new)
        work += [partial(self._create, batch) for batch in self._prepared(new)]
        self._under_way = [self._pool.submit(task) for task in work]

    def _wait(self) -> None:
        """Wait until the last window's records are written."""
        for task in self._under_way:
            task.result()

    def _prepared(self, new: Sequence[Entry]) -> list[list[Entry]]:
        """Batches of entries for one transaction each, with their brands' names and their numbers."""
        named = []
        for each in new:
            deal = replace(each.deal, brand_name=self._names[each.deal.brand])
            try:
                deals.check_size(deal)  # the brand's name may be longer than its slug, which was checked
            except DealTooLarge as error:
                self.refuse(each.number, str(error), each.size)
            else:
                named.append(deal)
        entry_of = {each.deal.deal_id: each for each in new}
        batches = deals.batches(self.table, named, self.now)
        return [[replace(entry_of[deal.deal_id], deal=deal) for deal in batch] for batch in batches]

    def _create_brands(self, entries: Iterable[Entry]) -> None:
        """Create missing brands, each named as it first appears.

        One transaction at a time, because all brands are listed in one item.
        """
        named: dict[str, str] = {}
        for entry in entries:
            named.setdefault(entry.deal.brand, entry.brand_name)
        while missing := [slug for slug in named if slug not in self._names]:
            new = {slug: named[slug] for slug in missing[: topics.MOST_BRANDS]}
            try:
                topics.create_brands(self.table, new, self.now)
            except BrandExists:  # another import created one of them, perhaps in another spelling
                self._names |= topics.brand_names(self.table, consistent=True)
                if not new.keys() & self._names.keys():
                    raise
            else:
                self._names |= new
                self.report.brands += len(new)

    def _create(self, batch: Sequence[Entry]) -> None:
        """Create a batch in one transaction; after a refusal, create the rest, or each deal separately."""
        try:
            deals.create_batch(self.table, [entry.deal for entry in batch], self.now)
        except DealsError as error:
            if isinstance(error, Unavailable) and not isinstance(error, Busy):
                raise
            if isinstance(error, DealExists) and self._create_rest(batch):
                return
            if len(batch) == 1:
                self.refuse(batch[0].number, str(error), batch[0].size)
                return
            for entry in batch:
                self._create([entry])
            return
        with self._lock:
            self.report.created += len(batch)
            self.report.created_withdrawn += sum(entry.deal.withdrawn_at is not None for entry in batch)
        self._advance(sum(entry.size for entry in batch))

    def _create_rest(self, batch: Sequence[Entry]) -> bool:
        """Create the rest of a batch after another import created some of it. False if none of its deals exists."""
        known = deals.by_source(self.table, [entry.source_id for entry in batch])
        if not known:
            return False
        self._update_existing([entry for entry in batch if entry.source_id in known], known)
        rest = [entry for entry in batch if entry.source_id not in known]
        if rest:
            self._create(rest)
        return True

    def _update_existing(self, entries: Sequence[Entry], known: dict[str, str]) -> None:
        """Count existing deals, and apply the records' withdrawals and updates. BatchGetItem."""
        by_id = {known[each.source_id]: each for each in entries}
        for deal in deals.get_many(self.table, [*by_id]):
            self._compare(deal, by_id[deal.deal_id])
        with self._lock:
            self.report.existing += len(entries)
        self._advance(sum(entry.size for entry in entries))

    def _compare(self, there: Deal, entry: Entry) -> None:
        """Write what a record changes about its deal."""
        if not self.same_product(there, entry):
            self.refuse(entry.number, another_product(there), 0)
            return
        try:
            changes = self._update(there, entry)
        except DealsError as error:
            if isinstance(error, Unavailable) and not isinstance(error, Busy):
                raise
            self.refuse(entry.number, str(error), 0)
            return
        with self._lock:
            if "withdrawn_at" in changes:
                self.report.withdrawn += 1
            elif changes:
                self.report.also["updated"] += 1

    def _update(self, there: Deal, entry: Entry) -> Mapping[str, Any]:
        """Write what a record changes about its deal, as it is when it is written; return the changes."""
        latest = there

        def attempt() -> Mapping[str, Any]:
            nonlocal latest
            if changes := self.changes(latest, entry):
                try:
                    deals.edit(self.table, latest.deal_id, changes, self.now, by=BY, version=latest.version)
                except EditedMeanwhile:
                    latest = deals.get(self.table, latest.deal_id, consistent=True)
                    raise
            return changes

        return self.table.retry(
            attempt, when=EditedMeanwhile, gave_up=Busy("Others are changing this deal. Try again.")
        )

    def refuse(self, number: int, reason: str, size: int) -> None:
        """Note that a record is refused, and why."""
        with self._lock:
            self.report.bad[number] = reason
        self._advance(size)


def another_product(there: Deal) -> str:
    """The reason to refuse a record under the id of another product's deal."""
    return f"sourceId: {there.source_id} is that of another product, {there.title!r}"


def windows(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """Group entries. A repeated source id starts the next group, in which its deal exists."""
    window: dict[str, Entry] = {}
    for entry in entries:
        if len(window) == WINDOW or entry.source_id in window:
            yield list(window.values())
            window = {}
        window[entry.source_id] = entry
    if window:
        yield list(window.values())


def entry(record: Record, now: datetime) -> Entry:
    """Read a record's deal. Raises ValueError, InvalidBody, InvalidTime, which say what is wrong."""
    given = record.fields or {}
    fields = checked(DealLine, given)
    if fields.posted_at is not None and fields.created_at is not None:
        raise ValueError("must have postedAt or createdAt, which are one field, and not both")
    fields.created_at = fields.created_at or fields.posted_at
    deal = fields.to_deal(now, entropy=b"")  # none needed: the id is derived from the source's
    deals.check(deal)
    withdrawn_at = fields.withdrawn_at
    if withdrawn_at is not None and not deal.created_at <= withdrawn_at <= now + CLOCK_SKEW:
        raise ValueError(f"withdrawnAt: must be between {times.to_iso(deal.created_at)} and now")
    return Entry(
        number=record.number,
        size=record.size,
        source_id=fields.source_id,
        brand_name=NewBrand(name=unicodedata.normalize("NFC", given["brand"])).name,
        deal=replace(deal, withdrawn_at=withdrawn_at),
    )
