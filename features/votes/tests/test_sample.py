"""The votes of a new local cloud's sample."""

from __future__ import annotations

from features.votes import sample
from features.votes.data import votes
from shared.dynamodb.table import Table
from tests.support.factories import NOW, a_deal, ago, ids, post


def test_the_sample_s_largest_discounts_are_popular(table: Table) -> None:
    posted = post(
        table, [a_deal(ago(minutes=20 + n), title=f"Lamp {n}", list_price=f"{100 + n}.00") for n in range(30)]
    )

    sample.plant(table, [], ids(posted), NOW)

    assert len(votes.popular(table, NOW, limit=24).items) == 24
    assert votes.score_of(table, posted[-1].deal_id) == 3 * sample.VOTED
