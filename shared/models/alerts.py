"""What members want to be told of, and when."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from shared.values.stored import stored


class Pace(StrEnum):
    """When one is told: at once, with all else of a day, or never for now."""

    AT_ONCE = "at-once"
    DAILY = "daily"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Limits:
    """The deals of a watch or an alert that one wants: at most at a price, at least so much off, with some words.

    ``ceiling`` is in ``currency``; a deal in another currency is not known to be below it. ``least_discount`` is in
    whole percents. ``words`` are as they were typed. What is None bounds nothing.
    """

    ceiling: str | None = field(default=None, metadata=stored("Ceiling"))
    currency: str | None = field(default=None, metadata=stored("Currency"))
    least_discount: int | None = field(default=None, metadata=stored("LeastDiscount", int))
    words: str | None = field(default=None, metadata=stored("Words"))
    pace: Pace = field(default=Pace.AT_ONCE, metadata=stored("Pace", Pace))


NO_LIMITS = Limits()
"""Every deal, at once: what watches are that say nothing else."""
