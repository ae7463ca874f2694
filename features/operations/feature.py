"""What operating a stage adds to the core."""

from __future__ import annotations

from shared.features import Feature

FEATURE = Feature(
    does="commands of an operator: redrive dead letters, probe a stage, read its logs, export the table to SQLite",
)
