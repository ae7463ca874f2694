"""Editing deals, withdrawing them, bringing them back; and deals that end by themselves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from shared.data import invariants, keys
from shared.data.catalog import deals, editing, feed_counts, feeds
from shared.data.catalog.feed_counts import TOTAL
from shared.dynamodb import damage
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from shared.dynamodb.writes import forget, update
from shared.errors import (
    DealIsOver,
    DealTooLarge,
    EditedMeanwhile,
    NoSuchDeal,
    NoSuchTopic,
    TooLateToUndo,
)
from shared.models.catalog import ALL_DEALS, Deal, Status, Topic, feed_of
from tests.support.checks import faults
from tests.support.factories import (
    APPLE,
    ASICS,
    HOME,
    LAUNCH,
    NOW,
    SHOES,
    a_deal,
    ago,
    ahead,
    as_large_as_allowed,
    listed,
    post,
)
from tests.support.wire import before, watched


def is_in_feeds(table: Table, deal: Deal) -> bool:
    return "GSI1PK" in (table.get(keys.deal(deal.deal_id)) or {})


def notes(table: Table) -> list[Item]:
    items, _ = table.scan()
    return [item for item in items if item["Type"] == "Ending"]


@pytest.mark.parametrize(
    ("changes", "name", "left", "entered", "stays", "period"),
    [
        ({"brand": "asics"}, "ASICS", APPLE, ASICS, SHOES, "2050-06-01"),
        ({"category": "home"}, "Apple", SHOES, HOME, APPLE, "2050-06-15"),
    ],
    ids=["brand", "category"],
)
def test_a_deal_of_another_brand_or_category_moves_to_its_feed(
    table: Table, deal: Deal, changes: dict[str, Any], name: str, left: Topic, entered: Topic, stays: Topic, period: str
) -> None:
    edited = deals.edit(table, deal.deal_id, changes, NOW)

    assert edited.brand_name == name
    assert [listed(table, feed_of(topic)) for topic in (left, entered, stays)] == [[], [deal.deal_id], [deal.deal_id]]
    assert listed(table, ALL_DEALS) == [deal.deal_id]
    assert [feed_counts.counts(table, feed_of(topic)) for topic in (left, entered)] == [{}, {period: 1}]
    assert len(feed_counts.counts(table, feed_of(stays))) == 1


def test_a_deal_moves_to_no_unknown_brand_or_category(table: Table, deal: Deal) -> None:
    for changes in ({"brand": "nobodys"}, {"category": "toys"}):
        with pytest.raises(NoSuchTopic):
            deals.edit(table, deal.deal_id, changes, NOW)

    assert deals.get(table, deal.deal_id) == deal


def test_an_edit_that_changes_nothing_writes_nothing(table: Table, deal: Deal) -> None:
    with watched(table) as wire:
        same = deals.edit(table, deal.deal_id, {"title": deal.title}, NOW)

    assert same == deal
    assert wire.operations == {"GetItem": 1}


def test_a_field_set_to_none_is_removed(table: Table) -> None:
    (deal,) = post(table, [a_deal(coupon_code="SAVE10")])

    deals.edit(table, deal.deal_id, {"coupon_code": None}, NOW)

    assert deals.get(table, deal.deal_id).coupon_code is None
    assert "CouponCode" not in (table.get(keys.deal(deal.deal_id)) or {})


def test_an_edit_leaves_attributes_of_a_newer_release_alone(table: Table, deal: Deal) -> None:
    table.write(update(keys.deal(deal.deal_id), "SET Rating = :five", values={":five": 5}, refused=None))

    deals.edit(table, deal.deal_id, {"title": "Road runner"}, NOW)
    deals.withdraw(table, deal.deal_id, NOW)

    assert (table.get(keys.deal(deal.deal_id)) or {})["Rating"] == 5


def test_an_unknown_deal_is_not_edited(table: Table) -> None:
    absent = a_deal().deal_id

    with pytest.raises(NoSuchDeal):
        deals.edit(table, absent, {"title": "Road runner"}, NOW)

    assert table.get(keys.deal(absent)) is None


def test_a_deal_does_not_grow_beyond_8_kb(table: Table, deal: Deal) -> None:
    with pytest.raises(DealTooLarge):
        deals.edit(table, deal.deal_id, {"description": "x" * 8192}, NOW)

    assert deals.get(table, deal.deal_id) == deal


def test_the_largest_deal_ends_and_is_withdrawn_as_any_other(table: Table) -> None:
    # Their numbers then bring them over the limit.
    ending, withdrawn = (as_large_as_allowed(a_deal(ago(hours=2), ends_at=end)) for end in (ago(minutes=2), None))
    other = a_deal(ago(hours=2), ends_at=ago(minutes=1))
    post(table, [ending, other, withdrawn], ago(hours=1))

    feeds.sweep(table, NOW)
    deals.withdraw(table, withdrawn.deal_id, NOW)

    assert [deal for deal in (ending, other, withdrawn) if is_in_feeds(table, deal)] == []


def test_a_withdrawn_deal_stays_readable_and_withdrawn_since_the_first_time(table: Table) -> None:
    (deal,) = post(table, [a_deal(ago(days=1))])
    deals.withdraw(table, deal.deal_id, ago(hours=1))

    deals.withdraw(table, deal.deal_id, NOW)

    withdrawn = deals.get(table, deal.deal_id)
    assert withdrawn.status(NOW) is Status.WITHDRAWN
    assert withdrawn.withdrawn_at == ago(hours=1)


@pytest.mark.parametrize("ends_at", [ahead(days=2), None], ids=["with an end", "without one"])
def test_an_end_by_hand_is_undone_for_ten_minutes_to_what_it_was(table: Table, ends_at: datetime | None) -> None:
    (deal,) = post(table, [a_deal(ends_at=ends_at)])
    deals.edit(table, deal.deal_id, {"ends_at": NOW}, NOW)
    deals.edit(table, deal.deal_id, {"title": "Road runner"}, NOW)

    with pytest.raises(TooLateToUndo):
        editing.undo(table, deal.deal_id, NOW + editing.WITHIN + timedelta(seconds=1))
    undone = editing.undo(table, deal.deal_id, NOW + editing.WITHIN)

    assert (undone.ends_at, undone.title, listed(table, ALL_DEALS)) == (ends_at, "Road runner", [deal.deal_id])


def test_a_deal_that_ended_by_itself_or_after_another_hand_is_not_brought_back(table: Table) -> None:
    by_itself, prolonged = post(table, [a_deal(ends_at=ago(minutes=1)), a_deal()])
    deals.edit(table, prolonged.deal_id, {"ends_at": ago(minutes=3)}, ago(minutes=3))
    deals.edit(table, prolonged.deal_id, {"ends_at": ago(minutes=1)}, ago(minutes=2))

    for deal in (by_itself, prolonged):
        with pytest.raises(TooLateToUndo):
            editing.undo(table, deal.deal_id, NOW)


def test_a_withdrawn_deal_that_changes_its_brand_is_counted_by_neither(table: Table, deal: Deal) -> None:
    deals.withdraw(table, deal.deal_id, NOW)

    deals.edit(table, deal.deal_id, {"brand": "asics"}, NOW)

    assert feed_counts.counts(table, feed_of(APPLE)) == feed_counts.counts(table, feed_of(ASICS)) == {}
    assert listed(table, ALL_DEALS) == []


def test_a_deal_is_hot_once_and_only_while_it_is_on(table: Table) -> None:
    hot, withdrawn, expired = post(table, [a_deal(), a_deal(ago(days=1)), a_deal(ago(days=2), ends_at=ahead(hours=1))])
    deals.withdraw(table, withdrawn.deal_id, NOW)

    deals.make_hot(table, hot.deal_id, NOW)
    deals.make_hot(table, hot.deal_id, ahead(hours=1))

    assert deals.get(table, hot.deal_id).hot_at == NOW
    for over in (withdrawn, expired):
        with pytest.raises(DealIsOver):
            deals.make_hot(table, over.deal_id, ahead(hours=1))
        assert deals.get(table, over.deal_id).hot_at is None
    with pytest.raises(NoSuchDeal):
        deals.make_hot(table, a_deal().deal_id, NOW)


def test_a_deal_that_two_editors_withdraw_at_once_leaves_its_counts_once(table: Table, deal: Deal) -> None:
    """The second one has read the deal, and reads the counts when the first one has taken it out of them."""
    with before(table, "BatchGetItem", partial(deals.withdraw, table, deal.deal_id, NOW)):
        deals.withdraw(table, deal.deal_id, ahead(minutes=1))

    assert listed(table, ALL_DEALS) == []
    assert [fault for fault in faults(table.everything(), NOW) if fault.rule == invariants.FEEDS] == []
    assert damage.taken() == []


def test_a_deal_that_is_withdrawn_meanwhile_is_not_made_hot(table: Table, deal: Deal) -> None:
    with (
        before(table, "TransactWriteItems", lambda: deals.withdraw(table, deal.deal_id, NOW)),
        pytest.raises(DealIsOver),
    ):
        deals.make_hot(table, deal.deal_id, NOW)

    assert deals.get(table, deal.deal_id).hot_at is None


@pytest.mark.parametrize("damage_done", ["damaged", "removed"])
def test_a_count_that_is_damaged_or_gone_is_named_where_a_deal_leaves_it(
    table: Table, deal: Deal, damage_done: str
) -> None:
    key = keys.periods(ALL_DEALS, deal.created_at.date().isoformat())
    damaged = update(key, "SET #total = :total", names={"#total": TOTAL}, values={":total": "many"}, refused=None)
    table.write(damaged if damage_done == "damaged" else forget(key, because="a hand's"))

    deals.withdraw(table, deal.deal_id, NOW)

    assert damage.taken() == [f"{key['PK']} / {key['SK']}"]
    assert not is_in_feeds(table, deal)
    assert table.get(key, consistent=True) is None


def test_of_two_who_mend_a_deal_at_once_the_later_is_refused(table: Table, deal: Deal) -> None:
    def mend(price: str) -> None:
        editing.mend(table, deal.deal_id, {"price": price}, NOW, by="ed")

    table.write(update(keys.deal(deal.deal_id), "REMOVE Price", refused=NoSuchDeal(deal.deal_id)))
    with before(table, "TransactWriteItems", lambda: mend("10.00")), pytest.raises(EditedMeanwhile):
        mend("20.00")

    assert deals.get(table, deal.deal_id, consistent=True).price == "10.00"


def test_the_sweep_takes_ended_deals_out_of_the_feeds(table: Table) -> None:
    ends = ahead(hours=1)
    ended, stays = post(table, [a_deal(ends_at=ends), a_deal(ago(days=1), ends_at=ends + timedelta(seconds=1))])

    too_early = feeds.sweep(table, ends - timedelta(seconds=1))
    in_time = feeds.sweep(table, ends)

    assert (too_early, in_time) == (0, 1)
    assert not is_in_feeds(table, ended)
    assert feed_counts.counts(table, feed_of(SHOES)) == {"2050-06-14": 1}
    assert [note["DealId"] for note in notes(table)] == [stays.deal_id]


def test_a_sweep_after_days_of_none_catches_up(table: Table) -> None:
    post(table, [a_deal(LAUNCH, ends_at=LAUNCH + timedelta(days=number, hours=1)) for number in range(10)], now=LAUNCH)

    swept = feeds.sweep(table, NOW)

    assert swept == 10
    assert notes(table) == []
    assert feed_counts.counts(table, ALL_DEALS) == {}


def test_a_sweep_of_more_than_it_may_goes_on_the_next_time(table: Table) -> None:
    posted = post(table, [a_deal(ends_at=ahead(days=number % 2, hours=1)) for number in range(5)])
    later = ahead(days=3)

    swept = [feeds.sweep(table, later, most=2) for _ in range(4)]

    assert swept == [2, 2, 1, 0]
    assert not any(is_in_feeds(table, deal) for deal in posted)


def test_a_swept_day_is_not_read_again(table: Table) -> None:
    feeds.sweep(table, NOW)

    with watched(table) as wire:
        feeds.sweep(table, ahead(minutes=1))

    assert wire.operations["Query"] == 1


def test_an_ending_noted_a_moment_after_midnight_is_swept_all_the_same(table: Table) -> None:
    # Decided before midnight, written after it, when a sweep has been past that day.
    before_midnight = datetime(2050, 6, 15, 23, 59, 58, tzinfo=UTC)
    after_midnight = before_midnight + timedelta(seconds=3)
    feeds.sweep(table, after_midnight)
    (deal,) = post(table, [a_deal(ends_at=before_midnight + timedelta(seconds=1))], now=before_midnight)

    feeds.sweep(table, after_midnight + timedelta(minutes=1))

    assert not is_in_feeds(table, deal)


@pytest.mark.parametrize(
    "changes",
    [{"ends_at": ahead(days=2)}, {"ends_at": None}, {"withdrawn_at": NOW}],
    ids=["prolonged", "made endless", "withdrawn"],
)
def test_a_deals_note_follows_its_end(table: Table, changes: dict[str, Any]) -> None:
    (deal,) = post(table, [a_deal(ends_at=ahead(hours=1))])

    edited = deals.edit(table, deal.deal_id, changes, NOW)
    feeds.sweep(table, ahead(hours=2))

    assert deals.get(table, deal.deal_id) == edited
    assert len(notes(table)) == (1 if edited.ends_at and edited.withdrawn_at is None else 0)


def test_a_deal_that_ended_is_listed_again_when_it_is_prolonged(table: Table) -> None:
    (deal,) = post(table, [a_deal(ends_at=ahead(hours=1))])
    feeds.sweep(table, ahead(hours=2))

    deals.edit(table, deal.deal_id, {"ends_at": ahead(days=1)}, ahead(hours=3))
    after = listed(table, ALL_DEALS, now=ahead(hours=3))
    feeds.sweep(table, ahead(days=1))

    assert after == [deal.deal_id]
    assert listed(table, ALL_DEALS, now=ahead(days=1)) == []
    assert feed_counts.counts(table, feed_of(SHOES)) == {}


def test_a_deal_made_to_end_in_the_past_leaves_the_feeds_at_once(table: Table) -> None:
    (deal,) = post(table, [a_deal(ago(days=1))])

    deals.edit(table, deal.deal_id, {"ends_at": ago(hours=1)}, NOW)

    assert feed_counts.counts(table, feed_of(SHOES)) == {}
    assert deals.get(table, deal.deal_id).status(NOW) is Status.EXPIRED
    assert notes(table) == []


def test_a_note_of_a_deal_that_is_gone_is_removed(table: Table) -> None:
    (deal,) = post(table, [a_deal(ends_at=ahead(hours=1))])
    table.write(forget(keys.deal(deal.deal_id), because="by hand"))

    swept = feeds.sweep(table, ahead(hours=2))

    assert swept == 1
    assert notes(table) == []


def test_a_deal_posted_while_the_only_one_of_its_day_is_withdrawn_is_counted(table: Table) -> None:
    earlier, only, posted = a_deal(ago(days=1)), a_deal(ago(minutes=2)), a_deal(ago(minutes=1))
    for deal in (earlier, only):
        deals.create(table, deal, NOW)

    with before(table, "TransactWriteItems", lambda: deals.create(table, posted, NOW)):
        deals.withdraw(table, only.deal_id, NOW)

    found = feeds.read(table, ALL_DEALS, limit=9, now=NOW).items
    assert [deal.deal_id for deal in found] == [posted.deal_id, earlier.deal_id]
    assert [fault for fault in faults(table.everything(), NOW) if not fault.derived] == []


def test_an_edited_price_is_compared_with_yesterdays_for_a_day_and_takes_no_other_request(table: Table) -> None:
    (deal,) = post(table, [a_deal(ago(days=3), price="50.00")])
    morning = NOW.replace(hour=8)

    def dearer(price: str, at: datetime) -> int:
        return deals.edit(table, deal.deal_id, {"price": price}, at).dearer_than_yesterday(at)

    with watched(table) as wire:
        first = dearer("40.00", morning)
    found = [first, dearer("45.00", morning + timedelta(hours=6)), dearer("50.00", morning + timedelta(hours=7))]
    found.append(dearer("38.00", morning + timedelta(days=1)))
    same = deals.edit(table, deal.deal_id, {"title": "Better shoe"}, morning + timedelta(days=1, hours=1))

    assert found == [-1000, -500, 0, -1200]
    assert same.dearer_than_yesterday(morning + timedelta(days=2, seconds=-1)) == -1200
    assert same.dearer_than_yesterday(morning + timedelta(days=2)) == 0
    assert dict(wire.operations) == {"GetItem": 1, "TransactWriteItems": 1}


@pytest.mark.parametrize(
    ("posted", "changes"),
    [
        ({"created_at": ago(hours=23)}, {}),
        ({"created_at": ago(days=3)}, {"currency": "EUR"}),
        ({"created_at": ago(days=3)}, {"link": "https://shop.example/other"}),
        ({"created_at": ago(days=3), "ends_at": ago(days=1)}, {"ends_at": None}),
    ],
    ids=["corrected on the day of posting", "currency", "another product", "on offer again"],
)
def test_a_price_that_had_no_yesterday_is_not_compared(
    table: Table, posted: dict[str, Any], changes: dict[str, Any]
) -> None:
    (deal,) = post(table, [a_deal(**posted)])

    edited = deals.edit(table, deal.deal_id, {"price": "9.00", **changes}, NOW)

    assert edited.price_before is None
    assert edited.dearer_than_yesterday(NOW) == 0
