"""Votes in the demo: the page that it packs, and the rank of a score."""

from __future__ import annotations

from features.votes.data.keys import SCORE
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import Key

PACKED = ("/popular",)


def _rank(item: Item) -> Key:
    from features.votes.data import votes  # noqa: PLC0415  # only for a sample of another day

    return votes.place(item["DealId"], item["Score"]) if "GSI1SK" in item else {}


PLACES = {SCORE: _rank}
