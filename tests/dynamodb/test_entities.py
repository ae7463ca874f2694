"""The table of an entity's attributes: it reads what it writes, and knows every field."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import UTC, datetime
from enum import StrEnum
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest

from shared.dynamodb.attributes import Codec, Entity
from shared.models import catalog, members, orders
from shared.values.naming import attribute_of, stored

MODELS = [
    model
    for module in (catalog, members, members, orders)
    for model in vars(module).values()
    if is_dataclass(model) and isinstance(model, type) and model.__module__ == module.__name__
]


class Care(StrEnum):
    FRAGILE = "fragile"
    STURDY = "sturdy"


@dataclass(frozen=True, slots=True)
class Parcel:
    parcel_id: str = field(metadata=stored("ParcelId"))
    sent_at: datetime = field(metadata=stored("SentAt", datetime))
    weight: int = field(default=1, metadata=stored("Weight", int))
    care: Care | None = field(default=None, metadata=stored("Care", Care))
    note: str | None = field(default=None, metadata=stored("Note", listed=False, copied=False))
    size: tuple[int, ...] = field(default=(), metadata=stored("Size", tuple))
    tags: tuple[str, ...] = ()


PARCEL = Entity(Parcel, forms={"size": Codec(list, tuple)}, apart=frozenset({"tags"}))
SENT = datetime(2026, 6, 4, 20, 28, 53, tzinfo=UTC)


def test_what_is_written_is_read_again() -> None:
    parcel = Parcel("p1", SENT, 3, Care.FRAGILE, "a vase", (2, 3), tags=("red",))

    item = PARCEL.write(parcel)

    assert item == {
        "ParcelId": "p1",
        "SentAt": "2026-06-04T20:28:53Z",
        "Weight": 3,
        "Care": "fragile",
        "Note": "a vase",
        "Size": [2, 3],
    }
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
    assert PARCEL.listed == ("ParcelId", "SentAt", "Weight", "Care", "Size")
    assert "Note" not in PARCEL.copy(Parcel("p1", SENT, note="fragile"))


def test_a_field_that_is_neither_stored_nor_apart_is_an_error_at_once() -> None:
    with pytest.raises(TypeError, match="each field of Parcel"):
        Entity(Parcel, forms={"size": Codec(list, tuple)})


@pytest.mark.parametrize("model", MODELS)
def test_the_kind_of_an_attribute_is_the_type_of_its_field(model: type) -> None:
    hints = get_type_hints(model)
    stored_fields = [(each, attribute) for each in fields(model) if (attribute := attribute_of(each))]

    for each, attribute in stored_fields:
        kinds = {_plain(hint) for hint in _either(hints[each.name])} - {type(None)}
        assert kinds == {attribute.kind}, each.name


def _either(hint: Any) -> Iterator[Any]:
    """The types that a union is of; a type is a union of one."""
    if get_origin(hint) in (Union, UnionType):
        for part in get_args(hint):
            yield from _either(part)
    else:
        yield hint


def _plain(hint: Any) -> Any:
    """The class of a type's values: of a Literal's, that is str."""
    return str if get_origin(hint) is Literal else get_origin(hint) or hint
