"""What someone who takes the desk's function over could do at worst."""

from __future__ import annotations

from infra.functions import BY_NAME
from tools import worst_cases
from tools.worst_cases import WORST, worst


def test_someone_with_the_desks_role_could_change_deals_and_picks_but_let_nobody_in() -> None:
    could = worst(BY_NAME["desk"])

    known = [says for says in could if says in WORST.values()]
    assert known == ["change any deal", "change any deal's link", "change the picks"]
    assert worst_cases.TAKES_OVER not in could
