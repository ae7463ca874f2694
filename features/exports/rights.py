"""The setting that exports the table's changes to S3 each night."""

from __future__ import annotations

from dataclasses import dataclass

from infra.stage import Bound, Option

MISSING = Bound(1, minutes=24 * 60)
"""Exports requested from DynamoDB in a day. Without one, that day's changes are missing in Athena, and can be exported
for another 35 days.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport.HowItWorks.html"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exports(Option):
    """Nightly exports, kept for ``days`` days; ``features/exports/README.md`` describes their content and cost.

    ``missing`` is the bound of their alarm.
    """

    services = ("athena", "glue", "scheduler", "stepfunctions")

    days: int
    missing: Bound = MISSING
