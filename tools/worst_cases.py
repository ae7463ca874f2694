"""What someone who takes a function over could do with the table at worst, by its role: SECURITY.md's table.

It follows from the rows of rights (``infra/rights.py``) and of item types (``shared/data/entities.py``). A function
that reads the table's stream sees every attribute of every item: a filter of Lambda's withholds no right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from infra.functions import FUNCTIONS
from infra.rights import Right, Scan
from infra.rows import Function
from shared import features, hooks
from shared.data import keys, partitions
from shared.data.entities import ROWS
from shared.data.entity import Entity
from shared.dynamodb.schema import PARTITION_KEY, SORT_KEY
from shared.models.catalog import BRAND, CATEGORY

_READS = ("GetItem", "BatchGetItem", "Query", "Scan")
_MAKES = ("PutItem", "PartiQLInsert", "BatchWriteItem")
_REMOVES = ("PutItem", "DeleteItem", "BatchWriteItem")

TAKES_OVER = "sign in as anyone"

WORST: Mapping[str, str] = {
    f"{keys.PASSWORD}.PasswordHash": TAKES_OVER,
    f"{keys.SESSION}.Generation": TAKES_OVER,
    f"{keys.USER}.Email": TAKES_OVER,  # and have a link mailed there
    f"{keys.USER_EMAIL}.Username": TAKES_OVER,
    f"{keys.USER}.Role": "make editors",
    keys.USER: "destroy any account",
    f"{keys.DEAL}.Price": "change any deal",
    f"{keys.DEAL}.Link": "change any deal's link",
    f"{keys.CURATED[0]}.Featured": "change the picks",
    f"{keys.CATEGORY_FEATURED}.Featured": "change the picks",
    f"{keys.DEALS_CACHE}.Body": "change what pages show",
    f"{keys.WORD}.Type": "change what search finds",
    f"{keys.LOG_LINE}.Type": "add to logs of deals",
    f"{keys.TOPIC[CATEGORY]}.Name": "rename categories",
    f"{keys.WATCH[BRAND]}.Type": "watch for anyone",
    f"{keys.PRICE_ALERT}.Type": "set anyone's alerts",
    f"{keys.MESSAGE}.Subject": "write to any member",
}
"""What follows from a right to write an attribute or, for a type alone, to remove items of the type."""


def _rows() -> dict[str, list[Entity]]:
    """The rows of the item types, by type."""
    found: dict[str, list[Entity]] = {}
    for row in ROWS:
        found.setdefault(row.type, []).append(row)
    return found


def _covers(right: Right | Scan, row: Entity) -> bool:
    """Whether a right covers a partition of a type's items."""
    if isinstance(right, Scan):
        return any(place.index == right.index for place in (row.own, *row.places))
    places = [keys.pattern_of(each.partition) for each in (row.own, *row.places) if each.index == right.index]
    return any(
        partitions.matches(each.replace("*", "x"), right.partitions)
        or any(partitions.matches(part.replace("*", "x"), [each]) for part in right.partitions)
        for each in places
    )


def _names(right: Right | Scan, attribute: str) -> bool:
    """Whether a right covers an attribute."""
    return not right.attributes or attribute in (*right.attributes, PARTITION_KEY, SORT_KEY)


def sees(function: Function, type_: str, attribute: str) -> str:
    """How a function may see an attribute of a type's items: by ``reading``, in the ``stream``, by a ``refused write``,
    or not at all (an empty text)."""
    covering = [right for right in function.access for row in _rows()[type_] if _covers(right, row)]
    if any(right.operation in _READS and _names(right, attribute) for right in covering):
        return "reading"
    if function.reads is not None:
        return "stream"
    # A write or a check may ask for the item that refuses it (docs/ledger.md, items-returned-by-a-refused-write).
    return "refused write" if any(right.operation not in _READS for right in covering) else ""


def writes(function: Function, type_: str, attribute: str) -> bool:
    """Whether a function may write an attribute of a type's items."""
    return any(
        right.operation in (*_MAKES, "UpdateItem") and _names(right, attribute) and right.index is None
        for right in function.access
        for row in _rows()[type_]
        if _covers(right, row)
    )


def _removes(function: Function, type_: str) -> bool:
    """Whether a function may remove a type's items, or replace them."""
    rows = _rows()[type_]
    return any(right.operation in _REMOVES and _covers(right, row) for right in function.access for row in rows)


def worst(function: Function) -> tuple[str, ...]:
    """What someone who has a function's role could do at worst."""
    found = []
    for what, says in features.merged(hooks.Rights, lambda each: each.WORST, WORST).items():
        type_, _, attribute = what.partition(".")
        if writes(function, type_, attribute) if attribute else _removes(function, type_):
            found.append(says)
    return tuple(dict.fromkeys(found))


def private() -> Iterator[tuple[str, str]]:
    """What is private: item types with an attribute each, or with their key."""
    for type_, rows in _rows().items():
        hidden = dict.fromkeys(name for row in rows for name in row.hides)
        if type_ == keys.PASSWORD:
            yield type_, "PasswordHash"
        elif hidden:
            yield from ((type_, name) for name in hidden)
        elif any(row.own.because for row in rows):
            yield type_, PARTITION_KEY
        elif any(row.owned for row in rows):
            yield type_, next((name for row in rows for name in row.required if name != "Username"), PARTITION_KEY)


def _seen(function: Function) -> str:
    """A cell: the private types, or their attributes, that a function may see."""
    if function.reads is not None:
        return "every item written in the last 24 hours, in the stream"
    found: dict[tuple[str, str], list[str]] = {}
    for type_, attribute in private():
        if how := sees(function, type_, attribute):
            hidden = [name for row in _rows()[type_] for name in row.hides]
            found.setdefault((type_, how), []).extend([attribute] if attribute in hidden else [])
    cells = []
    for (type_, how), names in found.items():
        whole = len(names) == len({name for row in _rows()[type_] for name in row.hides})
        part = "" if whole else f" ({', '.join(names)})"
        cells.append(f"{type_}{part}{'' if how == 'reading' else '†'}")
    return ", ".join(cells) or "nothing"


def table() -> str:
    """SECURITY.md's table: a row for each function."""
    rows = [
        f"| `{each.name}` | {', '.join(worst(each)) or 'nothing of these'} | {_seen(each)} |\n" for each in FUNCTIONS
    ]
    return "".join(["| Function | Could at worst | Could see of people |\n|---|---|---|\n", *rows])
