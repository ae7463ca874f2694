"""Real deals, of ``tests/sample``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from shared.api.bodies import NewDeal
from shared.data.catalog import deals, topics
from shared.dynamodb.table import Table
from shared.models.catalog import Deal

SAMPLE = Path(__file__).resolve().parent.parent / "sample" / "deals.jsonl"


def lines() -> Iterator[dict[str, Any]]:
    """The fields of each deal."""
    return map(json.loads, SAMPLE.read_text(encoding="utf-8").splitlines())


def create(table: Table, fields: Sequence[dict[str, Any]], now: datetime) -> None:
    """Create deals and their brands, none of them withdrawn. A deal's id is derived from its source's."""
    new = [_deal(each, now) for each in fields]
    names = iter({deal.brand: deal.brand_name for deal in reversed(new)}.items())
    while some := dict(islice(names, topics.MOST_BRANDS)):
        topics.create_brands(table, some, now)
    deals.create_many(table, new, now)


def _deal(fields: dict[str, Any], now: datetime) -> Deal:
    """A line's deal, whose own time is that of its post."""
    own = {{"postedAt": "createdAt"}.get(name, name): fields[name] for name in fields if name != "withdrawnAt"}
    return replace(NewDeal.model_validate(own).to_deal(now, entropy=b""), brand_name=fields["brand"])
