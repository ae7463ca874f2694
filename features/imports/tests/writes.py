"""Imports of deals, for ``tests/interleave``."""

from __future__ import annotations

import json
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any

from features.imports.importing import Importer
from shared.values import times
from tests.interleave.beginning import IMPORTED, LATER
from tests.support.factories import NOW

if TYPE_CHECKING:
    from tests.interleave.processes import Process


def import_lines(at: Process, **fields: Any) -> str:
    """Import a deal that is new, and one that exists."""
    line = {
        "title": "Clog",
        "brand": "Apple",
        "category": "Shoes",
        "link": "https://shop.example/clog",
        "price": "31.90",
        "listPrice": "158.00",
        "currency": "USD",
        **fields,
    }
    lines = [line | {"sourceId": f"shop:{each}", "postedAt": times.to_iso(IMPORTED.created_at)} for each in (1, 2)]
    importer = Importer(at.table, LATER, workers=1)
    importer.run(BytesIO("\n".join(map(json.dumps, lines)).encode()))
    return (
        f"{importer.report.created} created, {importer.report.existing} there, {sorted(importer.report.bad.values())}"
    )


WRITES = {"import": import_lines, "import withdrawn": partial(import_lines, withdrawnAt=times.to_iso(NOW))}
