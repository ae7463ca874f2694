"""Move a table's items by whole days, so that a sample of last year looks like today's."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any

from ksuid import Ksuid

from shared import features, hooks
from shared.data import keys
from shared.data.catalog import deals, feed_counts, feeds, page_cache
from shared.dynamodb.attributes import Item, marshal_item, unmarshal_item
from shared.dynamodb.schema import INDEX_KEYS, Key
from shared.errors import InvalidCursor
from shared.html import views
from shared.models.catalog import ALL_DEALS
from shared.values import identifiers

Json = dict[str, Any]

HOUR, DAY = 3_600, 86_400
NEAR = 3 * 365 * DAY
"""A number or an id is a time only if it is within three years of when the items are from."""

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
TIMES = re.compile(
    r"(?P<date>(?:^|(?<=[\"#\x1f])|(?<=\d ))20\d\d-\d\d-\d\d(?!\d))"
    r"|(?P<cursor>(?<=cursor=)[\w-]{44})"
    rf"|(?P<id>(?<![0-9A-Za-z]){identifiers.KSUID}(?![0-9A-Za-z]))"
)
"""Dates (also those that times begin with), cursors and ids. A date is a whole value, a part of a key or of a page, or
follows a number (in verdicts); in another text, such as a link, it stays."""
SHOWN = re.compile(rf"(?<=>)([A-Z][a-z]+day )?(\d\d?) ({'|'.join(MONTHS)})[a-z]*( \d{{4}})?(?=[,<])")
"""A day as the copies of pages show it: ``Friday 27 November``, ``27 Nov``, or ``27 Nov 2025`` in another year."""


def days_since(then: float, now: float) -> int:
    """Whole days between two times in epoch seconds, below zero if ``then`` is later by more than an hour."""
    return int((now - then + (HOUR if now < then else 0)) // DAY)


def moved(items: Iterable[Json], days: int, of: float) -> list[Json]:
    """Items in DynamoDB's JSON form, or records with them, with times that are ``days`` later. ``of`` is when they are
    from, in epoch seconds."""
    return [*map(_Move(days, of).part, items)]


def counted_anew(items: Iterable[Json]) -> list[Json]:
    """The same items, with the counts of feeds by period: a month's deals don't move to the same month."""
    counts, others = dict[tuple[str, str], Item](), []
    for item in items:
        kind = item.get("Type")
        if kind != {"S": keys.PERIODS}:
            others.append(item)
        if kind == {"S": keys.DEAL} and deals.is_listed(item):
            for key, name in feed_counts.counters(deals.from_item(unmarshal_item(item))):
                count = counts.setdefault((key["PK"], key["SK"]), {**key, "Type": keys.PERIODS})
                for each in (name, feed_counts.TOTAL):
                    count[each] = count.get(each, 0) + 1
    return [*others, *map(marshal_item, counts.values())]


def _in_feeds(item: Item) -> Key:
    whole = deals.to_item_listed(deals.from_item(item), listed=deals.is_listed(item))
    return {name: value for name, value in whole.items() if name in INDEX_KEYS}


class _Move:
    """Moves parts of items, and of texts each one once."""

    def __init__(self, days: int, of: float) -> None:
        self.by, self.of = timedelta(days), datetime.fromtimestamp(of, UTC)
        of_deals: dict[str, Callable[[Item], Key]] = {keys.DEAL: _in_feeds}
        self.places = features.merged(hooks.Demo, lambda each: each.PLACES, of_deals)
        self.text, self.body = cache(self._text), cache(self._body)

    def part(self, part: Any) -> Any:
        """An item, a part of it, or a record with items."""
        if isinstance(part, str):
            return self.text(part)
        if isinstance(part, list):
            return [self.part(each) for each in part]
        if not isinstance(part, dict):
            return part
        if isinstance(part.get("N"), str):
            return {"N": self._number(part["N"])}
        if isinstance(part.get("B"), str):
            return {"B": self.body(part["B"])}
        found = {self.text(name): self.part(each) for name, each in part.items()}
        if place := self.places.get(part["Type"]["S"]) if isinstance(part.get("Type"), dict) else None:
            found |= marshal_item(place(unmarshal_item(found)))
        return found

    def _number(self, number: str) -> str:
        """A number, which may be a time in seconds (TTL) or in milliseconds."""
        for unit in (1, 1000):
            with suppress(ValueError):
                if abs(int(number) / unit - self.of.timestamp()) < NEAR:
                    return str(int(number) + int(self.by.total_seconds()) * unit)
        return number

    def _text(self, text: str) -> str:
        return TIMES.sub(self._found, text)

    def _found(self, found: re.Match[str]) -> str:
        with suppress(InvalidCursor, OverflowError, ValueError):  # it only looks like one
            if found["date"]:
                return (date.fromisoformat(found[0]) + self.by).isoformat()
            if found["cursor"]:
                scope = feeds.scope(ALL_DEALS)
                return identifiers.cursor_after(scope, self._id(identifiers.read_cursor(scope, found[0])))
            return self._id(found[0])
        return found[0]

    def _id(self, text: str) -> str:
        """A KSUID, whose other bytes stay. Raises ValueError for another text."""
        if abs((identifiers.time_of(text) - self.of).total_seconds()) > NEAR:
            return text
        before = Ksuid.from_base62(text)
        return str(Ksuid(before.datetime + self.by, before.payload))

    def _body(self, content: str) -> str:
        """A copy of a page; other bytes stay."""
        try:
            text = page_cache.decompress(base64.b64decode(content))
        except (zlib.error, UnicodeDecodeError):
            return content
        return base64.b64encode(page_cache.compress(SHOWN.sub(self._day, self._text(text)))).decode()

    def _day(self, shown: re.Match[str]) -> str:
        """A day on a page. One with its name heads deals, so it is not to come."""
        name, day, month, year = shown.groups()
        when = date(int(year or self.of.year), MONTHS.index(month) + 1, int(day))
        if name and when > self.of.date():
            when = when.replace(year=when.year - 1)
        return views.long_day(when + self.by) if name else views.short_day(when + self.by, self.of + self.by)
