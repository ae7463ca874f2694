"""What upkeep adds to tests of the whole."""

from __future__ import annotations

from features.upkeep import keys
from features.upkeep.repairs import mend
from features.upkeep.survey import survey
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put
from shared.models.catalog import Deal

CHECKS = (survey,)
REPAIRS = (mend,)

OPERATED = ("features/upkeep/README.md",)
AFTER_WORK = ("btd check",)
BACKFILLS = (".venv/bin/btd backfill Deal --segments 4",)

GOLDEN = ((keys.backfill, ("Deal", 4, 2), {"PK": "BACKFILL#Deal#4#2", "SK": "BACKFILL#Deal#4#2"}),)
NOT_IN_SAMPLE = (keys.BACKFILL,)


def _interrupted(table: Table, _deal: Deal) -> None:
    table.write(put({**keys.backfill("any", 1, 0), "Type": keys.BACKFILL, "Start": "{}"}, because="as a backfill does"))


HAPPENS = (_interrupted,)
