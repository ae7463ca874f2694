"""How many read and write units a request takes, by the rules that AWS documents, and what they cost.

Amazon's answers have it, and so do dynoxide's. MiniStack's do not: they say 0.5 for a read of any size, nothing for a
BatchGetItem, and leave the indexes out of a PartiQL insert. There it is counted from the items that were read or
written, and said to be counted.

https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html (units of reads and writes)
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html (sizes of items)
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html#GSI.ThroughputConsiderations (indexes)
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum
from typing import Any
from urllib.parse import urlsplit

from shared.dynamodb.schema import INDEXES, Index

Wire = Mapping[str, Any]
"""An item, or one attribute's value, as DynamoDB sends it: ``{"Price": {"N": "12"}}``, ``{"N": "12"}``."""

READ_BYTES, WRITE_BYTES = 4096, 1024
"""The bytes that one unit reads or writes: sizes are rounded up to a multiple of them."""

READ_DOLLARS, WRITE_DOLLARS = 0.125, 0.625
"""Dollars for a million units, on demand, in us-east-1 in November 2026: https://aws.amazon.com/dynamodb/pricing/on-demand/"""

TABLE = "table"
"""The name of the table beside those of its indexes."""

_WRITING = {
    "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems",
    "BatchExecuteStatement",  # its statements are inserts: ``Table.insert_batch``
}  # fmt: skip
_AMAZONS = (".amazonaws.com", ".amazonaws.com.cn", ".api.aws")
_INSERTED = re.compile(r"'(\w+)': \?")


class Basis(IntEnum):
    """How a figure is known: from the answer, counted by AWS's rules, or counted where only a part was seen."""

    TOLD = 0
    COUNTED = 1
    AT_LEAST = 2


MARKS = {
    Basis.COUNTED: "~ is counted by AWS's rules from the items, because the local cloud reports no true figure.",
    Basis.AT_LEAST: "≥ is counted, too, and a lower bound: the answer hides a part of the items that are paid for.",
}
"""The meanings of the marks before a figure, each after its mark."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """Consumed capacity, in read and write request units; a sum is known as well as the least known of its parts."""

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
        """Units, and how they are known: ``told``, ``counted`` or ``at_least``."""
        return {"readUnits": self.read, "writeUnits": self.write, "basis": self.basis.name.lower()}

    @property
    def dollars(self) -> float:
        """The cost of a million of it, on demand."""
        return self.read * READ_DOLLARS + self.write * WRITE_DOLLARS


def meanings(figures: Iterable[Capacity | None]) -> list[str]:
    """The meanings of some figures' marks, each once."""
    return [MARKS[basis] for basis in sorted({each.basis for each in figures if each}) if basis in MARKS]


def size_of(item: Wire) -> int:
    """The bytes of an item: its attributes' names and values. 100 bytes more are stored, and neither read nor written.

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
    """The units of a read of so many bytes: of one item, or of all that a Query or Scan went through together.

    One that finds nothing takes the minimum. An eventually consistent read takes half, one in a transaction double.
    """
    return max(1, -(-size // READ_BYTES)) * (2.0 if transactional else 1.0 if consistent else 0.5)


def units_written(before: Wire | None, after: Wire | None, *, transactional: bool = False) -> dict[str, float]:
    """The units of a write, of the table and of each index that it changes; where no item is, its image is None.

    The table takes what the larger of the two takes, and double in a transaction, where a condition check counts as a
    write that changes nothing. An index takes a write for each entry that appears, changes or goes, and two for one
    whose key moves. Its writes are not doubled in a transaction; AWS does not document that, but it was measured:
    https://github.com/nubo-db/dynoxide/pull/188
    """
    steps = max(_steps(before), _steps(after), 1)
    units = {TABLE: steps * (2.0 if transactional else 1.0)}
    for index in INDEXES:
        old, new = _entry(before, index), _entry(after, index)
        if old and new and old != new:
            units[index.name] = _steps(before) + _steps(after)
        elif (old or new) and before != after:
            units[index.name] = max(_steps(before if old else None), _steps(after if new else None))
    return units


def _steps(item: Wire | None) -> float:
    return float(-(-size_of(item) // WRITE_BYTES)) if item else 0.0


def _entry(item: Wire | None, index: Index) -> list[Wire] | None:
    """The key that an item has in an index, or None if it is not in it; what it holds there is all of it."""
    names = [name for name in (index.partition_key, index.sort_key) if name]
    return [item[name] for name in names] if item and all(name in item for name in names) else None


def taken(operation: str, asked: Wire, answer: Wire, endpoint: str) -> dict[str, Capacity] | None:
    """The capacity a request took of the table and of each index, by its arguments and answer; None if unknown."""
    if "Error" in answer:
        return _of_refusal(asked, answer)
    reported = _reported(operation, answer)
    if reported and _is_exact(endpoint, answer):
        return reported
    return _counted(operation, asked, answer) or reported or None


def _is_exact(endpoint: str, answer: Wire) -> bool:
    """Whether the engine reports consumed capacity as DynamoDB does."""
    headers = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {})
    return (urlsplit(endpoint).hostname or "").endswith(_AMAZONS) or "x-dynoxide-version" in headers


def _reported(operation: str, answer: Wire) -> dict[str, Capacity]:
    """The answer's own figures. The table's is what the indexes leave of the whole: MiniStack does not name it."""
    consumed = answer.get("ConsumedCapacity") or []
    reported: dict[str, Capacity] = {}
    for part in consumed if isinstance(consumed, list) else [consumed]:
        indexes = {name: each["CapacityUnits"] for name, each in sorted(part.get("GlobalSecondaryIndexes", {}).items())}
        table = part.get("CapacityUnits", 0.0) - sum(indexes.values())
        # A transaction that is sent again only reads what it did: its units are read units.
        writing = operation in _WRITING and not part.get("ReadCapacityUnits")
        for name, units in {TABLE: table, **indexes}.items():
            reported[name] = reported.get(name, Capacity()) + (
                Capacity(write=units) if writing else Capacity(read=units)
            )
    return reported


def _counted(operation: str, asked: Wire, answer: Wire) -> dict[str, Capacity] | None:
    """The units by the items of an answer or a request; None where they do not show it."""
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
    """A write whose condition is not met is charged for the item that is there, one unit at least.

    An invalid request costs nothing. None where a refusal for another reason may have cost something.

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
    """Items that are read one by one: each is rounded up."""
    consistent = asked.get("ConsistentRead", False)
    units = sum(units_read(size_of(item), consistent=consistent) for item in items)
    return Capacity(units, basis=_basis("ProjectionExpression" in asked))


def _of_inserts(asked: Wire, answer: Wire) -> dict[str, Capacity]:
    """Inserts by PartiQL; one that is refused takes what the item takes that is there, which is not seen."""
    counted: dict[str, Capacity] = {}
    for item, response in zip(inserts(asked), answer["Responses"], strict=True):
        refused = "Error" in response
        for name, units in ({TABLE: 1.0} if refused else units_written(None, item)).items():
            counted[name] = counted.get(name, Capacity()) + Capacity(write=units, basis=_basis(refused))
    return counted


def inserts(asked: Wire) -> Iterator[Wire]:
    """The items of a request's inserts; its other statements have no parameters for attributes."""
    for statement in asked.get("Statements", ()):
        yield dict(zip(_INSERTED.findall(statement["Statement"]), statement.get("Parameters", ()), strict=True))


def _basis(unseen: bool) -> Basis:
    return Basis.AT_LEAST if unseen else Basis.COUNTED
