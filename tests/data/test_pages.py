"""Editors' picks, and copies that follow the deals."""

from __future__ import annotations

import pytest

from shared.data import keys
from shared.data.catalog import deals, feed_counts, picks, topics
from shared.data.members import follows
from shared.dynamodb.table import Table
from shared.errors import NoSuchDeals, NoSuchTopic, WrongFeaturedCount
from shared.models.catalog import CATEGORY, EDITORS_CHOICE, FRONT_PAGE, CuratedPage, Deal, Topic, feed_of
from tests.support.factories import HOME, NOW, SHOES, a_deal, ago, ahead, ids, join, post
from tests.support.wire import hooked, watched

both_pages = pytest.mark.parametrize("page", [FRONT_PAGE, EDITORS_CHOICE], ids=["front page", "editor's choice"])


@both_pages
def test_a_page_is_empty_before_anybody_picks_and_after_picks_are_taken_away(table: Table, page: CuratedPage) -> None:
    before = picks.read(table, page, NOW)
    picks.set_featured(table, page, ids(post(table, [a_deal()])), NOW)

    picks.set_featured(table, page, [], NOW)

    assert before == picks.read(table, page, NOW) == []


@both_pages
def test_picks_that_do_not_exist_are_named_and_nothing_changes(table: Table, deal: Deal, page: CuratedPage) -> None:
    absent = [a_deal().deal_id, a_deal().deal_id]
    picks.set_featured(table, page, [deal.deal_id], NOW)

    with pytest.raises(NoSuchDeals) as refusal:
        picks.set_featured(table, page, [absent[0], deal.deal_id, absent[1]], NOW)

    assert refusal.value.deal_ids == tuple(absent)
    assert picks.read(table, page, NOW) == [deal]


@both_pages
def test_a_deal_is_picked_once_and_not_too_many_are(table: Table, page: CuratedPage) -> None:
    posted = post(table, [a_deal() for _ in range(2)])

    with pytest.raises(WrongFeaturedCount):
        picks.set_featured(table, page, ids([posted[0], posted[1], posted[0]]), NOW)
    with pytest.raises(WrongFeaturedCount):
        picks.set_featured(table, page, [a_deal().deal_id for _ in range(26)], NOW)


@pytest.mark.parametrize(("number", "allowed"), [(0, False), (4, False), (5, True), (10, True), (11, False)])
def test_a_category_features_five_to_ten(table: Table, number: int, allowed: bool) -> None:
    posted = post(table, [a_deal() for _ in range(number)])

    if allowed:
        picks.set_category_featured(table, "shoes", ids(posted), NOW)
    else:
        with pytest.raises(WrongFeaturedCount):
            picks.set_category_featured(table, "shoes", ids(posted), NOW)

    assert picks.read(table, SHOES, NOW) == (posted if allowed else [])
    assert picks.read(table, HOME, NOW) == []


def test_picks_for_an_unknown_category_are_refused(table: Table) -> None:
    posted = post(table, [a_deal() for _ in range(5)])

    with pytest.raises(NoSuchTopic):
        picks.set_category_featured(table, "toys", ids(posted), NOW)

    assert table.get(keys.topic(Topic(CATEGORY, "toys"))) is None


@both_pages
def test_a_picked_deal_that_has_ended_is_not_shown(table: Table, page: CuratedPage) -> None:
    ends, stays = post(table, [a_deal(ends_at=ahead(hours=1)), a_deal(ago(days=1))])
    picks.set_featured(table, page, [ends.deal_id, stays.deal_id], NOW)

    shown = picks.read(table, page, ahead(hours=1))

    assert shown == [stays]


@both_pages
def test_copies_follow_an_edit_and_keep_the_editors_order(table: Table, page: CuratedPage) -> None:
    posted = post(table, [a_deal() for _ in range(3)])
    picks.set_featured(table, page, ids(reversed(posted)), NOW)
    edited = deals.edit(table, posted[1].deal_id, {"title": "Road runner"}, NOW)

    followed = picks.refresh(table, page, NOW)

    assert followed == [posted[2], edited, posted[0]]
    assert picks.read(table, page, NOW) == followed


def test_a_categorys_copies_follow_and_its_counts_stay(table: Table) -> None:
    posted = post(table, [a_deal() for _ in range(5)])
    join(table, "ana")
    follows.like(table, SHOES, "ana", NOW)
    picks.set_category_featured(table, "shoes", ids(posted), NOW)
    deals.withdraw(table, posted[0].deal_id, NOW)

    shown = picks.refresh(table, SHOES, NOW)

    category = topics.get(table, SHOES)
    assert shown == posted[1:]
    assert (category.likes, feed_counts.counts(table, feed_of(SHOES))) == (1, {"2050-06-15": 4})
    assert picks.read(table, SHOES, NOW) == posted[1:]
    copies = (table.get(keys.featured(SHOES)) or {})["Featured"]
    assert ["WithdrawnAt" in copy for copy in copies] == [True, *[False] * 4]  # it is shown again once it is restored


def test_following_what_has_not_changed_writes_nothing(table: Table, deal: Deal) -> None:
    picks.set_featured(table, FRONT_PAGE, [deal.deal_id], NOW)

    with watched(table) as wire:
        picks.refresh(table, FRONT_PAGE, NOW)
        picks.refresh(table, EDITORS_CHOICE, NOW)

    assert set(wire.operations) == {"GetItem", "BatchGetItem"}


def test_an_editor_who_picks_while_copies_follow_wins(table: Table) -> None:
    one, two = post(table, [a_deal(), a_deal()])
    picks.set_featured(table, FRONT_PAGE, [one.deal_id], NOW)
    edited = deals.edit(table, two.deal_id, {"title": "Road runner"}, NOW)
    deals.edit(table, one.deal_id, {"title": "Road runner"}, NOW)
    picking = [[two.deal_id]]

    def pick_first(**_: object) -> None:
        if picking:
            picks.set_featured(table, FRONT_PAGE, picking.pop(), NOW)

    with hooked(table, "after-call.dynamodb.BatchGetItem", pick_first):
        picks.refresh(table, FRONT_PAGE, NOW)

    assert picks.read(table, FRONT_PAGE, NOW) == [edited]
