"""The read and write units that a request consumes, by AWS's documented rules, and their cost.

DynamoDB and dynoxide report consumed capacity. MiniStack reports 0.5 for a read of any size, nothing for a
BatchGetItem, and no indexes for a PartiQL insert; for it, the units are counted from the items read or written, and
marked as counted.

https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html (units of reads and writes)
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html (sizes of items)
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html#GSI.ThroughputConsiderations (indexes)
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum
from typing import Any
from urllib.parse import urlsplit

from shared.dynamodb.schema import INDEXES, PARTITION_KEY, SORT_KEY, Index
from shared.values.prices import READ, WRITE

Wire = Mapping[str, Any]
"""An item or an attribute value in DynamoDB's form: ``{"Price": {"N": "12"}}``, ``{"N": "12"}``."""

READ_BYTES, WRITE_BYTES = 4096, 1024
"""The bytes of one unit; sizes are rounded up to a multiple of them."""

TABLE = "table"
"""The table's name next to those of its indexes."""

_WRITING = {
    "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems",
    "BatchExecuteStatement",  # its statements are inserts: ``Table.insert_batch``
}  # fmt: skip
_AMAZONS = (".amazonaws.com", ".amazonaws.com.cn", ".api.aws")
_INSERTED = re.compile(r"'(\w+)': \?")


class Basis(IntEnum):
    """How a figure is known: reported, counted by AWS's rules, or counted from only a part."""

    TOLD = 0
    COUNTED = 1
    AT_LEAST = 2


MARKS = {
    Basis.COUNTED: "~ is counted by AWS's rules from the items, because the local cloud reports no true figure.",
    Basis.AT_LEAST: "≥ is counted, too, and a lower bound: the answer hides a part of the items that are paid for.",
}
"""The meaning of each mark before a figure."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """Consumed capacity in read and write request units. A sum has the weakest basis of its parts."""

    read: float = 0.0
    write: float = 0.0
    basis: Basis = Basis.TOLD

    def __add__(self, other: Capacity) -> Capacity:
        return Capacity(self.read + other.read, self.write + other.write, max(self.basis, other.basis))

    def __str__(self) -> str:
        amounts = ((self.read, "RRU"), (self.write, "WRU"))
        parts = [f"{amount:,.1f}".removesuffix(".0") + f" {unit}" for amount, unit in amounts if amount]
        return MARKS.get(self.basis, "")[:1] + (" + ".join(parts) or "0")

    def to_json(self) -> dict[str, Any]:
        """The units and their basis: ``told``, ``counted`` or ``at_least``."""
        return {"readUnits": self.read, "writeUnits": self.write, "basis": self.basis.name.lower()}

    @property
    def dollars(self) -> float:
        """The cost of a million such requests, on demand."""
        return self.read * READ.dollars + self.write * WRITE.dollars


def meanings(figures: Iterable[Capacity | None]) -> list[str]:
    """The distinct meanings of the figures' marks."""
    return [MARKS[basis] for basis in sorted({each.basis for each in figures if each}) if basis in MARKS]


def size_of(item: Wire) -> int:
    """An item's bytes: its attributes' names and values. Storage takes 100 more, which reads and writes don't count.

    AWS calls the size of a number approximate; a negative one takes a byte more here, as in the engines of the tests.
    """
    return sum(len(name.encode()) + _value_size(value) for name, value in item.items())


def _value_size(value: Wire) -> int:
    ((kind, content),) = value.items()
    match kind:
        case "S":
            return len(content.encode())
        case "N":
            sign, digits, _ = Decimal(content).as_tuple()
            return 1 + sign + -(-len("".join(map(str, digits)).strip("0")) // 2)
        case "B":  # base64 in answers, bytes in requests
            return len(content if isinstance(content, bytes) else base64.b64decode(content))
        case "M":
            return 3 + size_of(content) + len(content)
        case "L":
            return 3 + sum(_value_size(element) + 1 for element in content)
        case "SS" | "NS" | "BS":
            return sum(_value_size({kind[0]: element}) for element in content)
    return 1  # NULL and BOOL


def units_read(size: int, *, consistent: bool = False, transactional: bool = False) -> float:
    """The units of a read of ``size`` bytes: of one item, or of all items that a Query or Scan examined.

    The minimum applies if nothing is found. An eventually consistent read takes half, a transactional one double.
    """
    return max(1, -(-size // READ_BYTES)) * (2.0 if transactional else 1.0 if consistent else 0.5)


def units_written(
    before: Wire | None, after: Wire | None, *, transactional: bool = False, indexes: Sequence[Index] = INDEXES
) -> dict[str, float]:
    """The units of a write, for the table and for each index that it changes; an absent item is None.

    The table takes the units of the larger image, double in a transaction, in which a condition check counts as a write
    without a change. An index takes a write for each entry that is added, changed or removed, and two if its key moves.
    Index writes aren't doubled in a transaction: AWS doesn't document that, but it was measured:
    https://github.com/nubo-db/dynoxide/pull/188
    """
    steps = max(_steps(before), _steps(after), 1)
    units = {TABLE: steps * (2.0 if transactional else 1.0)}
    for index in indexes:
        old, new = _entry(before, index), _entry(after, index)
        if old and new and any(old[name] != new[name] for name in _keys(index)):
            units[index.name] = _steps(old) + _steps(new)
        elif old != new:
            units[index.name] = max(_steps(old), _steps(new))
    return units


def _steps(item: Wire | None) -> float:
    return float(-(-size_of(item) // WRITE_BYTES)) if item else 0.0


def _keys(index: Index) -> list[str]:
    return [name for name in (index.partition_key, index.sort_key) if name]


def _entry(item: Wire | None, index: Index) -> Wire | None:
    """The item's entry in an index, or None if it has none."""
    if not item or any(name not in item for name in _keys(index)):
        return None
    copied = {PARTITION_KEY, SORT_KEY, *_keys(index), *(index.copies or ())}
    return item if index.copies is None else {name: value for name, value in item.items() if name in copied}


Count = Callable[[str, Wire, Wire], "dict[str, Capacity] | None"]
"""Counts the units of an operation, given the request and its answer; None leaves it to AWS's rules."""

_COUNTS: list[Count] = []


@contextmanager
def counted_by(count: Count) -> Iterator[None]:
    """Count units by another function, for an engine that reports wrong ones, such as the demo's."""
    _COUNTS.append(count)
    try:
        yield
    finally:
        _COUNTS.remove(count)


def taken(operation: str, asked: Wire, answer: Wire, endpoint: str) -> dict[str, Capacity] | None:
    """The capacity that a request consumed in the table and in each index; None if unknown."""
    if "Error" in answer:
        return _of_refusal(asked, answer)
    reported = _reported(operation, answer)
    if reported and not _COUNTS and _is_exact(endpoint, answer):
        return reported
    found = next((found for count in _COUNTS if (found := count(operation, asked, answer)) is not None), None)
    return found or _counted(operation, asked, answer) or reported or None


def _is_exact(endpoint: str, answer: Wire) -> bool:
    """Whether the engine reports consumed capacity as DynamoDB does."""
    headers = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {})
    return (urlsplit(endpoint).hostname or "").endswith(_AMAZONS) or "x-dynoxide-version" in headers


def _reported(operation: str, answer: Wire) -> dict[str, Capacity]:
    """The reported units. The table's are the total without the indexes', since MiniStack doesn't name them."""
    consumed = answer.get("ConsumedCapacity") or []
    reported: dict[str, Capacity] = {}
    for part in consumed if isinstance(consumed, list) else [consumed]:
        indexes = {name: each["CapacityUnits"] for name, each in sorted(part.get("GlobalSecondaryIndexes", {}).items())}
        table = part.get("CapacityUnits", 0.0) - sum(indexes.values())
        # A repeated transaction only reads what the first attempt did, so its units are read units.
        writing = operation in _WRITING and not part.get("ReadCapacityUnits")
        for name, units in {TABLE: table, **indexes}.items():
            reported[name] = reported.get(name, Capacity()) + (
                Capacity(write=units) if writing else Capacity(read=units)
            )
    return reported


def _counted(operation: str, asked: Wire, answer: Wire) -> dict[str, Capacity] | None:
    """The units by the items in an answer or request; None if those don't show them."""
    match operation:
        case "GetItem":
            return {TABLE: _of_each([answer.get("Item") or {}], asked)}
        case "Query" | "Scan":
            whole = sum(map(size_of, answer.get("Items", ())))
            units = units_read(whole, consistent=asked.get("ConsistentRead", False))
            unseen = "ProjectionExpression" in asked or answer.get("ScannedCount", 0) > len(answer.get("Items", ()))
            return {asked.get("IndexName") or TABLE: Capacity(units, basis=_basis(unseen))}
        case "BatchGetItem":
            ((name, wanted),) = asked["RequestItems"].items()
            left = answer.get("UnprocessedKeys", {}).get(name, {}).get("Keys", ())
            found = answer["Responses"].get(name, [])
            absent = len(wanted["Keys"]) - len(left) - len(found)
            return {TABLE: _of_each([*found, *[{}] * absent], wanted)}
        case "TransactGetItems":
            found = [each.get("Item", {}) for each in answer["Responses"]]
            unseen = any("ProjectionExpression" in each["Get"] for each in asked["TransactItems"])
            units = sum(units_read(size_of(item), transactional=True) for item in found)
            return {TABLE: Capacity(units, basis=_basis(unseen))}
        case "BatchExecuteStatement":
            return _of_inserts(asked, answer)
    return None


def _of_refusal(asked: Wire, answer: Wire) -> dict[str, Capacity] | None:
    """The units of a write whose condition failed: those of the existing item, at least one. An invalid request costs
    nothing.

    None if a refusal for another reason may have cost something. AWS's page on units (above) says that a larger new
    item counts, this one that it doesn't:
    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/WorkingWithItems.html#WorkingWithItems.ConditionalUpdate
    """
    match answer["Error"]["Code"]:
        case "ValidationException":
            return {TABLE: Capacity()}
        case "ConditionalCheckFailedException":
            found = answer.get("Item")
            return {TABLE: Capacity(write=max(_steps(found), 1.0), basis=_basis(not found))}
        case "TransactionCanceledException":
            reasons = {reason.get("Code") for reason in answer.get("CancellationReasons", ())}
            if reasons <= {"None", "ConditionalCheckFailed"}:
                return {TABLE: Capacity(write=2.0 * len(asked["TransactItems"]), basis=Basis.AT_LEAST)}
    return None


def _of_each(items: Iterable[Wire], asked: Wire) -> Capacity:
    """The units of items that are read one by one, each rounded up."""
    consistent = asked.get("ConsistentRead", False)
    units = sum(units_read(size_of(item), consistent=consistent) for item in items)
    return Capacity(units, basis=_basis("ProjectionExpression" in asked))


def _of_inserts(asked: Wire, answer: Wire) -> dict[str, Capacity]:
    """The units of PartiQL inserts. A refused one consumes the existing item's units, which the answer doesn't show."""
    counted: dict[str, Capacity] = {}
    for item, response in zip(inserts(asked), answer["Responses"], strict=True):
        refused = "Error" in response
        for name, units in ({TABLE: 1.0} if refused else units_written(None, item)).items():
            counted[name] = counted.get(name, Capacity()) + Capacity(write=units, basis=_basis(refused))
    return counted


def inserts(asked: Wire) -> Iterator[Wire]:
    """The items of a request's insert statements; its other statements have no attribute parameters."""
    for statement in asked.get("Statements", ()):
        yield dict(zip(_INSERTED.findall(statement["Statement"]), statement.get("Parameters", ()), strict=True))


def _basis(unseen: bool) -> Basis:
    return Basis.AT_LEAST if unseen else Basis.COUNTED
