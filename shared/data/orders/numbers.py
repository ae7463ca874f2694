"""The short numbers of orders, which people can say: drawn from one sequence, a block at a time.

The sequence is one item, which takes 1,000 writes a second
(https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html): with ten numbers to a
write it bears 10,000 orders a second. What is left of a block when its environment ends is never used. So each number
is one order's own, but they have gaps, and are not in the order of placing.
"""

from __future__ import annotations

from threading import Lock

from shared.data import item_types, keys
from shared.dynamodb import damage
from shared.dynamodb.table import Projection, Table
from shared.dynamodb.writes import Write, put_new, update
from shared.errors import AlreadyExists, NoSuchOrder
from shared.values import identifiers

BLOCK = 10
BEFORE_FIRST = 10_000
"""The number before the first one: from then on, numbers have five digits."""

_POINTER = Projection.of("PK", "SK", "OrderId")


class Numbers:
    """The numbers that this process has drawn and not given out yet, by table."""

    def __init__(self) -> None:
        self._left: dict[str, list[int]] = {}
        self._lock = Lock()

    def next(self, table: Table) -> int:
        """A number that no order has. One UpdateItem for a block of them."""
        drawing = update(
            keys.order_numbers(),
            "SET #type = :type, LastNumber = if_not_exists(LastNumber, :before) + :block",
            condition=None,  # the first order of all makes the sequence
            names={"#type": "Type"},
            values={":type": item_types.SEQUENCE, ":before": BEFORE_FIRST, ":block": BLOCK},
            refused=None,
        )
        with self._lock:
            left = self._left.setdefault(table.name, [])
            if not left:
                last = int(table.write(drawing, returning="UPDATED_NEW")["LastNumber"])
                left += range(last, last - BLOCK, -1)
            return left.pop()


NUMBERS = Numbers()


def pointer(number: int, order_id: str) -> Write:
    """The write that makes an order known by its number, for the transaction that places it."""
    item = {**keys.order_number(number), "Type": item_types.ORDER_NUMBER, "Number": number, "OrderId": order_id}
    return put_new(item, refused=AlreadyExists())


def order_id_of(table: Table, id_or_number: str) -> str:
    """The id of an order, of which the id or the number is given. One GetItem by number. Raises NoSuchOrder."""
    if identifiers.is_ksuid(id_or_number):
        return id_or_number
    number = identifiers.read_order_number(id_or_number)
    found = None if number is None else table.get(keys.order_number(number), consistent=True, projection=_POINTER)
    if found is None:
        raise NoSuchOrder(id_or_number)
    return damage.read(found, lambda item: damage.attribute(item, "OrderId", str))
