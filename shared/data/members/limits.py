"""Limits of watches and alerts: read from requests, stored as attributes, and applied to deals."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

from shared import settings
from shared.data.catalog.phrases import read_phrases
from shared.data.catalog.words import MOST_CHARACTERS, MOST_WORDS, asked
from shared.dynamodb.attributes import Codec, Entity, Item
from shared.errors import InvalidLimits
from shared.models.catalog import Deal
from shared.models.members import NO_LIMITS, Limits, Pace
from shared.values import money

_LIMITS = Entity(Limits, forms={"ceiling": Codec(str, money.amount)})

ATTRIBUTES = _LIMITS.names
"""The attributes of a watch or alert that hold its limits."""

in_item = _LIMITS.read
"""Read an item's limits; an old item has none."""


def read(given: Mapping[str, Any]) -> Limits:
    """Read limits from a request or form, by their names in the API. Raises InvalidLimits."""
    errors = dict.fromkeys(given.keys() - _READ.keys(), "There is no such field.")
    found: dict[str, Any] = {}
    for name, (field, check) in _READ.items():
        if given.get(name) is not None:
            try:
                found[field] = check(given[name])
            except ValueError as error:
                errors[name] = str(error)
    if "ceiling" in found:
        currency = found.setdefault("currency", settings.CURRENCIES[0])
        if fault := money.fault(found["ceiling"], currency):
            errors["ceiling"] = fault
    elif "currency" in found:
        del found["currency"]
    if errors:
        raise InvalidLimits(errors)
    return Limits(**found)


def attributes_of(limits: Limits) -> Item:
    """The attributes of limits; fields that limit nothing have none."""
    written = _LIMITS.write(limits)
    return {name: value for name, value in written.items() if (name, value) != ("Pace", Pace.AT_ONCE)}


def wants(limits: Limits, deal: Deal, words: Collection[str]) -> bool:
    """Whether a deal with these words meets a member's limits."""
    if limits == NO_LIMITS:
        return True
    if limits.pace is Pace.NEVER:
        return False
    above = limits.ceiling is not None and (
        deal.currency != limits.currency or deal.units > money.units(limits.ceiling, deal.currency)
    )
    if above or (deal.discount_percent or 0) < (limits.least_discount or 0):
        return False
    return limits.words is None or asked(limits.words).is_met_by(words)


def shown_at(pace: Pace, now: datetime) -> datetime | None:
    """When a daily reader's message is shown; None means at once."""
    if pace is not Pace.DAILY:
        return None
    due = now.replace(hour=settings.TOLD_DAILY_AT, minute=0, second=0, microsecond=0)
    return due if due > now else due + timedelta(days=1)


def _price(value: Any) -> str:
    text = value.strip() if isinstance(value, str) else ""
    if not re.fullmatch(money.PATTERN, text) or not text.strip("0."):
        raise ValueError("This must be a price such as 79.95.")
    return money.normal(text)


def _currency(value: Any) -> str:
    if not isinstance(value, str) or value not in money.currencies():
        raise ValueError("This must be a currency such as USD.")
    return value


def _percent(value: Any) -> int:
    text = str(value).strip().removesuffix(".0")  # JSON has one number type, so 30.0 is 30
    if not re.fullmatch("[1-9][0-9]?", text):
        raise ValueError("This must be a whole number from 1 to 99.")
    return int(text)


def _words(value: Any) -> str:
    typed = " ".join(value.split()) if isinstance(value, str) else ""
    wanted = asked(typed)
    if not typed.isprintable() or len(typed) > MOST_CHARACTERS or not wanted.terms:
        raise ValueError(f"Use words that can occur in a deal, in at most {MOST_CHARACTERS} characters.")
    if read_phrases(typed).typed:
        raise ValueError("Use words only: a price or a discount has a field of its own.")
    if wanted.cut:
        raise ValueError(f"This must have at most {MOST_WORDS} words.")
    return typed


def _pace(value: Any) -> Pace:
    try:
        return Pace(value)
    except ValueError as error:
        raise ValueError(f"This must be one of {', '.join(Pace)}.") from error


_READ: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "ceiling": ("ceiling", _price),
    "currency": ("currency", _currency),
    "leastDiscount": ("least_discount", _percent),
    "words": ("words", _words),
    "pace": ("pace", _pace),
}
"""Each field by its API name: the model's name, and a parser that raises ValueError with a message."""
