"""What voting may know of an account."""

from __future__ import annotations

from infra.functions import BY_NAME
from shared.data import keys
from tests.support.rights import Ask, policy_of


def test_who_votes_is_known_by_the_age_of_the_account_and_by_nothing_else_of_it() -> None:
    user = keys.user("ana")["PK"]

    asks = [Ask("BatchGetItem", (user,), "", ("PK", "SK", name)) for name in ("CreatedAt", "Email")]
    assert [policy_of(BY_NAME["members"].access).allows(ask) for ask in asks] == [True, False]
