"""Deals: posting, reading, numbers, sources, warnings and pictures."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.data import keys
from shared.data.catalog import deals, editing, feed_counts, topics
from shared.data.idempotency import Idempotency
from shared.data.members import users
from shared.data.removal import remove_account
from shared.dynamodb.table import Table
from shared.errors import DealExists, DealIsOdd, DealTooLarge, IdempotencyKeyReused, NoSuchDeal, NoSuchTopic
from shared.models.catalog import ALL_DEALS, BRAND, Deal, Status, Topic, feed_of
from shared.values.times import ago as in_words
from tests.support.factories import APPLE, NOW, SHOES, a_deal, ago, ahead, ids, join, listed, post
from tests.support.wire import watched


def test_a_deal_is_read_as_it_was_written(table: Table) -> None:
    deal = a_deal(
        title="Schuhe für 31,90 € 👟",
        image="https://shop.example/1.jpg",
        description="Zwei Zeilen,\nzweite Zeile.",
        coupon_code="SAVE10",
        variant="Navy, 42",
        source_id="shop:1",
        ends_at=ahead(days=1),
    )

    created = deals.create(table, deal, NOW)

    assert created == replace(deal, number=1)
    assert deals.get(table, deal.deal_id) == created


def test_a_deal_bears_its_brands_name_as_an_editor_wrote_it(table: Table) -> None:
    deal = deals.create(table, a_deal(brand="asics", brand_name="asics"), NOW)

    assert deal.brand_name == "ASICS"


def test_a_deal_of_a_brand_with_a_sign_is_filed_under_the_slug_that_1_1_0_gave_it(table: Table) -> None:
    topics.create_brands(table, {"lyle-scott": "Lyle & Scott", "rag-bone": "Rag-Bone"}, NOW)

    made = deals.create(table, a_deal(brand="lyle-and-scott"), NOW)
    moved = deals.edit(table, deals.create(table, a_deal(), NOW).deal_id, {"brand": "lyle-and-scott"}, NOW)

    assert {(deal.brand, deal.brand_name) for deal in (made, moved)} == {("lyle-scott", "Lyle & Scott")}
    with pytest.raises(NoSuchTopic):
        deals.create(table, a_deal(brand="rag-plus-bone"), NOW)


def test_an_unknown_deal_is_not_found(table: Table) -> None:
    for absent in (a_deal().deal_id, "1", "0", "999999999999", "9" * 13, "", "x", "-1", "+1", "١", "1.0", "#", "²"):
        with pytest.raises(NoSuchDeal):
            deals.find(table, absent)


def test_a_number_of_a_refused_deal_is_not_given_to_another(table: Table) -> None:
    deals.create(table, a_deal(source_id="shop:1"), NOW)
    with pytest.raises(DealExists):
        deals.create(table, a_deal(source_id="shop:1"), NOW)

    deal = deals.create(table, a_deal(), NOW)

    assert deals.find(table, str(deal.number)) == deal
    with pytest.raises(NoSuchDeal):
        deals.find(table, "2")


@pytest.mark.parametrize("other_time", [NOW, ago(days=1)], ids=["same time", "another time"])
def test_a_source_makes_one_deal(table: Table, other_time: datetime) -> None:
    first = deals.create(table, a_deal(source_id="shop:1"), NOW)

    with pytest.raises(DealExists):
        deals.create(table, a_deal(other_time, source_id="shop:1"), NOW)

    assert listed(table, ALL_DEALS) == [first.deal_id]
    assert feed_counts.counts(table, feed_of(APPLE)) == {"2050-06-01": 1}


def test_deals_are_found_by_their_sources(table: Table) -> None:
    posted = post(table, [a_deal(source_id=f"shop:{number}") for number in range(3)])

    found = deals.by_source(table, ["shop:0", "shop:2", "shop:9", "shop:0"])

    assert found == {deal.source_id: deal.deal_id for deal in posted if deal.source_id != "shop:1"}


def test_many_deals_are_read_in_the_order_asked_for_a_hundred_at_once(table: Table) -> None:
    posted = post(table, [a_deal(ago(hours=number)) for number in range(5)])
    asked = [posted[3].deal_id, *(a_deal().deal_id for _ in range(120)), posted[0].deal_id, posted[4].deal_id]

    with watched(table) as wire:
        found = deals.get_many(table, asked)

    assert found == [posted[3], posted[0], posted[4]]
    assert (wire.operations, wire.round_trips) == ({"BatchGetItem": 2}, 1)


def test_a_deal_of_an_unknown_brand_or_category_is_refused_and_leaves_nothing(table: Table) -> None:
    for deal, label in (
        (a_deal(brand="nobodys"), "brand"),
        (a_deal(brand="nobodys", withdrawn_at=NOW), "brand"),
        (a_deal(category="toys"), "category"),
    ):
        with pytest.raises(NoSuchTopic) as refusal:
            deals.create(table, deal, NOW)
        with pytest.raises(NoSuchTopic):
            deals.create_many(table, [deal], NOW)
        with pytest.raises(NoSuchDeal):
            deals.get(table, deal.deal_id)
        assert refusal.value.field == label

    assert listed(table, ALL_DEALS) == []
    assert table.get(keys.topic(Topic(BRAND, "nobodys"))) is None


def test_of_several_deals_created_together_all_or_none_are(table: Table) -> None:
    taken = deals.create(table, a_deal(source_id="shop:1"), NOW)
    others = [a_deal() for _ in range(3)]

    with pytest.raises(DealExists):
        deals.create_many(table, [*others, a_deal(ago(days=1), source_id="shop:1")], NOW)

    assert deals.get_many(table, ids(others)) == []
    assert listed(table, ALL_DEALS) == [taken.deal_id]


def test_creating_no_deals_takes_no_request(table: Table) -> None:
    with watched(table) as wire:
        created = deals.create_many(table, [], NOW)

    assert (created, dict(wire.operations)) == ([], {})


def test_one_source_twice_among_deals_created_together_is_refused(table: Table) -> None:
    with pytest.raises(DealExists):
        deals.create_many(table, [a_deal(source_id="shop:1"), a_deal(ago(days=1), source_id="shop:1")], NOW)

    assert listed(table, ALL_DEALS) == []


def test_the_most_deals_that_go_together_go_whatever_they_are(table: Table) -> None:
    # Sources, endings and a partition of its own for each: no transaction of the data layer has more writes.
    far_apart = [
        a_deal(ago(days=40 * number), source_id=f"shop:{number}", ends_at=ahead(days=number + 1))
        for number in range(40)
    ]

    with watched(table) as wire:
        posted = post(table, far_apart)

    assert wire.operations["TransactWriteItems"] == 3
    assert listed(table, ALL_DEALS) == ids(posted)


def test_many_deals_are_created_by_as_few_transactions_as_hold_them_and_numbered_in_their_order(table: Table) -> None:
    alike = [a_deal(ago(days=1), source_id=f"shop:{number}") for number in range(70)]

    with watched(table) as wire:
        created = deals.create_many(table, alike, NOW)

    assert dict(wire.operations) == {"BatchGetItem": 1, "UpdateItem": 1, "TransactWriteItems": 3}
    assert [deal.number for deal in created] == [*range(1, 71)]
    assert len(listed(table, ALL_DEALS)) == 70


def test_a_deal_posted_after_its_end_is_readable_and_listed_nowhere(table: Table) -> None:
    over = deals.create(table, a_deal(ago(days=2), ends_at=ago(days=1)), NOW)
    withdrawn = deals.create(table, a_deal(ago(days=2), withdrawn_at=ago(days=1)), NOW)

    assert deals.get(table, over.deal_id).status(NOW) is Status.EXPIRED
    assert deals.get(table, withdrawn.deal_id).status(NOW) is Status.WITHDRAWN
    assert listed(table, ALL_DEALS) == []
    assert feed_counts.counts(table, feed_of(SHOES)) == {}


def test_a_deal_of_more_than_8_kb_is_refused(table: Table) -> None:
    too_large = a_deal(description="é" * 4096)

    with pytest.raises(DealTooLarge):
        deals.create(table, too_large, NOW)
    with pytest.raises(DealTooLarge):
        deals.create_many(table, [a_deal(), too_large], NOW)

    assert listed(table, ALL_DEALS) == []


REQUEST = {"title": "Trail runner", "price": "31.90"}


def asked_for(**others: str) -> Idempotency:
    fields = {"username": "ed", "client_key": "5f2c", **others}
    return Idempotency(fields["username"], fields["client_key"], REQUEST)


def test_a_request_repeated_with_its_key_makes_one_deal_and_gets_it_as_it_is_now(table: Table) -> None:
    first = deals.create(table, a_deal(source_id="shop:1"), NOW, idempotency=asked_for())
    edited = deals.edit(table, first.deal_id, {"price": "9.00"}, NOW)

    again = deals.create(table, a_deal(source_id="shop:1"), ahead(hours=1), idempotency=asked_for())

    assert again == edited
    assert listed(table, ALL_DEALS) == [first.deal_id]


def test_a_key_used_for_another_request_is_refused(table: Table) -> None:
    deals.create(table, a_deal(), NOW, idempotency=asked_for())
    other = asked_for()._replace(request={**REQUEST, "price": "9.00"})

    with pytest.raises(IdempotencyKeyReused):
        deals.create(table, a_deal(), NOW, idempotency=other)

    assert len(listed(table, ALL_DEALS)) == 1


def test_a_key_is_its_users_own(table: Table) -> None:
    one = deals.create(table, a_deal(), NOW, idempotency=asked_for(username="ed"))

    other = deals.create(table, a_deal(), NOW, idempotency=asked_for(username="flo"))

    assert other.deal_id != one.deal_id


def test_a_key_counts_for_24_hours_whenever_it_is_deleted(table: Table) -> None:
    first = deals.create(table, a_deal(), NOW, idempotency=asked_for())
    last_second = ahead(hours=24) - timedelta(seconds=1)

    within = deals.create(table, a_deal(), last_second, idempotency=asked_for())
    after = deals.create(table, a_deal(), ahead(hours=24), idempotency=asked_for())
    again = deals.create(table, a_deal(), ahead(hours=25), idempotency=asked_for())

    assert within == first
    assert after != first
    assert again == after


def test_a_key_of_a_refused_request_may_be_used_again(table: Table) -> None:
    deals.create(table, a_deal(source_id="shop:1"), NOW)
    with pytest.raises(DealExists):
        deals.create(table, a_deal(source_id="shop:1"), NOW, idempotency=asked_for())

    deal = deals.create(table, a_deal(source_id="shop:2"), NOW, idempotency=asked_for())

    assert (deals.get(table, deal.deal_id), deal.source_id) == (deal, "shop:2")


@pytest.mark.parametrize(
    ("price", "full", "percent"),
    [
        ("31.90", "158.00", 79),
        ("99.99", "100.00", 0),
        ("0.00", "10.00", 100),
        ("20.00", "10.00", 0),
        ("5.00", None, None),
    ],
)
def test_a_discount_never_promises_too_much(price: str, full: str | None, percent: int | None) -> None:
    deal: Deal = a_deal(price=price, list_price=full)

    assert deal.discount_percent == percent


def test_a_deals_periods_are_utcs() -> None:
    late_in_berlin = datetime.fromisoformat("2050-06-01T01:30:00+02:00")

    assert ALL_DEALS.period.start_of(late_in_berlin) == "2050-05-31"
    assert BRAND.period.start_of(late_in_berlin) == "2050-05-01"
    assert BRAND.period.start_of(datetime(2050, 6, 30, 23, 59, 59, tzinfo=UTC)) == "2050-06-01"


@pytest.mark.parametrize(
    ("fields", "odd"),
    [
        ({}, set()),
        ({"list_price": None}, set()),
        ({"ends_at": ahead(seconds=1)}, set()),
        ({"ends_at": NOW}, {"expiresAt"}),
        ({"price": "157.99"}, set()),
        ({"price": "158.00"}, {"price"}),
        ({"price": "1000.00", "ends_at": ago(days=1)}, {"price", "expiresAt"}),
        ({"list_price": "0.00"}, {"price"}),
    ],
)
def test_what_has_ended_or_saves_nothing_is_odd_except_in_history(fields: dict[str, Any], odd: set[str]) -> None:
    assert editing.warnings_of(a_deal(**fields), NOW).keys() == odd
    assert editing.warnings_of(a_deal(ago(minutes=16), **fields), NOW) == {}


def test_an_edit_is_asked_about_what_it_makes_odd_itself(table: Table) -> None:
    (deal,) = post(table, [a_deal(ago(days=9), ends_at=ago(days=1), price="200.00")])

    editing.edit(table, deal.deal_id, {"title": "Road runner", "ends_at": ago(days=1)}, NOW, ())
    for changes in ({"ends_at": ago(days=2)}, {"price": "201.00"}, {"list_price": "150.00"}):
        with pytest.raises(DealIsOdd):
            editing.edit(table, deal.deal_id, changes, NOW, ())

    assert deals.get(table, deal.deal_id).price == "200.00"
    deals.edit(table, deal.deal_id, {"price": "201.00"}, NOW)
    assert deals.get(table, deal.deal_id).price == "201.00"


def test_what_an_editor_has_not_seen_is_asked_about_with_all_else(table: Table, deal: Deal) -> None:
    with pytest.raises(DealIsOdd) as asked:
        editing.edit(table, deal.deal_id, {"price": "200.00", "ends_at": ago(hours=1)}, NOW, ["price"])

    assert asked.value.warnings.keys() == {"expiresAt", "price"}


def test_a_repeated_request_finds_its_deal_also_when_that_has_ended_meanwhile(table: Table) -> None:
    (_,) = post(table, [a_deal()])
    once = Idempotency("account", "key", {"title": "Trail runner"})
    first = editing.create(table, a_deal(ends_at=ahead(minutes=1)), NOW, (), idempotency=once)

    again = editing.create(table, a_deal(ends_at=ahead(minutes=1)), ahead(minutes=2), (), idempotency=once)

    assert again == first


@pytest.mark.parametrize(
    ("when", "words"),
    [
        (NOW, "just now"),
        (ago(seconds=60), "1 minute ago"),
        (ago(minutes=119), "1 hour ago"),
        (ago(days=400), "400 days ago"),
    ],
)
def test_a_past_time_is_shown_in_its_largest_unit(when: datetime, words: str) -> None:
    assert in_words(when, NOW) == words


UPLOAD = "uploads/3F2VM8KqLdHD6qBOm7B4Q0YD0Fs"


@pytest.fixture
def edited(table: Table) -> Deal:
    join(table, "ana")
    users.set_role(table, "ana", "editor")
    (posted,) = post(table, [a_deal()])
    return posted


def remove(table: Table) -> None:
    remove_account(table, users.get(table, "ana", consistent=True), NOW)
