"""Saved deals: once each, shown as they are now, newest first."""

from __future__ import annotations

import pytest

from features.saved.data import saved
from shared.data.catalog import deals
from shared.dynamodb.table import Table
from shared.errors import InvalidCursor, NoSuchUser
from shared.models.catalog import Deal, Status
from tests.support.factories import NOW, a_deal, ago, every_page, ids, join, leave, post


@pytest.fixture(autouse=True)
def _members(table: Table) -> None:
    join(table, "ana", "bo")


def test_who_is_gone_saves_nothing_for_the_next_owner_of_the_name(table: Table, deal: Deal) -> None:
    leave(table)

    with pytest.raises(NoSuchUser):
        saved.save(table, deal, "ana", NOW)

    assert not saved.is_saved(table, deal.deal_id, "ana")


def test_a_deal_is_saved_once_by_one_member_however_often_and_stays_when_it_has_ended(table: Table, deal: Deal) -> None:
    for _ in range(2):
        saved.save(table, deal, "ana", NOW)
    deals.withdraw(table, deal.deal_id, NOW)

    (kept,) = saved.latest(table, "ana", limit=25).items
    assert (kept.deal_id, kept.status(NOW)) == (deal.deal_id, Status.WITHDRAWN)
    assert [saved.is_saved(table, deal.deal_id, name) for name in ("ana", "bo")] == [True, False]

    for _ in range(2):
        saved.unsave(table, deal.deal_id, "ana")

    assert saved.latest(table, "ana", limit=25).items == ()


def test_saved_deals_are_paged_newest_first(table: Table) -> None:
    posted = post(table, [a_deal(ago(hours=hours)) for hours in range(5)])
    for deal in posted:
        saved.save(table, deal, "ana", NOW)

    pages = every_page(lambda cursor: saved.latest(table, "ana", limit=3, cursor=cursor))

    assert [ids(page.items) for page in pages] == [ids(posted[:3]), ids(posted[3:])]


def test_a_cursor_of_another_members_list_is_refused(table: Table) -> None:
    for deal in post(table, [a_deal(), a_deal(ago(hours=1))]):
        saved.save(table, deal, "ana", NOW)
    cursor = saved.latest(table, "ana", limit=1).next

    with pytest.raises(InvalidCursor):
        saved.latest(table, "bo", limit=1, cursor=cursor)
