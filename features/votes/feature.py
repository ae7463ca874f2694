"""What votes add to the core."""

from __future__ import annotations

from shared.features import DealList, Feature
from shared.settings import CACHED_PAGE

FEATURE = Feature(
    does="votes on deals, their scores, and the list of popular deals",
    answers="features.votes.answers:",
    invariants="features.votes.invariants:Scores",
    refreshes={"Score": "votes"},
    beside_deal="features.votes.fields:",
    lists=(
        DealList(
            path="/popular",
            read="features.votes.lists:popular",
            summary="Deals by votes, which time outweighs",
            schema="PopularList",
            template="votes/templates/popular.html",
            description="The deals with the most votes, from this month and the last.",
            size=CACHED_PAGE,
            on_front_page="Most voted",
            chosen="features.votes.lists:most_voted",
        ),
    ),
    joins={
        "members": "features.votes.api:",
        "mine": "features.votes.pages:",
        "refresher": "features.votes.upkeep:Ranked",
    },
    in_pages="votes/templates/in-pages.html",
    tabs={"lists": (("/popular", "Popular"),)},
    paths={"packed": ("/popular",)},
    sample="features.votes.sample:plant",
)
