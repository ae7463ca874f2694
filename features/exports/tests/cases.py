"""The nightly exports in tests of all features."""

from __future__ import annotations

from features.exports.rights import MISSING, Exports

OPTIONS = (Exports(days=400),)
KEPT = ("ExportsBucket54D5CE64",)
WATCHED = (Exports(days=30),)
BOUNDS = {"export_is_missing": MISSING}
RING_IN_SILENCE = RING_BELOW = ("export_is_missing",)
NOT_TYPED = {"aws stepfunctions start-execution ": "the stage local exports nothing"}
PROVEN = {"nightly-export": ("unknown", "")}
