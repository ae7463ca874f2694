"""``btd unannounced``: active deals of which nobody was notified, as after a restore to a point in time.

A restored table has a new, empty stream. If the old stream still held a deal's record, nobody is notified of the deal.
Such a deal has no offer, or an older one: the stream's reader writes the offer right after it has queued the
notifications. ``btd check --mend`` writes the offers, so run this command first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any

import typer

from cli import output
from cli.commands import Work, answering
from cli.output import say, show_rows
from shared.data import keys
from shared.data.catalog.changes import DealChange
from shared.data.catalog.deals import readable
from shared.dynamodb.table import Table
from shared.models.catalog import Deal, Status
from shared.values.times import to_iso

KEPT = timedelta(hours=24)
"""How long a stream keeps a record, and the age up to which a new deal is announced."""

Segments = Annotated[int, typer.Option(min=1, max=64, help="The number of table segments read in parallel.")]


@dataclass(frozen=True, slots=True)
class Unannounced:
    """A deal, and the kinds of notifications that nobody got of it (``shared/data/members/cohorts.py``)."""

    deal: Deal
    kinds: tuple[str, ...]


def _rows(found: Sequence[output.Json]) -> None:
    if not found:
        say("The stream has handed on the news of each deal.")
        return
    rows = ((each["number"], each["title"], ", ".join(each["news"]), each["writtenAt"]) for each in found)
    show_rows(("Deal", "Title", "News for", "Written"), rows)


@answering(_rows)
def unannounced(work: Work, segments: Segments = 4) -> list[dict[str, Any]]:
    """List active deals whose news was still in the stream: nobody was notified of them. Run it on a restored table
    before ``btd check --mend``. It reads the whole table."""
    return [
        {
            "dealId": each.deal.deal_id,
            "number": each.deal.number,
            "title": each.deal.title,
            "news": list(each.kinds),
            "writtenAt": to_iso(each.deal.updated_at or each.deal.created_at),
        }
        for each in find(work.table, work.now, segments)
    ]


def find(table: Table, now: datetime, segments: int) -> list[Unannounced]:
    """The deals, newest first. A scan of the table."""
    deals: dict[str, Deal] = {}
    offers: dict[str, Deal] = {}

    def read(segment: int) -> None:
        start: Any = {}
        while start is not None:
            items, start = table.scan(segment=segment, segments=segments, start=start)
            deals.update((deal.deal_id, deal) for deal in readable(_of(items, keys.DEAL)))
            for offer in readable(_of(items, keys.PRODUCT_OFFER)):
                known = offers.setdefault(offer.deal_id, offer)
                offers[offer.deal_id] = max(known, offer, key=lambda each: each.version)

    table.gather([lambda number=number: read(number) for number in range(segments)])  # type: ignore[misc]
    found = (Unannounced(deal, _news(deal, offers.get(deal.deal_id), now)) for deal in deals.values())
    return sorted((each for each in found if each.kinds), key=lambda each: each.deal.deal_id, reverse=True)


def _of(items: Sequence[Any], kind: str) -> Iterator[Any]:
    return (item for item in items if item.get("Type") == kind)


def _news(deal: Deal, offer: Deal | None, now: datetime) -> tuple[str, ...]:
    """The kinds of work that the change from a deal's offer to the deal would have queued."""
    from functions.background.publisher import work_of  # noqa: PLC0415  # it imports what only functions need

    if deal.status(now) is not Status.ACTIVE or (offer is not None and offer.version >= deal.version):
        return ()
    is_recent = now - deal.created_at <= KEPT
    change = DealChange(offer, deal, deal.created_at if offer is None and is_recent else now)
    return tuple(sorted({unit.kind for unit in work_of(change)}))
