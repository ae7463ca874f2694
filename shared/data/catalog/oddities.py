"""The oddities of a deal: what may be written, but was hardly meant. Its editor is asked before it is written."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from shared import settings
from shared.data.catalog import deal_items, deal_numbers, deals
from shared.data.idempotency import Idempotency, earlier_result
from shared.dynamodb.table import Table
from shared.dynamodb.writes import Write
from shared.errors import DealIsOdd
from shared.models.catalog import Deal
from shared.values.money import units
from shared.values.times import ago

FIELDS = ("expiresAt", "price")
"""The fields that can be odd, named as in the API."""


def oddities(deal: Deal, now: datetime, before: Deal | None = None) -> dict[str, str]:
    """Each odd field of a deal that is to be written, and why.

    Of an edited deal, only what differs from the deal ``before``. A new deal that is too old to be news is history, in
    which nothing is odd.
    """
    if before is None and now - deal.created_at > settings.NEWS_AGE:
        return {}
    found = {}
    if deal.ends_at is not None and deal.ends_at <= now and (before is None or before.ends_at != deal.ends_at):
        found["expiresAt"] = f"This deal ended {ago(deal.ends_at, now)}: nobody will see it."
    saves = deal.list_price is None or deal.units < units(deal.list_price, deal.currency)
    if not saves and (before is None or (before.price, before.list_price) != (deal.price, deal.list_price)):
        found["price"] = "The price is not below the list price: no saving is shown."
    return found


def ask(deal: Deal, now: datetime, seen: Collection[str] | None, before: Deal | None = None) -> None:
    """Refuse a deal with an oddity that its editor has not ``seen``; with None, nobody is asked. Raises DealIsOdd."""
    found = {} if seen is None else oddities(deal, now, before)
    if found.keys() - set(seen or ()):
        raise DealIsOdd(found)


def create(
    table: Table,
    deal: Deal,
    now: datetime,
    seen: Collection[str] | None,
    *,
    idempotency: Idempotency | None = None,
    also: Sequence[Write] = (),
) -> Deal:
    """Create a deal as ``deals.create`` does, after asking. Raises DealIsOdd, and what that raises."""
    try:
        ask(deal, now, seen)
    except DealIsOdd:
        # Perhaps only by now: a repeated request may have posted it before it ended.
        earlier = earlier_result(table, idempotency, now)
        if earlier is not None:
            return deals.get(table, earlier, consistent=True)
        deal_items.check(replace(deal, brand_name=deals.brand_name(table, deal.brand)))  # else refused once it is meant
        raise
    return deals.create(table, deal, now, idempotency=idempotency, also=also)


def edit(
    table: Table,
    id_or_number: str,
    changes: Mapping[str, Any],
    now: datetime,
    seen: Collection[str] | None,
    *,
    by: str | None = None,
    correlation_id: str | None = None,
) -> Deal:
    """Edit a deal as ``deals.edit`` does, after asking about what this makes odd.

    If another editor is faster, the question is put anew for what the deal is then. Raises DealIsOdd, and what
    ``deals.edit`` raises.
    """

    def ask_editor(old: Deal, new: Deal) -> None:
        ask(new, now, seen, old)

    deal_id = deal_numbers.place_of(table, id_or_number, consistent=True).deal_id
    return deals.edit(table, deal_id, changes, now, by=by, correlation_id=correlation_id, ask=ask_editor)
