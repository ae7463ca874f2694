"""Existing items catch up with a release, though runs are interrupted and editors at work."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import pytest

from cli import backfill, segments
from shared.data import keys
from shared.data.catalog import deals, offers
from shared.data.catalog.deal_items import is_listed
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put, update
from shared.models.catalog import ALL_DEALS, Deal
from tests.support.factories import NOW, a_deal, ago, ids, listed, post
from tests.support.wire import watched


@pytest.fixture
def stripped(table: Table, monkeypatch: pytest.MonkeyPatch) -> list[Deal]:
    """Deals as an older release wrote them, without what GSI3 needs; a page of the scan holds a few of them."""
    monkeypatch.setattr(segments, "PAGE", 7)
    posted = post(table, [a_deal(ago(hours=n)) for n in range(12)])
    for deal in posted:
        table.write(update(keys.deal(deal.deal_id), "REMOVE GSI3PK, GSI3SK", refused=None))
    return posted


def items(table: Table, some: list[Deal]) -> list[Item]:
    return table.get_many([keys.deal(deal.deal_id) for deal in some], consistent=True)


def all_segments(table: Table, segments: int = 2) -> list[segments.Step]:
    return [step for number in range(segments) for step in backfill.run(table, "Deal", number, segments)]


def places(table: Table) -> list[Item]:
    """The table's memory of unfinished runs."""
    return [item for item in table.everything() if item["Type"] == "Backfill"]


def test_every_deal_gets_what_this_release_writes_and_a_repeated_run_rewrites_nothing(
    table: Table, stripped: list[Deal]
) -> None:
    first = all_segments(table)

    with watched(table) as wire:
        again = all_segments(table)

    assert [sum(step.rewritten for step in steps) for steps in (first, again)] == [len(stripped), 0]
    assert all("GSI3PK" in item and item["Version"] == 2 for item in items(table, stripped))
    assert places(table) == []
    assert not [each for each in wire.requests if each.operation == "UpdateItem"]


def test_offers_of_the_release_before_get_their_places_by_price(table: Table) -> None:
    (listed, over, withdrawn) = post(table, [a_deal(ago(hours=n), link=f"https://x.example/{n}") for n in range(3)])
    withdrawn = deals.withdraw(table, withdrawn.deal_id, NOW)
    due = [
        offers.to_item(listed, has_ended=False),
        offers.to_item(over, has_ended=True),
        offers.to_item(withdrawn, has_ended=False),
    ]
    bare = {name: value for name, value in due[0].items() if not name.startswith("GSI")}
    for item in (bare, *due[1:]):
        table.write(put(item, because="an older release wrote it"))

    steps = [step for number in range(2) for step in backfill.run(table, "ProductOffer", number, 2)]

    assert sum(step.rewritten for step in steps) == 1
    assert table.get_many([keys.primary(item) for item in due]) == due


def test_a_run_that_was_interrupted_goes_on_where_it_stopped_and_loses_nothing(
    table: Table, stripped: list[Deal]
) -> None:
    seen_before = []
    for number in range(2):
        run = backfill.run(table, "Deal", number, 2)
        seen_before += [next(run), next(run)]  # and then its process ends, before the third page

    remembered = len(places(table))
    rest = all_segments(table)

    assert remembered == 2
    assert all("GSI3PK" in item for item in items(table, stripped))
    assert sum(step.rewritten for step in [*seen_before, *rest]) == len(stripped)
    # What was looked at in the first run's first page is not looked at again.
    whole = sum(step.seen for step in all_segments(table))
    assert sum(step.seen for step in rest) < whole
    assert places(table) == []


@pytest.mark.parametrize("at", [0, 10], ids=["while they begin", "later"])
def test_an_interrupt_ends_each_segment_after_its_page(table: Table, at: int) -> None:
    def steps(number: int) -> Iterator[segments.Step]:
        for page in range(500):
            if (number, page) == (0, at):
                os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
            yield segments.Step(1, 0)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        done, interrupted = segments.run("Stepping", table, 2, steps)
    except KeyboardInterrupt:
        pytest.fail("it came before the run listened")
    finally:
        signal.signal(signal.SIGINT, before)

    assert interrupted
    assert done.seen < 500


def test_a_page_is_repeated_where_the_run_ended_before_it_was_remembered(table: Table, stripped: list[Deal]) -> None:
    run = backfill.run(table, "Deal", 0, 1)
    first = next(run)

    rest = all_segments(table, segments=1)

    assert rest[0].seen == first.seen
    assert rest[0].rewritten == 0
    assert all("GSI3PK" in item for item in items(table, stripped))


def test_listed_deals_stay_listed_and_others_stay_out(table: Table, stripped: list[Deal]) -> None:
    withdrawn = deals.withdraw(table, stripped[3].deal_id, NOW)
    before = listed(table, ALL_DEALS)

    all_segments(table)

    assert listed(table, ALL_DEALS) == before == [i for i in ids(stripped) if i != withdrawn.deal_id]
    assert [item["DealId"] for item in items(table, stripped) if not is_listed(item)] == [withdrawn.deal_id]


def test_what_another_release_wrote_is_left_as_it_is(table: Table, stripped: list[Deal]) -> None:
    deal = stripped[0]
    table.write(update(keys.deal(deal.deal_id), "SET Newer = :it", values={":it": "kept"}, refused=None))

    all_segments(table)

    (item,) = items(table, [deal])
    assert item["Newer"] == "kept"
    assert "GSI3PK" in item


def test_who_edits_a_deal_meanwhile_wins(table: Table, stripped: list[Deal]) -> None:
    edited: list[Deal] = []

    def edit_first(**_: object) -> None:
        if not edited:
            edited.append(stripped[0])  # before the edit, which writes too
            edited[0] = deals.edit(table, stripped[0].deal_id, {"title": "Better shoe"}, NOW)

    table.client.meta.events.register_first("before-call.dynamodb.UpdateItem", edit_first)
    all_segments(table, segments=1)
    table.client.meta.events.unregister("before-call.dynamodb.UpdateItem", edit_first)

    (item,) = items(table, stripped[:1])
    assert item["Title"] == "Better shoe"
    assert "GSI3PK" in item  # the edit wrote as this release does
    assert item["Version"] == edited[0].version or item["Version"] == edited[0].version + 1


def test_items_of_other_types_are_looked_at_and_left(table: Table) -> None:
    other = {**keys.session("hash"), "Type": "Session", "Version": 1}
    table.write(put(other, because="a test"))

    steps = all_segments(table)

    assert sum(step.seen for step in steps) > 10
    assert table.get(keys.session("hash")) == other
