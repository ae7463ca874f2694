"""What a picture costs, as README says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from features.pictures.data import fetches
from infra.functions import BY_NAME
from shared.dynamodb.table import Table
from shared.values import prices
from shared.values.prices import READ, WRITE
from tests.functions.conftest import deployed, table  # noqa: F401  # fixtures
from tests.support.wire import taken_by

PAST = datetime(2026, 6, 4, tzinfo=UTC)
PAGE = Path(__file__).parents[1].joinpath("README.md").read_text(encoding="utf-8")


def test_a_thousand_pictures_cost_what_the_page_says() -> None:
    writes, reads = 4 * 0.005, 0.0004
    resizer = BY_NAME["resizer"]
    computing = 1000 * 2 * resizer.memory / 1024 * prices.COMPUTING.each
    others = 1000 * (prices.INVOCATION.each + 3 * prices.QUEUEING.each + READ.each + 10 * WRITE.each)

    assert writes + reads + computing + others == pytest.approx(0.07, abs=0.005)
    assert "A thousand pictures cost seven cents to make" in PAGE


def test_a_fetch_and_an_idle_minute_take_what_the_page_says(table: Table) -> None:
    waits = fetches.Fetch("cdn.shop.example", PAST, "a deal", PAST)
    later = replace(waits, due_at=PAST + fetches.PAUSES[0], attempts=1)
    queue: Any = SimpleNamespace(send=lambda _bodies: None)
    steps: dict[str, Callable[[], object]] = {
        "idle": lambda: fetches.sweep(table, queue, PAST, []),
        "ordered": lambda: fetches.order(table, waits.host, waits.deal_id, PAST),
        "claimed": lambda: fetches.sweep(table, queue, PAST, []),
        "done": lambda: fetches.done(table, later),
    }

    took = taken_by(table, steps)

    assert [took[name].write for name in ("ordered", "claimed", "done")] == [1, 4, 1]
    assert (took["idle"].read, took["idle"].write) == (1, 0)
    assert "one write, four when it is claimed, and one at the end" in " ".join(PAGE.split())
    assert 30 * 24 * 60 * READ.each == pytest.approx(0.005, abs=0.001)
    assert "reads one unit a minute, half a cent a month" in " ".join(PAGE.split())
