"""The table of an entity's attributes: it reads what it writes, and knows every field."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from shared.dynamodb.entities import Entity, Form
from shared.models import catalog, members, messages, orders
from shared.values.stored import attribute_of, stored

MODELS = [
    model
    for module in (catalog, members, messages, orders)
    for model in vars(module).values()
    if is_dataclass(model) and isinstance(model, type) and model.__module__ == module.__name__
]


class Care(StrEnum):
    FRAGILE = "fragile"
    STURDY = "sturdy"


@dataclass(frozen=True, slots=True)
class Parcel:
    parcel_id: str
    sent_at: datetime
    weight: int = 1
    note: str | None = None
    tags: tuple[str, ...] = ()


PARCEL = Entity(
    Parcel,
    Attribute("parcel_id", "ParcelId"),
    Attribute("sent_at", "SentAt", TIME),
    Attribute("weight", "Weight", kind=int),
    Attribute("note", "Note", listed=False, copied=False),
    apart=frozenset({"tags"}),
)
SENT = datetime(2026, 6, 4, 20, 28, 53, tzinfo=UTC)


def test_what_is_written_is_read_again() -> None:
    parcel = Parcel("p1", SENT, 3, "fragile", ("red",))

    item = PARCEL.write(parcel)

    assert item == {"ParcelId": "p1", "SentAt": "2026-06-04T20:28:53Z", "Weight": 3, "Note": "fragile"}
    assert PARCEL.read(item, tags=("red",)) == parcel


def test_what_an_item_does_not_hold_is_the_fields_default() -> None:
    parcel = PARCEL.read({"ParcelId": "p1", "SentAt": "2026-06-04T20:28:53Z"})

    assert parcel == Parcel("p1", SENT)


@pytest.mark.parametrize("missing", ["ParcelId", "SentAt"])
def test_an_item_without_a_required_attribute_is_none(missing: str) -> None:
    item = PARCEL.write(Parcel("p1", SENT))
    del item[missing]

    with pytest.raises(KeyError):
        PARCEL.read(item)


def test_lists_and_copies_leave_out_what_its_row_says() -> None:
    assert PARCEL.listed == ("ParcelId", "SentAt", "Weight")
    assert "Note" not in PARCEL.copy(Parcel("p1", SENT, note="fragile"))


def test_a_field_without_an_attribute_is_an_error_at_once() -> None:
    with pytest.raises(TypeError, match="each field of Parcel"):
        Entity(Parcel, Attribute("parcel_id", "ParcelId"))
