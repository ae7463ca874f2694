"""The setting that exports what changes in the table to S3 each night."""

from __future__ import annotations

from dataclasses import dataclass

from infra.rows import Bound, Option

MISSING = Bound(1, minutes=24 * 60)
"""Exports that DynamoDB was asked for in a day. Without one, that day's changes are missing in Athena, and can be
exported for 35 days from then on.

https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport.HowItWorks.html"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exports(Option):
    """Nightly exports, which are kept for some ``days``; ``docs/deploying.md`` says what they hold and cost.

    ``missing`` is the bound of their alarm.
    """

    days: int
    missing: Bound = MISSING
