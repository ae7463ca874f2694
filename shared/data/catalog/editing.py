"""Editors' changes to a deal: warnings to confirm, repair of a damaged deal, and undoing its end.

A warning is about a value that is allowed but probably a mistake. A repair keeps the readable fields of a damaged item.
Withdrawing or ending a deal can be undone for ten minutes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from shared import settings
from shared.data import keys
from shared.data.catalog import deals, feed_counts
from shared.data.catalog.deals import DEAL, check, is_listed, not_ours, to_item, unreadable
from shared.data.idempotency import Idempotency, earlier_result
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from shared.dynamodb.writes import ABSENT, Write, put_over
from shared.errors import Busy, DealIsOdd, EditedMeanwhile, TooLateToUndo
from shared.models.catalog import Deal
from shared.values import identifiers
from shared.values.money import units
from shared.values.times import ago, from_iso, to_iso

FIELDS = ("expiresAt", "price")
"""The fields that have warnings, with the API's names."""


def warnings_of(deal: Deal, now: datetime, before: Deal | None = None) -> dict[str, str]:
    """The warnings about a deal to be written, by field.

    For an edited deal, only fields that differ from ``before`` count. A new deal too old to be news has none.
    """
    if before is None and now - deal.created_at > settings.NEWS_AGE:
        return {}
    found = {}
    if deal.ends_at is not None and deal.ends_at <= now and (before is None or before.ends_at != deal.ends_at):
        found["expiresAt"] = f"This deal ended {ago(deal.ends_at, now)}: readers won't see it."
    saves = deal.list_price is None or deal.units < units(deal.list_price, deal.currency)
    if not saves and (before is None or (before.price, before.list_price) != (deal.price, deal.list_price)):
        found["price"] = "The price is not below the list price, so pages show no discount."
    return found


def ask(deal: Deal, now: datetime, confirmed: Collection[str] | None, before: Deal | None = None) -> None:
    """Refuse a deal with warnings that its editor hasn't confirmed; None confirms all. Raises DealIsOdd."""
    found = {} if confirmed is None else warnings_of(deal, now, before)
    if found.keys() - set(confirmed or ()):
        raise DealIsOdd(found)


def create(
    table: Table,
    deal: Deal,
    now: datetime,
    confirmed: Collection[str] | None,
    *,
    idempotency: Idempotency | None = None,
    also: Sequence[Write] = (),
) -> Deal:
    """Create a deal as ``deals.create`` does, after checking for warnings. Raises DealIsOdd, and what that raises."""
    try:
        ask(deal, now, confirmed)
    except DealIsOdd:
        # The warning may be new: a repeated request may have posted the deal before it ended.
        earlier = earlier_result(table, idempotency, now)
        if earlier is not None:
            return deals.get(table, earlier, consistent=True)
        deals.check(deal.changed(deals.stored_brand(table, deal.brand)))  # an invalid deal isn't asked about
        raise
    return deals.create(table, deal, now, idempotency=idempotency, also=also)


def edit(
    table: Table,
    id_or_number: str,
    changes: Mapping[str, Any],
    now: datetime,
    confirmed: Collection[str] | None,
    *,
    by: str | None = None,
    correlation_id: str | None = None,
) -> Deal:
    """Edit a deal as ``deals.edit`` does, after checking for new warnings.

    If another editor is faster, the check is repeated on the new state. Raises DealIsOdd, and what ``deals.edit``
    raises.
    """

    def ask_editor(old: Deal, new: Deal) -> None:
        ask(new, now, confirmed, old)

    deal_id = deals.place_of(table, id_or_number, consistent=True).deal_id
    return deals.edit(table, deal_id, changes, now, by=by, correlation_id=correlation_id, ask=ask_editor)


def salvage(table: Table, deal_id: str) -> tuple[Deal, set[str]]:
    """The readable part of a damaged deal, and the names of its unreadable fields. Raises NoSuchDeal.

    An unreadable required field is empty in the deal.
    """
    return salvaged(deals.get_item(table, deal_id), deal_id)


def mend(
    table: Table,
    deal_id: str,
    changes: Mapping[str, Any],
    now: datetime,
    *,
    by: str | None = None,
    correlation_id: str | None = None,
    confirmed: Collection[str] | None = None,
) -> Deal:
    """Rewrite a damaged deal, with ``changes`` for what is unreadable, and put it into the right feeds.

    Warnings are checked as in ``edit``. Raises NoSuchDeal, NoSuchTopic, DealTooLarge, DealIsOdd; EditedMeanwhile if
    another edit was faster.
    """
    item = deals.get_item(table, deal_id)
    left, lost = salvaged(item, deal_id)
    brand = deals.stored_brand(table, changes.get("brand", left.brand))
    version = 0 if "version" in lost else left.version
    unchanged, read = "Version = :read", item.get("Version")
    if not isinstance(read, int | Decimal):
        unchanged, read = "NOT attribute_type(Version, :read)", "N"
    written = {**brand, "version": version + 1, "correlation_id": correlation_id, "price_before": None}
    new = left.changed({**changes, **written}).signed(by)
    check(new)
    ask(new, now, confirmed, left)
    new_item = to_item(new, now)
    was = _as_listed(item, new) if is_listed(item) else None
    will_be = new if is_listed(new_item) else None
    table.transact(
        put_over(
            {**not_ours(item), **new_item},
            f"{ABSENT} OR {unchanged}",
            {":read": read},
            refused=EditedMeanwhile(version),
        ),
        *feed_counts.count_writes(table, was, will_be),
        *feed_counts.end_note_writes(None, will_be),
    )
    return new


def salvaged(item: Item, deal_id: str) -> tuple[Deal, set[str]]:
    """The readable part of an item with a deal's attributes, as in ``salvage``."""
    left, lost = DEAL.salvage(item)
    lost |= unreadable(left)
    known = {name: value for name, value in left.items() if name not in lost}
    blank = dict.fromkeys(("title", "link", "brand", "brand_name", "category", "price", "currency"), "")
    made = {"created_at": identifiers.time_of(deal_id), **blank, **known, "deal_id": deal_id}
    return Deal(**made), lost


def _as_listed(item: Item, deal: Deal) -> Deal:
    """A deal as the feeds count it, from its item's index keys."""
    day, brand, category = keys.listed_under(item)
    return replace(deal, brand=brand, category=category, created_at=datetime.fromisoformat(day).replace(tzinfo=UTC))


WITHIN = timedelta(minutes=10)
"""How long an editor can undo it."""


def undone(deal: Deal, now: datetime) -> dict[str, Any]:
    """The changes that undo a deal's withdrawal or early end; none after ten minutes."""
    if deal.withdrawn_at is not None:
        return {"withdrawn_at": None} if now - deal.withdrawn_at <= WITHIN else {}
    if deal.ends_at is None or now - deal.ends_at > WITHIN:
        return {}
    ended, _, before = (deal.ended_from or "").partition(" ")
    return {"ends_at": from_iso(before) if before else None} if ended == to_iso(deal.ends_at) else {}


def undo(
    table: Table, deal_id: str, now: datetime, *, by: str | None = None, correlation_id: str | None = None
) -> Deal:
    """Undo a deal's withdrawal or early end within ten minutes: it gets its old end, and returns to pages it was picked
    for. Later changes stay. Raises NoSuchDeal, TooLateToUndo."""

    def attempt() -> Deal:
        deal = deals.get(table, deal_id, consistent=True)
        changes = undone(deal, now)
        if not changes:
            raise TooLateToUndo("ten minutes")
        return deals.edit(table, deal_id, changes, now, by=by, correlation_id=correlation_id, version=deal.version)

    return table.retry(attempt, when=EditedMeanwhile, gave_up=Busy("Many editors are changing this deal. Try again."))
