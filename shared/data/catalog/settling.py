"""Bring all that derives from a deal up to date: its offer, its words with their counts, and the note of its end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from shared.data import keys
from shared.data.catalog import derived, feed_counts, offers, search
from shared.data.catalog.deals import from_item, has_ended, is_listed
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from shared.dynamodb.writes import ABSENT, Write, forget, put, require
from shared.errors import NotFound
from shared.models.catalog import Deal


def settle(table: Table, deal_id: str, strays: Sequence[Item] = ()) -> Deal | None:
    """Write a deal's derived items as the deal is now; returns it, None if there is no such deal.

    ``strays`` are items that may no longer derive from it: they are deleted unless they do. Nothing is written if all
    is right. Raises DamagedDeal, Busy.
    """

    def write(item: Item, held: Write) -> Deal:
        deal, listed = from_item(item), is_listed(item)
        offers.settle(table, deal, held, has_ended=has_ended(item))
        search.settle(table, deal, held, is_listed=listed)
        note = feed_counts.note_of(deal) if listed else None
        if note and table.get(keys.primary(note), consistent=True) != note:
            table.transact(held, put(note, because="the deal is checked"))
        due = [note or {}, offers.to_item(deal, has_ended=False), *(search.items_of(deal).values() if listed else ())]
        places = [keys.primary(each) for each in due if each]
        _delete(table, (each for each in strays if keys.primary(each) not in places), held)
        return deal

    deal = derived.settle(table, deal_id, write)
    if deal is None:
        gone = require(keys.deal(deal_id), ABSENT, refused=derived.Moved())
        with suppress(derived.Moved):
            _delete(table, strays, gone)
    return deal


def _delete(table: Table, strays: Iterable[Item], held: Write) -> None:
    for item in strays:
        is_word = item["Type"] == keys.WORD
        key = keys.primary(item)
        with suppress(NotFound):  # it is gone, or its count is
            writes = search.removing(item) if is_word else (forget(key, because="the deal is checked"),)
            table.transact(held, *writes)
