"""A deal keeps what its price is judged by: its product's other offers of the 60 days before it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from shared.data.catalog import deals, offers
from shared.dynamodb.table import Table
from shared.models.catalog import Deal, Status, Verdict
from tests.support.engines import DYNOXIDE_ENGINE, on
from tests.support.factories import NOW, a_deal, ago, indexed, post
from tests.support.wire import before, taken_by, watched

LINK = "https://shop.example/shoe"


def offered(table: Table, *offers_: tuple[int, str]) -> list[Deal]:
    """Offers of one product, each so many days old and at a price, filed the oldest first as the stream brings them."""
    made = post(table, [a_deal(ago(days=days), link=LINK, price=price) for days, price in offers_])
    indexed(table, sorted(made, key=lambda deal: deal.created_at))
    return made


def kept(table: Table, deal: Deal) -> Verdict | None:
    return deals.get(table, deal.deal_id, consistent=True).verdict


def lowest(table: Table, *of: Deal) -> list[bool]:
    return [deals.get(table, deal.deal_id, consistent=True).is_lowest for deal in of]


def change(table: Table, deal: Deal, **fields: object) -> Deal:
    """Edit a deal, and do what the stream does then, twice: it may repeat."""
    old = deals.get(table, deal.deal_id, consistent=True)
    new = deals.edit(table, deal.deal_id, fields, NOW)
    for _ in range(2):
        offers.file(table, old, new)
        offers.judge_anew(table, old, new)
    return new


def test_a_deal_keeps_the_lowest_and_the_usual_price_of_60_days_before_it(table: Table) -> None:
    now_is, before_, *_, oldest = offered(
        table, (0, "70.00"), (10, "88.00"), (20, "93.00"), (30, "60.00"), (61, "9.00")
    )

    assert kept(table, now_is) == Verdict(6000, ago(days=30).date(), (6000, 9300), 8800)
    assert kept(table, before_) == Verdict(900, ago(days=61).date(), (900, 9300), 9300)
    assert kept(table, oldest) is None


def test_an_offer_is_not_compared_with_other_variants_of_its_product(table: Table) -> None:
    """As those of a shop's export, which all have the product's address."""
    red, blue = post(table, [a_deal(ago(minutes=n), link=LINK, price=f"{n + 6}0.00", variant=f"{n}") for n in range(2)])
    again = post(table, [a_deal(ago(days=1), link=LINK, price="80.00", variant="1")])
    indexed(table, [*again, blue, red])
    assert [kept(table, deal) for deal in (red, blue)] == [None, Verdict(8000, ago(days=1).date(), (8000, 8000), 8000)]

    change(table, blue, variant="0")

    assert (kept(table, red), kept(table, blue)) == (Verdict(7000, NOW.date(), (7000, 7000)), None)


def test_the_only_offer_of_a_product_has_no_verdict_and_takes_one_query(table: Table) -> None:
    (deal,) = post(table, [a_deal(link=LINK)])

    with watched(table) as wire:
        offers.follow(table, deal, is_new=True)

    assert dict(wire.operations) == {"Query": 1}
    assert kept(table, deal) is None


def test_a_new_offer_that_is_withdrawn_already_concerns_no_verdict_and_takes_no_request(table: Table) -> None:
    (first,) = offered(table, (1, "88.00"))
    (deal,) = post(table, [a_deal(link=LINK, price="70.00", withdrawn_at=NOW)])
    offers.file(table, None, deal)

    with watched(table) as wire:
        offers.judge_anew(table, None, deal)

    assert not wire.operations
    assert (kept(table, first), kept(table, deal)) == (None, None)


def test_offers_that_ended_in_the_60_days_count_however_long_ago_they_were_posted(table: Table) -> None:
    current, long_over, over = post(
        table,
        [
            a_deal(ago(days=90), link=LINK, price="60.00", ends_at=ago(days=20)),
            a_deal(ago(days=80), link=LINK, price="50.00", ends_at=ago(days=61)),
            a_deal(NOW, link=LINK, price="70.00"),
        ],
    )
    indexed(table, [over, long_over, current])

    assert kept(table, current) == Verdict(6000, ago(days=90).date(), (6000, 6000))

    change(table, over, ends_at=ago(days=61))
    assert kept(table, current) is None


def test_an_offer_that_came_with_its_end_is_history_and_counts(table: Table) -> None:
    (current,) = offered(table, (0, "70.00"))
    (past,) = post(table, [a_deal(ago(days=70), link=LINK, price="80.00", withdrawn_at=ago(days=50))])

    offers.file(table, None, past)
    offers.judge_anew(table, None, past)

    assert lowest(table, current) == [True]


def test_an_offer_that_its_source_withdraws_later_is_history_and_counts_until_it_is_restored(table: Table) -> None:
    current, first = offered(table, (0, "70.00"), (40, "60.00"))

    change(table, first, withdrawn_at=ago(days=20), ends_at=ago(days=20))

    assert kept(table, current) == Verdict(6000, ago(days=40).date(), (6000, 6000))
    assert change(table, first, withdrawn_at=None).status(NOW) is Status.ACTIVE
    change(table, first, withdrawn_at=NOW)
    assert kept(table, current) is None


def test_an_offer_that_is_not_withdrawn_any_more_has_a_verdict_and_counts_again(table: Table) -> None:
    current, first = offered(table, (0, "70.00"), (40, "60.00"))
    for deal in (first, current):
        change(table, deal, withdrawn_at=NOW)

    for deal in (first, current):
        change(table, deal, withdrawn_at=None)

    assert kept(table, current) == Verdict(6000, ago(days=40).date(), (6000, 6000), 6000)


@pytest.mark.parametrize(
    ("offer", "dearer"),
    [
        ({"created_at": ago(days=3), "price": "80.00"}, -1000),
        ({"created_at": ago(days=3), "price": "60.00"}, 1000),
        ({"created_at": ago(days=3), "price": "80.00", "ends_at": ago(hours=20)}, -1000),
        ({"created_at": ago(days=3), "price": "80.00", "ends_at": ago(hours=25)}, 0),
        ({"created_at": ago(hours=1), "price": "80.00"}, 0),
    ],
    ids=["dearer", "cheaper", "ended in the night", "ended before yesterday", "of the same day"],
)
def test_a_new_offer_is_compared_with_the_one_that_was_open_yesterday(
    table: Table, offer: dict[str, Any], dearer: int
) -> None:
    made = post(table, [a_deal(link=LINK, **offer), a_deal(NOW, link=LINK, price="70.00")])
    indexed(table, sorted(made, key=lambda deal: deal.created_at))
    current = deals.get(table, made[0].deal_id, consistent=True)

    assert current.dearer_than_yesterday(NOW + timedelta(hours=23)) == dearer
    assert current.dearer_than_yesterday(NOW + timedelta(hours=24)) == 0


def test_a_new_offer_of_a_product_reads_and_writes_no_deal_but_its_own(table: Table) -> None:
    offered(table, *((days, "88.00") for days in range(1, 9)))
    (deal,) = post(table, [a_deal(link=LINK, price="70.00")])

    with watched(table) as wire:
        offers.file(table, None, deal)
        offers.judge_anew(table, None, deal)

    assert dict(wire.operations) == {"PutItem": 1, "Query": 2, "BatchGetItem": 2, "UpdateItem": 1}
    assert lowest(table, deal) == [True]


@on(DYNOXIDE_ENGINE)  # the others' capacity figures are not DynamoDB's
def test_a_verdict_costs_what_the_documents_say(table: Table) -> None:
    offered(table, (1, "88.00"))
    (first,), (second,) = post(table, [a_deal(link=f"{LINK}/new")]), post(table, [a_deal(link=LINK, price="70.00")])
    for deal in (first, second):
        offers.file(table, None, deal)

    took = taken_by(
        table,
        {
            "a first offer": lambda: offers.judge_anew(table, None, first),
            "another": lambda: offers.judge_anew(table, None, second),
        },
    )

    assert {name: (each.read, each.write) for name, each in took.items()} == {
        "a first offer": (1, 0),
        "another": (4, 4),
    }


def test_later_deals_follow_an_offer_that_is_edited_withdrawn_or_moved_to_another_product(table: Table) -> None:
    current, middle, first = offered(table, (0, "70.00"), (20, "80.00"), (40, "90.00"))
    seen = [lowest(table, current, middle, first)]

    change(table, first, price="50.00")
    seen.append(lowest(table, current, middle, first))
    change(table, first, withdrawn_at=NOW)
    seen.append(lowest(table, current, middle, first))
    change(table, middle, link="https://shop.example/other")
    seen.append(lowest(table, current, middle, first))

    assert seen == [
        [True, True, False],
        [False, False, False],
        [True, False, False],  # nothing is left to compare the middle one with
        [False, False, False],
    ]
    assert [kept(table, deal) for deal in (current, middle)] == [None, None]


def test_the_same_record_again_writes_nothing_and_the_verdict_stays_with_an_edited_title(table: Table) -> None:
    current, first = offered(table, (0, "70.00"), (40, "90.00"))
    judged = kept(table, current)

    with watched(table) as wire:
        offers.follow(table, first)
        offers.follow(table, current)
    change(table, current, title="Better shoe")

    assert "UpdateItem" not in wire.operations
    assert kept(table, current) == judged is not None


def test_the_last_of_two_functions_that_judge_has_seen_the_last_offer(table: Table) -> None:
    current, first = offered(table, (0, "70.00"), (40, "90.00"))
    cheaper = replace(first, price="60.00", version=2)
    table.write(offers.filing(cheaper))

    def withdrawn() -> None:
        table.write(offers.filing(replace(cheaper, withdrawn_at=NOW, version=3)))
        offers.follow(table, first)

    with before(table, "UpdateItem", withdrawn):  # between the read and the write of the first
        offers.follow(table, first)

    assert kept(table, current) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "8800",
        "8800 2026-01-01 1",
        "x 2026-01-01 1 2",
        "1 2026-13-01 1 2",
        "1 2026-01-01 1 2 x",
        "1 2026-01-01 1 2 3 4",
    ],
)
def test_a_verdict_that_cannot_be_read_damages_its_deal(text: str) -> None:
    with pytest.raises(ValueError):
        Verdict.parse(text)


@pytest.mark.parametrize("before", [None, 9900])
def test_a_verdict_is_written_as_it_is_read(before: int | None) -> None:
    verdict = Verdict(8800, NOW.date(), (8800, 9300), before)

    assert Verdict.parse(str(verdict)) == verdict
