"""``btd seed`` and ``btd sweep``, which the deployed system does by itself."""

from __future__ import annotations

from cli import views
from cli.work import Work, answering
from shared.data.catalog import endings, seeds

BATCH = 500
"""Ended deals that one sweep looks at."""


@answering()
def seed(work: Work) -> views.Json:
    """Create the eight categories and the containers where they are missing."""
    return {"created": seeds.plant(work.table, work.now)}


@answering()
def sweep(work: Work) -> views.Json:
    """Take the deals that have ended by now out of the feeds."""
    swept = 0
    while (just_swept := endings.sweep(work.table, work.now, most=BATCH)) == BATCH:
        swept += just_swept
    return {"swept": swept + just_swept}
