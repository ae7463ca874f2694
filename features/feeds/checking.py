"""``btd import --check``: how a file was recognised, what an import would do, and which options it needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import BinaryIO

from cli.output import note, say
from features.feeds.files import FeedFile
from features.feeds.formats import LAYOUTS, Format
from features.feeds.importing import FeedImporter
from features.feeds.source import GUESSED
from features.feeds.tables import SEPARATORS
from features.imports.importing import Entry, another_product
from features.imports.json_lines import Record
from shared.data.catalog import deals
from shared.errors import DealsError
from shared.models.catalog import CATEGORIES, Deal
from shared.values import money
from shared.values.naming import counted

CARDS = 3
"""Deals to show."""

EXAMPLE = "https://shop.example"
"""The address of a shop whose own wasn't given: a check shows what it can."""


@dataclass(slots=True)
class Reason:
    """How many records have a reason, and the first of them."""

    count: int = 0
    first: str = ""


@dataclass(slots=True)
class Found:
    """What a check has found besides what an import reports."""

    changed: int = 0
    unchanged: int = 0
    shown: list[Deal] = field(default_factory=list)
    ids: dict[int, str] = field(default_factory=dict)
    left_out: dict[str, Reason] = field(default_factory=dict)
    ending: str = ""

    def show(self, entry: Entry) -> None:
        """Show a deal, if it is one of the first."""
        if len(self.shown) < CARDS:
            self.shown.append(replace(entry.deal, brand_name=entry.brand_name))


class Check(FeedImporter):
    """An import that writes nothing."""

    def read(self, source: BinaryIO) -> Iterator[Record]:
        self.found = Found()
        for record in super().read(source):
            if record.left_out:
                reason = self.found.left_out.setdefault(record.left_out, Reason(first=record.source_id))
                reason.count += 1
            self.found.ids[record.number] = record.source_id
            yield record

    def write(self, window: Sequence[Entry]) -> None:
        """Count what the records would do."""
        known = deals.by_source(self.table, [entry.source_id for entry in window])
        there = {deal.source_id: deal for deal in deals.get_many(self.table, [*known.values()])}
        for entry in window:
            self.found.show(entry)
            deal = there.get(entry.source_id)
            if deal is None:
                self.report.created += entry.source_id not in known
            elif not self.same_product(deal, entry):
                self.refuse(entry.number, another_product(deal), 0)
            elif self.changes(deal, entry):
                self.found.changed += 1
            else:
                self.found.unchanged += 1

    def preview(self, file: BinaryIO) -> bool:
        """Find the first deals of a file none of whose categories is mapped yet. False if there are none."""
        if self.found.shown or not self._shop.unknown or not file.seekable():
            return False
        file.seek(0)
        for record in self._make(file, replace(self._shop, default=next(iter(CATEGORIES)))):
            with suppress(DealsError, ValueError):
                if record.fields is not None:
                    self.found.show(self.entry(record))
            if len(self.found.shown) == CARDS:
                break
        return True

    def finish(self) -> None:
        """Count what would be ended, or say why nothing would be."""
        if self.feed is None or not self.wishes.end_missing:
            return
        ending = self.ending(self.feed)
        self.found.ending = self.refusal(self.feed, ending) or f"{counted(len(ending.ids), 'deal')} would be ended"


def show(check: Check, file: BinaryIO) -> bool:
    """Print what was found in a file; returns whether an import would refuse nothing."""
    feed, report, found = check.feed, check.report, check.found
    if feed is None or feed.form not in LAYOUTS:  # why it isn't read is said last
        return False
    _show_file(feed)
    kept = f"{found.changed:,} changed, {found.unchanged:,} left as they are"
    say(f"{counted(report.created, 'deal')} would be created, {kept}")
    if found.ending:
        say(found.ending)
    for why, reason in found.left_out.items():
        say(f"{counted(reason.count, 'record')} would be left out: {why}, first {reason.first}")
    for sentence in [*feed.faults.sentences(feed.read), *report.said]:
        say(sentence)
    for why, reason in _refused(check).items():
        say(f"{counted(reason.count, 'record')} would be refused: {why}, first {reason.first}")
    unmapped = check.preview(file)
    for deal in found.shown:
        _show_card(deal, "no category yet" if unmapped else deal.category)
    for option in _options(feed):
        note(option)
    return not report.bad and not report.stopped and not _lacks_address(feed)


def _lacks_address(feed: FeedFile) -> bool:
    return bool(LAYOUTS[feed.form].link) and feed.shop.address == EXAMPLE


def _show_file(feed: FeedFile) -> None:
    between = f", a {SEPARATORS[feed.separator]} between columns" if feed.separator else ""
    say(f"Format: {LAYOUTS[feed.form].looks}{between}, in {feed.encoding}")
    named = {currency for currency, is_named in feed.currencies if is_named}
    assumed = {currency for currency, is_named in feed.currencies if not is_named}
    said = [f"{', '.join(sorted(named))}, as the amounts say"] if named else []
    said += [f"{', '.join(sorted(assumed))} for amounts that name none"] if assumed else []
    if said:
        say(f"Currency: {'; '.join(said)}")


def _refused(check: Check) -> dict[str, Reason]:
    """The reasons to refuse records, each with the first: those of one field and kind are one."""
    is_in_lines = check.feed is not None and (check.feed.separator or check.feed.form is Format.JSONL)
    place = "line" if is_in_lines else "record"
    kinds: dict[str, Reason] = {}
    alike: Counter[str] = Counter(reason.partition(":")[0] for reason in check.report.bad.values())
    shown: dict[str, str] = {}
    for number, reason in sorted(check.report.bad.items()):
        of = reason.partition(":")[0]
        why = shown.setdefault(of, reason)
        kinds.setdefault(why, Reason(alike[of], f"{place} {number} {check.found.ids.get(number, '')}".strip()))
    return kinds


def _show_card(deal: Deal, category: str) -> None:
    price = money.text(deal.price, deal.currency)
    before = f", was {money.text(deal.list_price, deal.currency)}" if deal.list_price else ""
    variant = f" ({deal.variant})" if deal.variant else ""
    say(f"\n  {deal.title}{variant}\n  {price}{before} · {deal.brand_name} · {category}\n  {deal.link}")


def _options(feed: FeedFile) -> Iterator[str]:
    """The options that would help, each in a sentence."""
    if not feed.shop.source:
        yield "Add --source with the shop's name: ids are unique within it."
    if _lacks_address(feed):
        yield f"Add --shop with the shop's address, as in --shop {EXAMPLE}: the file has no links."
    if feed.shop.unknown:
        names = ", ".join(repr(name) for name, _ in feed.shop.unknown.most_common(3))
        yield f"Add --categories for {names}: --suggest-categories writes the map. Or add --category, one for all."
    if any(not is_named for _, is_named in feed.currencies) and not feed.shop.currency:
        yield "Add --currency if that of amounts without one is another."
    if feed.encoding == GUESSED:
        yield "Add --encoding if letters with accents look wrong: the file doesn't say its own."
