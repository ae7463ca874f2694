"""``btd seed`` and ``btd sweep``, which the deployed system does by itself."""

from __future__ import annotations

from cli import views
from cli.watching import AsJson, at_work
from shared.data.catalog import endings, seeds

BATCH = 500
"""Ended deals that one sweep looks at."""


def seed(as_json: AsJson = False) -> None:
    """Create the eight categories and the containers where they are missing."""
    with at_work(as_json) as work:
        work.answer({"created": seeds.plant(work.table, work.now)}, views.fields)


def sweep(as_json: AsJson = False) -> None:
    """Take the deals that have ended by now out of the feeds."""
    with at_work(as_json) as work:
        swept = 0
        while (just_swept := endings.sweep(work.table, work.now, most=BATCH)) == BATCH:
            swept += just_swept
        work.answer({"swept": swept + just_swept}, views.fields)
