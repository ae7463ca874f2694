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

    @property
    def deals(self) -> list[Deal]:
        """The deal as it was and as it is, as far as it existed."""
        return [deal for deal in (self.before, self.after) if deal is not None]


@dataclass(frozen=True, slots=True)
class PicksChange:
    """A curated page or a category whose picked deals changed."""

    of: CuratedPage | Topic


def change_of(record: Mapping[str, Any]) -> DealChange | PicksChange | None:
    """The change that a stream record is about, or None. A removal by TTL is about nothing: deals have no TTL.

    Nor is it a change of picks that ``picks.refresh`` brings their copies up to date: the same picks, not picked anew.
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
        case FRONT_PAGE.type | EDITORS_CHOICE.type | item_types.CATEGORY_FEATURED if _refreshed(images):
            return None
        case FRONT_PAGE.type:
            return PicksChange(FRONT_PAGE)
        case EDITORS_CHOICE.type:
            return PicksChange(EDITORS_CHOICE)
        case item_types.CATEGORY_FEATURED:
            return PicksChange(keys.topic_named(item["PK"]["S"]))
    return None


def _refreshed(images: Mapping[str, Any]) -> bool:
    """Whether a write of picks changed their version, but neither the deals nor the time of the choice."""
    if "OldImage" not in images or "NewImage" not in images:
        return False
    old, new = ((_chosen(images[each]), images[each].get("FeaturedVersion")) for each in ("OldImage", "NewImage"))
    return old[0] == new[0] and old[1] != new[1]


def _chosen(image: Mapping[str, Any]) -> list[Any]:
    copies = image.get("Featured", {}).get("L", [])
    return [image.get("UpdatedAt"), *(copy.get("M", {}).get("DealId") for copy in copies)]
