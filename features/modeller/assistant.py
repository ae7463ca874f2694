"""``btd mcp``: tools with which an assistant that designs tables gets figures that were computed.

It speaks the Model Context Protocol on its standard input and output, by the protocol's own SDK, which an environment
of its own has (``make mcp``): https://modelcontextprotocol.io
"""

from __future__ import annotations

import json
import site
from decimal import Decimal
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

import typer

from cli.output import complain
from features.modeller import findings, parsing
from features.modeller.evaluation import SIZES, evaluated
from features.scratch import grammar, running
from features.workings.patterns import PATTERNS
from shared import features, hooks
from shared.dynamodb.attributes import marshal_item
from shared.dynamodb.capacity import TABLE, Capacity, size_of, units_read, units_written

OWN = Path(__file__).parents[2] / ".venv-mcp"
RANKS = ("breaks", "overpays", "worth a look")
Json = dict[str, Any]


def patterns() -> list[Json]:
    """The access patterns of this project's own table: number, name, and how one request answers each."""
    return [{"number": number, "name": each.name, "answer": each.sentence} for number, each in PATTERNS.items()]


def explain(request: Json, items: list[Json] | None = None) -> Json:
    """The units that a DynamoDB request takes, and why, by AWS's rules; or the message with which AWS refuses it.

    ``request`` is one operation with its arguments and plain values: {"Query": {"KeyConditionExpression": ...}}.
    ``items`` are those that a read examines, or the item before a write; for an UpdateItem, the item after it follows.
    Keys are PK and SK, and GSI1PK and GSI1SK of the index GSI1.
    """
    try:
        return _explained(*json.loads(json.dumps([request, items or []]), parse_float=Decimal))
    except (ArithmeticError, AttributeError, KeyError, RecursionError, TypeError, ValueError):
        return {"refused": "Write a request as boto3's Table takes it, with numbers and texts that DynamoDB can hold."}


def _explained(request: Json, items: list[Json]) -> Json:
    if len(request) != 1:
        return {"refused": 'Write one operation and its arguments: {"Query": {...}}.'}
    ((operation, arguments),) = request.items()
    if why := grammar.refusal(operation, arguments):
        return {"refused": why}
    images = [marshal_item(each) for each in items]
    sizes = [size_of(each) for each in images]
    if operation in {*running.READS, "Scan"}:
        consistent = bool(arguments.get("ConsistentRead"))
        one_by_one = [sum(sizes)] if operation in ("Query", "Scan") else sizes
        options: Json = {"consistent": consistent, "transactional": operation == "TransactGetItems"}
        capacity = Capacity(sum(units_read(size, **options) for size in one_by_one or [0]))
        half = "" if consistent else ", half of one where the read is eventually consistent"
        why = f"{sum(sizes):,} bytes are read. Each 4 KB begun is a unit{half}."
        return {"units": str(capacity), "dollars_a_million": capacity.dollars, "why": why}
    if operation not in ("PutItem", "UpdateItem", "DeleteItem"):
        return {"refused": f"explain knows reads and writes of one item, and not {operation}."}
    if operation == "UpdateItem" and not images:
        return {"refused": "Give the item before an UpdateItem, if there is one, and the item after it."}
    after = marshal_item(arguments["Item"]) if operation == "PutItem" else None
    if operation == "UpdateItem":
        after = images.pop()
    before = images[0] if images else None
    written = units_written(before, after)
    capacity = Capacity(write=sum(written.values()))
    larger = max(size_of(each) for each in (before or {}, after or {}))
    indexes = ", ".join(f"{name} {units:g}" for name, units in written.items() if name != TABLE)
    why = f"The larger image has {larger:,} bytes; each 1 KB begun is a unit. Indexes: {indexes or 'none'}."
    return {"units": str(capacity), "dollars_a_million": capacity.dollars, "why": why}


def evaluate_model(model: Json) -> Json:
    """What a table's design costs a month and where it breaks: the modeller's JSON in (features/modeller/README.md).

    Findings are ranked, each with its arithmetic, its change, and the dollars that the change saves alone.
    """
    found = parsing.read(model)
    now, listed = evaluated(found.model), findings.of(found.model)
    tried = findings.tried(found.model, [each.key for each in listed if each.rank != findings.LOOK])
    return {
        "faults": found.faults,
        "month": {mode: now.now.total(at) for at, mode in enumerate(("on_demand", "provisioned", "for_the_peak"))},
        "parts": {part: now.now.priced(part)[0] for part in now.now.PARTS},
        "at_items": {f"{n:,.0f}": now.bill(n).total() for n in SIZES},
        "findings": [
            {"rank": RANKS[each.rank], "finding": each.title, "why": each.text, "was": each.mend.was,
             "becomes": each.mend.becomes, "saves": each.saving if each.mend.way else None, "note": each.note}
            for each in listed
        ],
        "after_all_changes": evaluated(tried).now.total(),
        "patterns": [
            {"name": each.name, "dollars": round(now.dollars(each), 2)}
            | ({"units": now.read(each, found.model.size).units} if each.reads
               else {"units": sum(now.written(each).values())})
            for each in found.model.patterns
        ],
    }  # fmt: skip


def server() -> Any:
    """The server with its tools. Raises ImportError without the SDK."""
    if OWN.exists():
        for folder in OWN.glob("lib/python*/site-packages"):
            site.addsitedir(str(folder))
    made = import_module("mcp.server").MCPServer("big-time-deals")
    for tool in chain.from_iterable(each.TOOLS for each in features.roles(hooks.Commands)):
        made.tool()(tool)
    return made


def mcp() -> None:
    """Serve an assistant's tools on standard input and output (Model Context Protocol). Run make mcp
    once before."""
    try:
        made = server()
    except ImportError as error:
        complain("The protocol's SDK is missing: run make mcp.")
        raise typer.Exit(2) from error
    made.run("stdio")
