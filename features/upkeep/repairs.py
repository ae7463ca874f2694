"""Repair what a survey has found. What follows from other items can be repaired; a lost item's own data needs a person.

An item is repaired only if it is still in the state in which it was found.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from itertools import chain

from features.upkeep import settling
from features.upkeep.keys import BACKFILL, backfill
from features.upkeep.survey import FROM, OF_DEALS
from shared import features, hooks
from shared.data import keys
from shared.data.catalog import offers
from shared.data.catalog.deals import readable
from shared.data.invariants import DAMAGE, OFFERS, VERDICTS, Fault
from shared.dynamodb import damage
from shared.dynamodb.table import Table
from shared.dynamodb.writes import Write, change, delete_as, put, put_new, require
from shared.errors import DealsError
from shared.values.times import to_iso


class _Changed(DealsError):
    """The item was written meanwhile."""


class Overtaken(DealsError):
    """A later repair has begun."""


@contextmanager
def repairing(table: Table, run: str, now: datetime) -> Iterator[Write]:
    """Have every repair that began earlier stop. Begin before the first scan; ``mend_group`` needs what this yields.

    A count is repaired if it is as it was found, because only a repair changes how far it is off. If there were two,
    one could right a count, which then rises to what the other found. A killed repair holds up nothing.
    """
    item = {**backfill("Repair", 1, 0), "Type": BACKFILL, "Start": run, "BeganAt": to_iso(now)}
    table.write(put(item, because="the repair that began last goes on"))
    stopped = Overtaken("Another repair has begun, so this one has stopped. What it has repaired stays.")
    is_last = {"names": {"#start": "Start"}, "values": {":run": run}}
    try:
        yield require(keys.primary(item), "#start = :run", refused=stopped, **is_last)
    finally:
        with suppress(Overtaken):
            table.write(delete_as(item, refused=stopped))


def mend(table: Table, fault: Fault) -> bool:
    """Repair an item; returns False if it has changed since the check, or can't be derived."""
    return mend_group(table, [fault])


def groups(faults: Iterable[Fault]) -> list[list[list[Fault]]]:
    """Faults in the order of their repair: what comes later relies on what came before; groups are independent.

    Counts come first: they count what is there, and are right while words and offers come and go. Items of one deal are
    repaired together, then verdicts, which compare offers.
    """
    alone: list[list[Fault]] = []
    of_deals = defaultdict[str, list[Fault]](list)
    verdicts: list[list[Fault]] = []
    for fault in faults:
        if fault.rule in OF_DEALS:
            of_deals[keys.id_in(fault.key["SK"])].append(fault)
        else:
            (verdicts if fault.rule == VERDICTS else alone).append([fault])
    return [alone, list(of_deals.values()), verdicts]


def mend_group(table: Table, group: Sequence[Fault], *held: Write) -> bool:
    """Repair one of the ``groups``; returns False if its item has changed since the check, or can't be derived.

    What derives from a deal is written as the deal is by now. A count or an index place is repaired only if its item is
    as it was found: what it counts changes only together with it. ``held`` is what ``repairing`` requires. Raises
    Overtaken.
    """
    (fault, *_) = group
    if not fault.derived:
        return False
    if fault.rule in OF_DEALS or fault.rule == VERDICTS:
        return _settle(table, group)
    if fault.found is None:
        write = put_new(fault.due or {}, refused=_Changed())
    elif fault.due is None:
        write = delete_as(fault.found, refused=_Changed())
    else:
        write = change(fault.found, fault.due, version=None, refused=_Changed())
    with suppress(_Changed):
        table.transact(*held, write)
        return True
    return False


def _settle(table: Table, group: Sequence[Fault]) -> bool:
    """Write what derives from one deal, and if its offer or verdict was wrong, the verdicts of its product."""
    strays = [fault.found for fault in group if fault.found is not None and fault.due is None]
    with suppress(*damage.UNREADABLE):
        deal = settling.settle(table, keys.id_in(group[0].key["SK"]), strays)
        compared = readable(each for each in strays if each["Type"] == keys.PRODUCT_OFFER)
        if deal is not None and any(fault.rule in (OFFERS, VERDICTS) for fault in group):
            compared.append(deal)
        for offer in compared:
            for deal_id in offers.follow(table, offer):
                settling.settle(table, deal_id)
        return True
    return False


def unknown(faults: Iterable[Fault]) -> list[Fault]:
    """The faults whose repair depends on an item that can't be read: what it says may be right."""
    known = list(faults)
    damaged = [fault.found or {} for fault in known if fault.rule == DAMAGE]
    types = {item.get("Type") for item in damaged}
    own = {str(item["PK"]) for item in damaged}
    of_features = (each.CHECK.FROM for each in features.roles(hooks.Invariants))
    of_rules = list(chain.from_iterable(each.items() for each in (FROM, *of_features)))

    def is_unknown(fault: Fault) -> bool:
        if fault.rule in OF_DEALS:  # it is derived from one deal, and is to be deleted if that isn't seen
            return fault.due is None and keys.deal((fault.found or {})["DealId"])["PK"] in own
        return any(rule == fault.rule and not types.isdisjoint(needed) for rule, needed in of_rules)

    return [fault for fault in known if fault.derived and is_unknown(fault)]
