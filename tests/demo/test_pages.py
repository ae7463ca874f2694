"""What pages say and take is the same in the demo as on the laptop's engine, which holds the same table."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from local.settings import ROOT
from tests.support.engines import DYNOXIDE_ENGINE

pytestmark = pytest.mark.thorough


def _seen(*arguments: object) -> Any:
    command = [sys.executable, "-m", "tests.demo.pages", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def test_forty_pages_say_and_take_the_same_as_on_the_laptop(tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    in_the_tab = _seen(kept)
    with DYNOXIDE_ENGINE.table() as engine:
        on_the_laptop = _seen(kept, engine.client.meta.endpoint_url)

    assert len(in_the_tab) >= 40
    for ours, theirs in zip(in_the_tab, on_the_laptop, strict=True):
        page = ours[:2]
        assert (page, ours[2]) == (theirs[:2], theirs[2])
        _hold_the_same_cost(page, ours[3], theirs[3])
        if page[1] != "/table":  # each engine scans in an order of its own
            least = bool(ours[3]) and ours[3][2] == "at least "
            assert _lines(ours[4], least) == _lines(theirs[4], least), page


def _hold_the_same_cost(page: list[str], ours: Any, theirs: Any) -> None:
    """The same requests and round trips. Units, too, unless the page says that they are the least that they can be."""
    if ours is None or theirs is None:
        assert ours == theirs, page
        return
    requests, trips, basis, units = ours
    assert [requests, trips] == theirs[:2], page
    if basis == "at least ":
        assert float(units) <= float(theirs[3]), page
    else:
        assert units == theirs[3], page


def _lines(text: str, least: bool) -> list[str]:
    """A page's lines, without its units where they are the least that they can be."""
    return [" ".join(line.split()) for line in (re.sub(r"[\d.]+ RRU", "RRU", text) if least else text).splitlines()]
