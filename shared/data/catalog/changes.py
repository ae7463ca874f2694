"""Changes of deals: what a stream record says about a deal or picks, and the log of each deal.

The log says who changed which fields of a deal, and when. The stream writes its lines, so every write has one: by a
form, the API, ``btd`` or by hand. A line's id is made of its record's time and sequence number, so lines sort in the
order of writing, and a repeated record makes the same line. TTL deletes lines, and the editors' names in them, after a
year.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import Enum
from operator import attrgetter, methodcaller
from typing import Any, NamedTuple

from shared import features, hooks, settings
from shared.data import keys
from shared.data.catalog.deals import from_item, readable
from shared.dynamodb import damage
from shared.dynamodb.attributes import Item, unmarshal_item
from shared.dynamodb.schema import TTL_ATTRIBUTE
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put
from shared.models.catalog import EDITORS_CHOICE, FRONT_PAGE, TYPED, Changed, CuratedPage, Deal, LogLine, Page, Topic
from shared.values import identifiers
from shared.values.times import to_iso

_TTL_SERVICE = "dynamodb.amazonaws.com"


class DealChange(NamedTuple):
    """A deal before and after a write; None if it didn't or doesn't exist. ``at`` is the time of the write."""

    before: Deal | None
    after: Deal | None
    at: datetime

    @property
    def deals(self) -> list[Deal]:
        """The deal's existing states, old and new."""
        return [deal for deal in (self.before, self.after) if deal is not None]


class PicksChange(NamedTuple):
    """A curated page or a category whose picked deals changed."""

    of: CuratedPage | Topic


def change_of(record: Mapping[str, Any]) -> DealChange | PicksChange | None:
    """The change in a stream record, or None for any other record. Deals have no TTL, so deletions by TTL are ignored.

    ``picks.refresh`` doesn't count as a change of picks: it only updates the copies. Raises DamagedDeal.
    """
    if record.get("userIdentity", {}).get("principalId") == _TTL_SERVICE:
        return None
    images = record["dynamodb"]
    item = images.get("NewImage") or images.get("OldImage") or {}
    match item.get("Type", {}).get("S"):
        case keys.DEAL:
            # A deal that was unreadable before its repair counts as new.
            before = readable([unmarshal_item(images["OldImage"])]) if "OldImage" in images else []
            after = from_item(unmarshal_item(images["NewImage"])) if "NewImage" in images else None
            written_at = datetime.fromtimestamp(float(images["ApproximateCreationDateTime"]), UTC)
            return DealChange(before[0] if before else None, after, written_at)
        case FRONT_PAGE.type | EDITORS_CHOICE.type | keys.CATEGORY_FEATURED if _refreshed(images):
            return None
        case FRONT_PAGE.type:
            return PicksChange(FRONT_PAGE)
        case EDITORS_CHOICE.type:
            return PicksChange(EDITORS_CHOICE)
        case keys.CATEGORY_FEATURED:
            return PicksChange(keys.topic_named(item["PK"]["S"]))
    return None


def _refreshed(images: Mapping[str, Any]) -> bool:
    """Whether a write of picks only updated copies: a new version, but the same deals and time of choice."""
    if "OldImage" not in images or "NewImage" not in images:
        return False
    old, new = ((_chosen(images[each]), images[each].get("FeaturedVersion")) for each in ("OldImage", "NewImage"))
    return old[0] == new[0] and old[1] != new[1]


def _chosen(image: Mapping[str, Any]) -> list[Any]:
    copies = image.get("Featured", {}).get("L", [])
    return [image.get("UpdatedAt"), *(copy.get("M", {}).get("DealId") for copy in copies)]


FIELDS: Mapping[str, Callable[[Deal], Any]] = {
    "link": attrgetter("link"),
    "title": attrgetter("title"),
    "price": attrgetter("price"),
    "listPrice": attrgetter("list_price"),
    "currency": attrgetter("currency"),
    "brand": attrgetter("brand"),
    "category": attrgetter("category"),
    **{name: attrgetter(field) for name, field in TYPED.items()},
    "expiresAt": attrgetter("ends_at"),
    "image": attrgetter("image"),
    **{
        name: methodcaller("own", kind)
        for name, (kind, _) in features.merged(hooks.Fields, lambda each: each.LOGGED).items()
    },
    "withdrawnAt": attrgetter("withdrawn_at"),
    "hotAt": attrgetter("hot_at"),
}
"""The fields in log lines, by the API's names, each with how a deal's value is read. Fields that aren't typed, such as
the verdict, make no line."""

LONGEST = 200
"""The most characters of a value in a line, so that a line about a long description costs no more than others."""

_ID_BYTES = 16


def note(table: Table, change: DealChange, number: str) -> None:
    """Log a change under its stream record's sequence number. One PutItem, or nothing.

    A posted deal gets a line only if it has an editor: a thousand imported deals have none.
    """
    before, after = change.before, change.after
    if after is None:
        return
    changes = changed(before, after) if before else []
    # A record that comes again after days has today's deal, and its last editor.
    by = after.editor if before is None or after.version == before.version + 1 else None
    if not changes and (before or not by):
        return
    # DynamoDB's sequence numbers have 21 to 40 digits, and are in the order of the changes:
    # https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_StreamRecord.html
    # https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html
    line_id = identifiers.random(change.at, (int(number) % 256**_ID_BYTES).to_bytes(_ID_BYTES))
    line = {
        **keys.log_line(after.deal_id, line_id),
        "Type": keys.LOG_LINE,
        "EditedBy": by,
        "Was": {each.field: each.was for each in changes if each.was is not None},
        "Became": {each.field: each.now for each in changes if each.now is not None},
        TTL_ATTRIBUTE: int((change.at + settings.LOG_LIFETIME).timestamp()),
    }
    table.write(put(line, because="the same record makes the same line"))


def changed(before: Deal, after: Deal) -> list[Changed]:
    """The fields that differ between two states of a deal."""
    both = ((name, of(before), of(after)) for name, of in FIELDS.items())
    return [Changed(name, _text(was), _text(now)) for name, was, now in both if was != now]


def log_of(table: Table, deal_id: str, *, limit: int, now: datetime, cursor: str | None = None) -> Page[LogLine]:
    """A page of a deal's log, newest first. One Query. Raises InvalidCursor.

    It may lag behind the newest change as long as the stream does, usually a second.
    """
    scope = f"log/{deal_id}"
    after = identifiers.read_cursor(scope, cursor) if cursor is not None else None
    found: list[LogLine] = []
    for item in table.query(keys.log(deal_id), after=after, newest_first=True, page_size=limit + 1):
        found += [line for line in damage.readable([item], _line_from) if line.at > now - settings.LOG_LIFETIME]
        if len(found) > limit:
            break
    return Page(tuple(found[:limit]), identifiers.next_cursor(scope, [each.line_id for each in found], limit))


def _line_from(item: Item) -> LogLine:
    line_id = str(item["SK"])
    was, now = (damage.attribute(item, name, dict) for name in ("Was", "Became"))
    changes = tuple(Changed(name, was.get(name), now.get(name)) for name in FIELDS if name in was.keys() | now.keys())
    return LogLine(line_id, identifiers.time_of(line_id), item.get("EditedBy"), changes)


def _text(value: Any) -> str | None:
    if value is None:
        return None
    text = to_iso(value) if isinstance(value, datetime) else str(value.value if isinstance(value, Enum) else value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
