"""The shop's errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shared.errors import Conflict, Invalid, NotFound, StillNeeded


class UnknownAddress(NotFound):
    field = "address"
    text = "You have no address {!r}."


class NoSuchOrder(NotFound):
    plain = "There is no such order."
    text = "There is no order {!r}."


class NotSoldHere(Conflict):
    plain = "This deal is not sold here: go to its shop."
    text = "The deal {!r} is not sold here: go to its shop."


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why one item cannot be ordered: the item's place from 0, the field at fault, the reason in words.

    ``left`` is how many pieces are left where they are too few, ``price`` and ``currency`` today's where it has risen
    or is in another currency.
    """

    place: int
    deal_id: str
    field: str
    detail: str
    left: int | None = None
    price: str | None = None
    currency: str | None = None


class CannotOrder(Conflict):
    """Some items cannot be ordered as asked for. Nothing was ordered."""

    def __init__(self, obstacles: Sequence[Obstacle]) -> None:
        self.obstacles = tuple(obstacles)
        self.errors = {f"items.{each.place}.{each.field}": each.detail for each in obstacles}
        super().__init__(f"Nothing was ordered. {' '.join(obstacle.detail for obstacle in obstacles)}")


class AmountChanged(Conflict):
    """An order would come to something else than its buyer saw."""

    field = "totals"

    def __init__(self, totals: Mapping[str, str], as_read: str) -> None:
        self.totals = totals
        super().__init__(f"Nothing was ordered: the total is now {as_read}. Check it and order again.")


class AddressChanged(Conflict):
    field = "address"
    text = "Nothing was ordered: the address {!r} has changed. Check it again."


class WrongStep(Conflict):
    field = "status"

    def __init__(self, order_id: str, status: str, wanted: str) -> None:
        self.status = status
        super().__init__(f"The order {order_id!r} is {status}: it cannot become {wanted}.")


class OrdersRemain(StillNeeded):
    text = "An order of yours is still to be sent. Cancel it, or wait until it is sent."


class NotThatMany(Conflict):
    field = "add"

    def __init__(self, left: int, most: int) -> None:
        super().__init__(f"{left:,} are on sale: at most {left:,} can be taken off, and {most - left:,} added.")


class CartChanged(Conflict):
    text = "Nothing was ordered: the cart has changed, or was already ordered. Check it again."


class CartIsFull(Conflict):
    text = "A cart holds at most {} deals."


class TooManyAddresses(Invalid):
    field = "address"
    text = "You cannot have more than {} addresses: replace or remove one."
