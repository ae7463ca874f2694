"""Bring all that derives from a deal up to date: its offer, its words with their counts, and the note of its end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import chain

from features.upkeep import derived
from features.upkeep.derived import Moved
from shared.data import keys
from shared.data.catalog import feed_counts, offers, search, words
from shared.data.catalog.deals import from_item, has_ended, is_listed
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from shared.dynamodb.writes import ABSENT, EXISTS, MOST_TOGETHER, Write, forget, put, put_new, put_over, require
from shared.errors import Impossible, NotFound
from shared.models.catalog import Deal

SETTLED_TOGETHER = (MOST_TOGETHER - 1) // 2
"""Words that a transaction brings up to date: an item and a count each, beside the check of the deal."""


def settle(table: Table, deal_id: str, strays: Sequence[Item] = ()) -> Deal | None:
    """Write a deal's derived items as the deal is now; returns it, None if there is no such deal.

    ``strays`` are items that may no longer derive from it: they are deleted unless they do. Nothing is written if all
    is right. Raises DamagedDeal, Busy.
    """

    def write(item: Item, held: Write) -> Deal:
        deal, listed = from_item(item), is_listed(item)
        settle_offer(table, deal, held, has_ended=has_ended(item))
        _settle_words(table, deal, held, is_listed=listed)
        note = feed_counts.note_of(deal) if listed else None
        if note and table.get(keys.primary(note), consistent=True) != note:
            table.transact(held, put(note, because="the deal is checked"))
        due = [note or {}, offers.to_item(deal, has_ended=False), *(search.items_of(deal).values() if listed else ())]
        places = [keys.primary(each) for each in due if each]
        _delete(table, (each for each in strays if keys.primary(each) not in places), held)
        return deal

    deal = derived.settle(table, deal_id, write)
    if deal is None:
        gone = require(keys.deal(deal_id), ABSENT, refused=Moved())
        with suppress(Moved):
            _delete(table, strays, gone)
    return deal


def _delete(table: Table, strays: Iterable[Item], held: Write) -> None:
    for item in strays:
        is_word = item["Type"] == keys.WORD
        key = keys.primary(item)
        with suppress(NotFound):  # it is gone, or its count is
            writes = (
                search.removing(keys.id_in(item["PK"]), keys.id_in(item["SK"]))
                if is_word
                else (forget(key, because="the deal is checked"),)
            )
            table.transact(held, *writes)


def settle_offer(table: Table, deal: Deal, held: Write, *, has_ended: bool) -> bool:
    """Bring a deal's offer up to date in a transaction with ``held``, the check of the deal. Raises Moved.

    One GetItem if it is; returns whether it wasn't.
    """
    item = offers.to_item(deal, has_ended=has_ended)
    if table.get(keys.primary(item), consistent=True) == item:
        return False
    table.transact(held, put(item, because="the deal is checked"))
    return True


def _settle_words(table: Table, deal: Deal, held: Write, *, is_listed: bool) -> None:
    """Bring a deal's words up to date in transactions with ``held``, the check of the deal. Raises Moved.

    One BatchGetItem if they are.
    """
    items = search.items_of(deal)
    forms, due = search.filed_under(deal), items if is_listed else {}
    known = dict.fromkeys([*items, *words.of_deal_as_written(deal), *words.lists_for(deal.category)])
    asked_for = [keys.word_of_deal(word, deal.deal_id) for word in known]
    there = {keys.id_in(item["PK"]): item for item in table.get_many(asked_for, consistent=True)}
    changes = [
        *(_settling(item, there.get(word), forms[word]) for word, item in due.items()),
        *(search.removing(word, deal.deal_id) for word in there if word not in due),
    ]
    needed = [each for each in changes if each]
    for start in range(0, len(needed), SETTLED_TOGETHER):
        together = needed[start : start + SETTLED_TOGETHER]
        try:
            table.transact(held, *chain.from_iterable(together))
        except (NotFound, Impossible):  # a word's count is missing or damaged
            for of_item, counting in (each for each in together if len(each) > 1):
                with suppress(NotFound):
                    search.counted(table, of_item, counting, held)
            table.transact(held, *chain.from_iterable(each for each in together if len(each) == 1))


def _settling(item: Item, there: Item | None, form: str) -> tuple[Write, ...]:
    """The writes that a word's item needs: none if it is there as it should be, and two if it is missing."""
    if there is None:
        return put_new(item, refused=Moved()), search.counting(keys.id_in(item["PK"]), {form}, 1)
    if search.content(there) == search.content(item):
        return ()
    return (put_over(item, EXISTS, {}, refused=Moved()),)
