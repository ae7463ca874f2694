"""The commands of ``btd`` that check, repair and rewrite items."""

from __future__ import annotations

from features.upkeep.backfills import backfill, index
from features.upkeep.checking import check

COMMANDS = (backfill, check, index)
