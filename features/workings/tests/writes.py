"""The actions of the workings, for ``tests/interleave``."""

from __future__ import annotations

from features.workings import data
from tests.interleave.beginning import LATER

WRITES = {
    "keep drawing": lambda at: data.keep(at.table, f"trace {at.seed}", {}, LATER),
    "file step": lambda at: data.file_step(at.table, "DEAL#x", "publisher", "1", {}, LATER, failed=at.seed == 0),
}
