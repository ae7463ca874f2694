"""What a picture costs, as README says."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra.functions import BY_NAME
from shared.values import prices
from shared.values.prices import READ, WRITE

PAGE = Path(__file__).parents[1].joinpath("README.md").read_text(encoding="utf-8")


def test_a_thousand_pictures_cost_what_the_page_says() -> None:
    writes, reads = 4 * 0.005, 0.0004
    resizer = BY_NAME["resizer"]
    computing = 1000 * 2 * resizer.memory / 1024 * prices.COMPUTING.each
    others = 1000 * (prices.INVOCATION.each + 3 * prices.QUEUEING.each + READ.each + 10 * WRITE.each)

    assert writes + reads + computing + others == pytest.approx(0.07, abs=0.005)
    assert "A thousand pictures cost seven cents to make" in PAGE
