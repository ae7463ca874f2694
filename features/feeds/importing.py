"""Import a shop's feed: create its deals, update existing ones, and end those that it no longer has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, BinaryIO

from cli.imports import BY, WORKERS, Advance, Entry, Importer
from cli.json_lines import Record
from features.feeds.fields import Source, TakenOver
from features.feeds.formats import Format, Shop, records
from shared.data.catalog import deals, feeds
from shared.dynamodb import damage
from shared.dynamodb.table import Table
from shared.errors import Busy, EditedMeanwhile
from shared.models.catalog import ALL_DEALS, Deal, Status
from shared.values import links

PAGE = 100
"""Deals to read at a time when looking for those that a file no longer has."""

UPDATED = ("title", "link", "price", "list_price", "currency", "image", "description", "variant", "ends_at")
"""The fields of a deal that an import updates, if requested and if no editor has taken them over."""

NO_SHOP = Shop()


class FeedImporter(Importer):
    """One import of a shop's file.

    ``update`` changes existing deals to match the file. ``end_missing`` ends active deals of the source that the file
    no longer has.
    """

    def __init__(
        self,
        table: Table,
        now: datetime,
        *,
        shop: Shop = NO_SHOP,
        form: Format = Format.AUTO,
        update: bool = False,
        end_missing: bool = False,
        workers: int = WORKERS,
        advance: Advance = lambda _: None,
    ) -> None:
        super().__init__(table, now, workers=workers, advance=advance)
        self._shop = shop
        self._form = form
        self._updates = update
        self._ends_missing = end_missing
        self._seen: set[str] = set()

    def read(self, source: BinaryIO) -> Iterator[Record]:
        for record in records(source, self._shop, self._form, self.now):
            self._seen.add(record.source_id)
            yield record

    def entry(self, record: Record) -> Entry:
        found = super().entry(record)
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
        if new.withdrawn_at is not None or not self._updates:
            return super().changes(there, entry)
        kept = taken_over(there)
        differs = [name for name in UPDATED if getattr(new, name) != getattr(there, name)]
        changes: dict[str, Any] = {name: getattr(new, name) for name in differs if name not in kept}
        left = TakenOver(kept.intersection(differs))
        if changes or left != there.own(TakenOver) is not None:
            changes["more"] = {TakenOver: left, Source: new.own(Source) or there.own(Source)}
        return changes

    def finish(self) -> None:
        if self._ends_missing and self._seen - {""} and not self.report.stopped:
            self._end_what_is_missing()

    def _end_what_is_missing(self) -> None:
        """End the source's active deals that the file doesn't have."""
        cursor: str | None = ""
        missing: list[str] = []
        while cursor is not None:
            page = feeds.read(self.table, ALL_DEALS, limit=PAGE, now=self.now, cursor=cursor or None)
            cursor = page.next
            of_source = [deal for deal in page.items if (deal.source_id or "").startswith(f"{self._shop.source}:")]
            missing += [deal.deal_id for deal in of_source if deal.source_id not in self._seen]
        if ended := sum(damage.each(missing, self._end, str)):
            self.report.also["ended"] += ended

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


def taken_over(deal: Deal) -> frozenset[str]:
    """The fields of a deal that are an editor's.

    1.1.0 didn't note them. It told from the name in the deal's log whether the end of a deal was an editor's.
    """
    noted = deal.own(TakenOver)
    if noted is not None:
        return noted.fields
    ended = deal.ended_from and not (deal.edited_by or "").endswith(f" {BY}")
    return frozenset({"ends_at"} if ended else ())
