"""The table's stream: whether a record is about a deal or about picks, and what changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from shared.data import item_types, keys
from shared.data.catalog.deal_items import from_item, readable
from shared.dynamodb.attributes import unmarshal_item
from shared.models.catalog import EDITORS_CHOICE, FRONT_PAGE, CuratedPage, Deal, Topic

_TTL_SERVICE = "dynamodb.amazonaws.com"


@dataclass(frozen=True, slots=True)
class DealChange:
    """A deal before and after a write; None where it did not or does not exist. ``at`` is when it was written."""

    before: Deal | None
    after: Deal | None
    at: datetime


@dataclass(frozen=True, slots=True)
class PicksChange:
    """A curated page or a category whose picked deals changed."""

    of: CuratedPage | Topic


def change_of(record: Mapping[str, Any]) -> DealChange | PicksChange | None:
    """The change that a stream record is about, or None. A removal by TTL is about nothing: deals have no TTL.

    Raises DamagedDeal.
    """
    if record.get("userIdentity", {}).get("principalId") == _TTL_SERVICE:
        return None
    images = record["dynamodb"]
    item = images.get("NewImage") or images.get("OldImage") or {}
    match item.get("Type", {}).get("S"):
        case item_types.DEAL:
            # A deal that could not be read before it was repaired counts as one that was not there.
            before = readable([unmarshal_item(images["OldImage"])]) if "OldImage" in images else []
            after = from_item(unmarshal_item(images["NewImage"])) if "NewImage" in images else None
            written_at = datetime.fromtimestamp(float(images["ApproximateCreationDateTime"]), UTC)
            return DealChange(before[0] if before else None, after, written_at)
        case FRONT_PAGE.type:
            return PicksChange(FRONT_PAGE)
        case EDITORS_CHOICE.type:
            return PicksChange(EDITORS_CHOICE)
        case item_types.CATEGORY_FEATURED:
            return PicksChange(keys.topic_named(item["PK"]["S"]))
    return None
