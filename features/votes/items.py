"""The keys and item types of votes and scores."""

from __future__ import annotations

from features.votes.data.keys import SCORE, VOTE, ranked_score, score, vote
from shared.data.entity import DEAL_ID, OF_DEAL, SAYS_DEAL, SAYS_USER, Entity, Exported, Shown, at, named
from shared.dynamodb.schema import GSI1

ENTITIES = {
    "Votes": (
        Entity(
            SCORE,
            at(score(DEAL_ID), "the score of a deal", "46", Shown.OPEN),
            (
                at(
                    ranked_score(named("Month"), named("Rank"), DEAL_ID),
                    "a month's deals by rank",
                    "47",
                    Shown.OPEN,
                    index=GSI1,
                ),
            ),
            needs="Score",
            says=SAYS_DEAL,
            partners=(OF_DEAL,),
            exported=Exported.WHOLE,
        ),
        Entity(
            VOTE,
            at(vote(named("Username"), DEAL_ID), "a user's votes", "46"),
            needs="Vote Worth VotedAt",
            says={**SAYS_USER, **SAYS_DEAL},
            partners=(OF_DEAL,),
            owned=True,
            remover=True,
        ),
    )
}

REFRESHES = {SCORE: "votes"}
