"""Keys of runs: the counts of units of runs, next to the core's counts of attempts."""

from __future__ import annotations

from shared.data import keys

UNITS = "UNITS"
"""What the counters of a network's units are of."""

COUNTERS = keys.attempts(UNITS, "*")["PK"]
"""The pattern of the partitions of these counters, and of no other attempts."""
