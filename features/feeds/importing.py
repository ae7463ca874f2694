"""Import a shop's feed: create its deals, update existing ones, and end those that it no longer has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, BinaryIO

from features.feeds.fields import Source, TakenOver
from features.feeds.files import FeedFile
from features.feeds.formats import Format
from features.feeds.rules import Meaning
from features.feeds.shop import Shop
from features.imports.importing import BY, WORKERS, Advance, Entry, Importer
from features.imports.json_lines import Record
from shared.api.fields import InvalidBody
from shared.data.catalog import deals, feeds
from shared.dynamodb import damage
from shared.dynamodb.table import Table
from shared.errors import Busy, EditedMeanwhile
from shared.models.catalog import ALL_DEALS, Deal, Status
from shared.values import links
from shared.values.naming import counted

PAGE = 100
"""Deals to read at a time when looking for those that a file no longer has."""

UPDATED = ("title", "link", "price", "list_price", "currency", "image", "description", "variant", "ends_at")
"""The fields of a deal that an import updates, if requested and if no editor has taken them over."""

OPTIONAL = {"image": "picture", "description": "description", "variant": "variant", "listPrice": "list price"}
"""The fields of a record that it loses rather than be refused, with the names that their rules have."""

FEW = 5
SHARE = 5
"""A file that lacks as many deals as ``FEW``, and more than one in ``SHARE`` of its source's, is doubted."""

NO_SHOP = Shop()


@dataclass(frozen=True, slots=True)
class Wishes:
    """What an import does with deals that exist.

    ``update`` changes them to match the file. ``end_missing`` ends active deals of the source that the file no longer
    has, or says are gone; ``end_most`` even if they are many.
    """

    update: bool = False
    end_missing: bool = False
    end_most: bool = False


NONE = Wishes()


class FeedImporter(Importer):
    """One import of a shop's file. Where no process can be started, another class reads it (``FILE``)."""

    FILE = FeedFile

    def __init__(
        self,
        table: Table,
        now: datetime,
        *,
        shop: Shop = NO_SHOP,
        form: Format = Format.AUTO,
        encoding: str = "",
        wishes: Wishes = NONE,
        workers: int = WORKERS,
        advance: Advance = lambda _: None,
    ) -> None:
        super().__init__(table, now, workers=workers, advance=advance)
        self.feed: FeedFile | None = None
        self._shop = shop
        self._make: Callable[[BinaryIO, Shop], FeedFile] = lambda file, of: self.FILE(file, of, form, now, encoding)
        self.wishes = wishes

    def read(self, source: BinaryIO) -> Iterator[Record]:
        self.feed = self._make(source, self._shop)
        yield from self.feed

    def entry(self, record: Record) -> Entry:
        """A record's deal; a field that it can do without, and that the API refuses, is left out."""
        try:
            found = super().entry(record)
        except InvalidBody as error:
            wrong = {name for name, _ in error.faults}
            if not wrong <= OPTIONAL.keys() or self.feed is None:
                raise
            fields = dict(record.fields or {})
            for name in wrong:
                self.feed.faults.note(OPTIONAL[name], Meaning.UNREADABLE, record.source_id, str(fields.pop(name, "")))
            found = super().entry(record._replace(fields=fields))
        if not self._shop.source:
            return found
        return replace(found, deal=found.deal.with_own(Source(self._shop.source)))

    def same_product(self, there: Deal, entry: Entry) -> bool:
        """A title or a link that an editor has taken over says nothing of the feed's product."""
        kept, new = taken_over(there), entry.deal
        title = "title" in kept or new.title == there.title
        return title or "link" in kept or links.product(new.link) == links.product(there.link)

    def changes(self, there: Deal, entry: Entry) -> Mapping[str, Any]:
        """What the record says of the fields that no editor has taken over.

        Where the feed has come to say what the editor wrote, the field is the feed's again.
        """
        new = entry.deal
        if new.withdrawn_at is not None or not self.wishes.update:
            changed = super().changes(there, entry)
            return {**changed, "more": {TakenOver: there.own(TakenOver)}} if changed else {}
        kept = taken_over(there)
        names = UPDATED if there.withdrawn_at is None else UPDATED[:-1]  # its end is when it was withdrawn
        differs = [name for name in names if getattr(new, name) != getattr(there, name)]
        changes: dict[str, Any] = {name: getattr(new, name) for name in differs if name not in kept}
        left = TakenOver(kept.intersection(differs))
        if changes or left != there.own(TakenOver) is not None:
            changes["more"] = {TakenOver: left, Source: new.own(Source) or there.own(Source)}
        return changes

    def finish(self) -> None:
        """Say what the records lacked, and end the deals that the file no longer has, if it can be trusted."""
        if self.feed is None:
            return
        self.report.said += self.feed.faults.sentences(self.feed.read)
        if not self.wishes.end_missing:
            return
        ending = self.ending(self.feed)
        self.report.refused = self.refusal(self.feed, ending)
        if self.report.refused:
            return
        if ended := sum(damage.each(ending.ids, self._end, str)):
            self.report.also["ended"] += ended

    def refusal(self, feed: FeedFile, ending: Ending) -> str:
        """Why no deal may be ended, or nothing. What can't be read isn't missing."""
        if self.report.stopped:
            return "Nothing was ended, because the file was not read to its end."
        if feed.doubts:
            return f"Nothing was ended, because the file may not be whole: {feed.doubts[0]}."
        if self.report.bad:
            return f"Nothing was ended, because of {counted(len(self.report.bad), 'bad line')}."
        if not feed.seen:
            return "Nothing was ended, because the file has no records."
        missing = len(ending.missing)
        if missing >= FEW and missing * SHARE > ending.active and not self.wishes.end_most:
            of = f"{missing:,} of {ending.active:,} deals of {self._shop.source}"
            return f"Nothing was ended, because {of} are missing from the file. If they are gone, add --end-most."
        return ""

    def ending(self, feed: FeedFile) -> Ending:
        """The source's active deals that the file doesn't have, or says are gone."""
        of_source = [*self._of_source()]
        missing = [deal.deal_id for deal in of_source if deal.source_id not in feed.seen]
        gone = [deal.deal_id for deal in of_source if deal.source_id in feed.gone]
        return Ending(len(of_source), missing, gone)

    def _of_source(self) -> Iterator[Deal]:
        """The source's active deals. An id alone doesn't tell ``up``'s from those of ``up:uk``, if both are known."""
        own = f"{self._shop.source}:"
        cursor: str | None = ""
        found: list[Deal] = []
        while cursor is not None:
            page = feeds.read(self.table, ALL_DEALS, limit=PAGE, now=self.now, cursor=cursor or None)
            cursor = page.next
            found += [deal for deal in page.items if (deal.source_id or "").startswith(own)]
        named = {source.name for deal in found if (source := deal.own(Source))}
        others = tuple(f"{name}:" for name in named if name.startswith(own))
        for deal in found:
            source = deal.own(Source)
            if source.name == self._shop.source if source else not (deal.source_id or "").startswith(others):
                yield deal

    def _end(self, deal_id: str) -> bool:
        """End a deal, unless it has ended meanwhile. It returns when the feed has it again."""

        def attempt() -> bool:
            deal = deals.get(self.table, deal_id, consistent=True)
            if deal.status(self.now) is not Status.ACTIVE:
                return False
            ended = {"ends_at": self.now, "more": {TakenOver: TakenOver(taken_over(deal) - {"ends_at"})}}
            deals.edit(self.table, deal_id, ended, self.now, by=BY, version=deal.version)
            return True

        return self.table.retry(attempt, when=EditedMeanwhile, gave_up=Busy("Others are changing this deal."))


@dataclass(frozen=True, slots=True)
class Ending:
    """How many active deals a source has, and the ids of those that its file lacks, or says are gone."""

    active: int
    missing: list[str]
    gone: list[str]

    @property
    def ids(self) -> list[str]:
        return [*self.missing, *self.gone]


def taken_over(deal: Deal) -> frozenset[str]:
    """The fields of a deal that are an editor's.

    1.1.0 didn't note them. It told from the name in the deal's log whether the end of a deal was an editor's.
    """
    noted = deal.own(TakenOver)
    if noted is not None:
        return noted.fields
    ended = deal.ended_from and not (deal.edited_by or "").endswith(f" {BY}")
    return frozenset({"ends_at"} if ended else ())
