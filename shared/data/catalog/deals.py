"""Creating, reading and changing deals. Its feeds count a listed deal in the transaction that lists or unlists it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from shared.data import item_types, keys
from shared.data.catalog import deal_items, feed_counts, topics
from shared.data.catalog.deal_items import check, from_item, is_listed, ours, readable, to_item
from shared.data.catalog.feed_counts import Stale
from shared.data.idempotency import Idempotency, once
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from shared.dynamodb.writes import Write, change, put_new
from shared.errors import Busy, DealExists, DealIsOver, EditedMeanwhile, NoSuchDeal
from shared.models.catalog import BRAND, Deal, Status, Topic
from shared.values import identifiers
from shared.values.times import to_iso

_ALWAYS_POSSIBLE = {"withdrawn_at", "hot_at", "ends_at"}
"""Changes allowed even above the size limit."""


def new_id(created_at: datetime, source_id: str | None, entropy: bytes) -> str:
    """The id of a new deal: derived from its source's id if it has one, so that a repeated import gives the same id."""
    return identifiers.derived(created_at, "deal", source_id) if source_id else identifiers.random(created_at, entropy)


def create(
    table: Table, deal: Deal, now: datetime, *, idempotency: Idempotency | None = None, also: Sequence[Write] = ()
) -> Deal:
    """Create a deal with its number, and list it if it is active; ``also`` are other writes of its transaction.

    A repeated request with the same ``idempotency`` key gets the deal that the first one made.
    Raises DealExists, NoSuchTopic, DealTooLarge, IdempotencyKeyReused, and what ``also`` is refused with.
    """
    (deal,) = numbered(table, [replace(deal, brand_name=brand_name(table, deal.brand))])
    writes = [*creation([deal], now), *also]
    earlier = feed_counts.mending(table, lambda: once(table, idempotency, deal.deal_id, now, writes), entered=[deal])
    return deal if earlier is None else get(table, earlier, consistent=True)


def get(table: Table, deal_id: str, *, consistent: bool = False) -> Deal:
    """One deal, by its id. One GetItem. Raises NoSuchDeal."""
    return from_item(get_item(table, deal_id, consistent=consistent))


def get_item(table: Table, deal_id: str, *, consistent: bool = True) -> Item:
    """The item of a deal. One GetItem. Raises NoSuchDeal."""
    item = table.get(keys.deal(deal_id), consistent=consistent)
    if item is None:
        raise NoSuchDeal(deal_id)
    return item


def find(table: Table, id_or_number: str, *, consistent: bool = False) -> Deal:
    """One deal, by its id or its short public number. One GetItem by id, two by number. Raises NoSuchDeal.

    ``consistent`` is for editors, who look for what they wrote a moment ago, and for what a write is based on.
    """
    return get(table, deal_items.place_of(table, id_or_number, consistent=consistent).deal_id, consistent=consistent)


def get_many(table: Table, deal_ids: Sequence[str], *, consistent: bool = False) -> list[Deal]:
    """The deals of some ids that exist, in the order of the ids. BatchGetItem, 100 a request."""
    return readable(table.get_many([keys.deal(i) for i in deal_ids], consistent=consistent))


def edit(
    table: Table,
    deal_id: str,
    changes: Mapping[str, Any],
    now: datetime,
    *,
    by: str | None = None,
    correlation_id: str | None = None,
    version: int | None = None,
    ask: Callable[[Deal, Deal], object] = lambda _old, _new: None,
) -> Deal:
    """Change fields of a deal; it enters or leaves the feeds as its status then calls for, and keeps its place.

    ``changes`` maps fields of ``Deal`` to values; ``withdrawn_at`` and ``hot_at`` keep their first times. ``by`` is the
    editor, for the deal's log. Of two editors at once, the later one's changes are applied to what the earlier one
    wrote. With ``version``, the one that the changes are based on, the later one is refused instead: a form sends every
    field, and would undo changes that it does not know of. ``ask`` may refuse what is about to be written, given the
    deal before and after. Raises NoSuchDeal, NoSuchTopic, DealTooLarge, EditedMeanwhile.
    """
    named = {"brand_name": brand_name(table, changes["brand"])} if "brand" in changes else {}

    def attempt() -> Deal:
        old_item = ours(get_item(table, deal_id))
        old = from_item(old_item)
        if version is not None and old.version != version:
            raise EditedMeanwhile(old.version)
        kept = {name for name in ("withdrawn_at", "hot_at") if changes.get(name) and getattr(old, name)}
        new = replace(old, **{name: value for name, value in changes.items() if name not in kept} | named)
        if new.ends_at == now != old.ends_at:  # by hand, and not by itself: ``editing.py`` asks for the end before
            new = replace(new, ended_from=" ".join(to_iso(each) for each in (now, old.ends_at) if each))
        if changes.keys() - _ALWAYS_POSSIBLE:
            check(new, old)
        ask(old, new)
        new_item = to_item(new, now)
        if new_item == old_item:
            return old
        edited_at = now if changes else old.updated_at  # the sweep lists a deal anew, and edits nothing
        new = replace(new, version=old.version + 1, correlation_id=correlation_id, updated_at=edited_at).signed(by)
        new_item = to_item(new, now)
        left, entered = (old if is_listed(old_item) else None, new if is_listed(new_item) else None)

        def write() -> None:
            table.transact(
                change(old_item, new_item, version="Version", refused=Stale()),
                *feed_counts.count_writes(table, left, entered),
                *feed_counts.end_note_writes(left, entered),
            )

        feed_counts.mending(table, write, left=left, entered=[entered] if entered else [])
        return new

    return table.retry(attempt, when=Stale, gave_up=Busy("Many are editing this deal at once; try again."))


def withdraw(table: Table, deal_id: str, now: datetime, *, by: str | None = None) -> Deal:
    """Withdraw a deal: it leaves the feeds and stays readable. Raises NoSuchDeal."""
    return edit(table, deal_id, {"withdrawn_at": now}, now, by=by)


def make_hot(
    table: Table, deal_id: str, now: datetime, *, by: str | None = None, correlation_id: str | None = None
) -> Deal:
    """Mark an active deal as hot: every user is notified of it, once. Raises NoSuchDeal, DealIsOver."""

    def ask(old: Deal, _: Deal) -> None:
        if old.status(now) is not Status.ACTIVE:
            raise DealIsOver(deal_id)

    return edit(table, deal_id, {"hot_at": now}, now, by=by, correlation_id=correlation_id, ask=ask)


def brand_name(table: Table, brand: str) -> str:
    """The name of a brand. One consistent GetItem. Raises NoSuchTopic."""
    return topics.get(table, Topic(BRAND, brand), consistent=True).name


def numbered(table: Table, deals: Sequence[Deal]) -> list[Deal]:
    """The deals with the next numbers of the sequence. Raises NoSuchTopic, DealTooLarge."""
    for deal in deals:
        check(deal)
    return [
        replace(deal, number=number) for number, deal in enumerate(deals, deal_items.draw_numbers(table, len(deals)))
    ]


def creation(deals: Sequence[Deal], now: datetime) -> Iterator[Write]:
    """The writes that create deals: item, number and source of each, and the counts of the feeds they enter.

    Their brands and categories are known to exist; none is ever deleted.
    """
    listed = []
    for deal in deals:
        item = to_item(deal, now)
        yield put_new(item, refused=DealExists(deal.deal_id))
        if deal.source_id is not None:
            source = {**keys.deal_source(deal.source_id), "Type": item_types.DEAL_SOURCE, "SourceId": deal.source_id}
            yield put_new(source | {"DealId": deal.deal_id}, refused=DealExists(deal.source_id))
        if deal.number is not None:
            yield deal_items.numbering(deal, deal.number)
        if is_listed(item):
            listed.append(deal)
            yield from feed_counts.end_note_writes(None, deal)
    yield from feed_counts.count_listed(listed)
