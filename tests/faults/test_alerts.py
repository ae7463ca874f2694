"""Told as one wants: limits of watches, alerts on prices and words. After each fault: told once, of what holds."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from shared.data.members import fanout, follows, limits, messages
from shared.dynamodb.table import Table
from shared.errors import InvalidLimits
from shared.models.alerts import Limits, Pace
from shared.models.catalog import Deal
from tests.support.factories import APPLE, NOW, SHOES, ahead, join
from tests.support.wire import watched

pytestmark = pytest.mark.faults

WorkOff = Callable[..., int]


def told(table: Table, username: str) -> list[str]:
    """The subjects of a user's messages."""
    return [message.subject for message in messages.latest(table, username, limit=9, now=NOW).items]


def test_a_watch_tells_of_what_is_within_its_limits(table: Table, deal: Deal, work_off: WorkOff) -> None:
    wanted = {  # the deal is a trail runner at $31.90, 79 percent off
        "all": Limits(),
        "cheap": Limits(ceiling="31.90", currency="USD"),
        "cheaper": Limits(ceiling="31.89", currency="USD"),
        "euros": Limits(ceiling="99.00", currency="EUR"),
        "off": Limits(least_discount=79),
        "more": Limits(least_discount=80),
        "words": Limits(words="Runner apple"),
        "others": Limits(words="runner sandal"),
        "never": Limits(pace=Pace.NEVER),
    }
    for name, within in wanted.items():
        join(table, name)
        follows.watch(table, APPLE, name, NOW, within=within)

    with watched(table) as wire:
        work_off(fanout.news_of(deal)[:1])

    assert [name for name in wanted if told(table, name)] == ["all", "cheap", "off", "words"]
    assert wire.operations == {"GetItem": 2, "Query": 1, "BatchExecuteStatement": 1}  # as without limits


def test_new_limits_replace_the_old_and_an_old_watch_has_none(table: Table) -> None:
    join(table, "ana")
    follows.watch(table, SHOES, "ana", NOW)
    follows.watch(table, APPLE, "ana", NOW, within=Limits(words="runner", least_discount=20))

    follows.limit(table, APPLE, "ana", Limits(ceiling="80.00", currency="USD", pace=Pace.DAILY))

    kept = Limits(ceiling="80.00", currency="USD", pace=Pace.DAILY)
    assert follows.watching(table, "ana") == {APPLE: kept, SHOES: Limits()}


def test_news_for_once_a_day_waits_in_no_list_for_its_hour(table: Table, deal: Deal, work_off: WorkOff) -> None:
    for name in ("ana", "bo", "cy"):
        join(table, name)
        follows.watch(table, APPLE, name, NOW, within=Limits(pace=Pace.DAILY if name == "ana" else Pace.AT_ONCE))

    work_off(fanout.news_of(deal)[:1], page=2)  # two cohorts, of which one is remembered

    assert [len(told(table, name)) for name in ("ana", "bo", "cy")] == [0, 1, 1]
    assert messages.unread_count(table, "ana", NOW) == messages.mark_all_read(table, "ana", NOW) == 0
    assert messages.unread_count(table, "ana", ahead(hours=18, minutes=59)) == 0  # it is noon
    assert messages.unread_count(table, "ana", ahead(hours=19)) == 1


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"ceiling": "80,00"}, {"ceiling"}),
        ({"ceiling": "0"}, {"ceiling"}),
        ({"ceiling": 80}, {"ceiling"}),
        ({"ceiling": "80", "currency": "dollars"}, {"currency"}),
        ({"leastDiscount": 100, "words": "the"}, {"leastDiscount", "words"}),
        ({"leastDiscount": True}, {"leastDiscount"}),
        ({"words": "one two three four five six"}, {"words"}),
        ({"words": "run\u0000ning"}, {"words"}),
        ({"pace": "hourly", "color": "red"}, {"pace", "color"}),
    ],
)
def test_what_no_limit_can_be_is_said_by_field(given: dict[str, object], named: set[str]) -> None:
    with pytest.raises(InvalidLimits) as refused:
        limits.read(given)

    assert {field for field, _ in refused.value.faults} == named
    assert limits.read({"ceiling": "80", "leastDiscount": "5"}) == Limits("80.00", "USD", 5)
