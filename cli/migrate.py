"""``btd migrate``: what the first release kept in one item moves to items of its own."""

from __future__ import annotations

import time

from cli import migrations
from cli.segments import Number, run_all
from shared.dynamodb.table import Table


def migrate(segments: Number = 4) -> None:
    """Bring a table of the first release over, while the site runs; it continues where it was interrupted."""
    run_all("Migrating", segments, migrations.run, done=lambda moved: f"{moved:,} moved or split", finish=_finish)


def _finish(table: Table, split: int) -> int:
    if split:
        time.sleep(migrations.SETTLED)
    return migrations.finish(table)
