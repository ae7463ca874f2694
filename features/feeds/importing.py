"""Import a shop's feed: create its deals, update existing ones, and end those that it no longer has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any, BinaryIO

from cli.imports import BY, WORKERS, Advance, Entry, Importer
from cli.json_lines import Record
from features.feeds.formats import Format, Shop, records
from shared.data.catalog import deals, feeds
from shared.dynamodb import damage
from shared.dynamodb.table import Table
from shared.models.catalog import ALL_DEALS, Deal

PAGE = 100
"""Deals to read at a time when looking for those that a file no longer has."""

UPDATED = ("title", "link", "price", "list_price", "currency", "image", "description", "variant", "ends_at")
"""The fields of a deal that an import updates, if requested."""

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
        self._update = update
        self._ends_missing = end_missing
        self._seen: set[str] = set()

    def read(self, source: BinaryIO) -> Iterator[Record]:
        for record in records(source, self._shop, self._form, self.now):
            self._seen.add(record.source_id)
            yield record

    def changes(self, there: Deal, entry: Entry) -> Mapping[str, Any]:
        new = entry.deal
        if new.withdrawn_at is not None or not self._update:
            return super().changes(there, entry)
        changes = {name: getattr(new, name) for name in UPDATED if getattr(new, name) != getattr(there, name)}
        if there.ended_from and not (there.edited_by or "").endswith(f" {BY}"):
            changes.pop("ends_at", None)  # an editor has ended it
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
        end = partial(deals.edit, self.table, changes={"ends_at": self.now}, now=self.now, by=BY)
        for _ in damage.each(missing, end, str):
            self.report.also["ended"] += 1
