"""Write what derives from a deal (words, offer), in the state that the deal has at that moment.

A condition guards only the item that it is in. An upkeep command that has read a deal writes other items a moment
later, and an editor may have changed the deal in between, whose record the stream has already handled. So such a write
is a transaction with a check of the deal; if the deal has changed, all of it is done again from the new state. It is
also safe to kill the command at any time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from shared.data import keys
from shared.data.catalog.deals import DEAL
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from shared.dynamodb.writes import EXISTS, Write, require
from shared.errors import Busy, DealsError

T = TypeVar("T")

_STATE = (*DEAL.names, "GSI1PK")
"""What other items take from a deal. A verdict or a stock level changes without a new version."""


class Moved(DealsError):
    """The deal, or an item derived from it, was written meanwhile."""


def as_read(deal: Item) -> Write:
    """Require that a deal is as it was read, including absent attributes. Refused with Moved. 2 WCU for each KB."""
    numbered = dict(enumerate(_STATE))
    parts = [f"#n{n} = :v{n}" if name in deal else f"attribute_not_exists(#n{n})" for n, name in numbered.items()]
    return require(
        keys.primary(deal),
        " AND ".join((EXISTS, *parts)),
        refused=Moved(),
        names={f"#n{n}": name for n, name in numbered.items()},
        values={f":v{n}": deal[name] for n, name in numbered.items() if name in deal},
    )


def settle(table: Table, deal_id: str, write: Callable[[Item, Write], T]) -> T | None:
    """Have ``write`` derive items from a deal, again if the deal changes meanwhile; returns its result.

    It gets the deal's item and the check to put first in each transaction. None if there is no such deal. Raises Busy.
    """

    def attempt() -> T | None:
        item = table.get(keys.deal(deal_id), consistent=True)
        return None if item is None else write(item, as_read(item))

    return table.retry(attempt, when=Moved, gave_up=Busy(f"Deal {deal_id} is being changed all the time."))
