"""Existing items are rewritten as this release writes new ones, segment by segment, beside other writers."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from itertools import chain

import pytest

from features.upkeep import runs
from features.upkeep.backfills import run_backfill
from features.upkeep.runs import Run, Step, run_steps
from shared.data import keys
from shared.data.catalog import deals, offers
from shared.data.catalog.deals import is_listed
from shared.dynamodb.attributes import Item
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put, update
from shared.models.catalog import ALL_DEALS, Deal
from shared.values import links
from tests.support.factories import NOW, a_deal, ago, ids, listed, post
from tests.support.wire import watched


@pytest.fixture
def stripped(table: Table, monkeypatch: pytest.MonkeyPatch) -> list[Deal]:
    """Deals as an older release wrote them, without what GSI3 needs; a page of the scan holds a few of them."""
    monkeypatch.setattr(runs, "PAGE", 7)
    posted = post(table, [a_deal(ago(hours=n)) for n in range(12)])
    for deal in posted:
        table.write(update(keys.deal(deal.deal_id), "REMOVE GSI3PK, GSI3SK", refused=None))
    return posted


def items(table: Table, some: list[Deal]) -> list[Item]:
    return table.get_many([keys.deal(deal.deal_id) for deal in some], consistent=True)


def all_segments(table: Table, segments: int = 2) -> list[Step]:
    run = Run("Deal", segments, NOW)
    return [step for number in range(segments) for step in run_backfill(table, run, number, item_type="Deal")]


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
    over = deals.edit(table, over.deal_id, {"ends_at": NOW}, NOW)
    withdrawn = deals.withdraw(table, withdrawn.deal_id, NOW)
    due = [
        offers.to_item(listed, has_ended=False),
        offers.to_item(over, has_ended=True),
        offers.to_item(withdrawn, has_ended=False),
    ]
    bare = {name: value for name, value in due[0].items() if not name.startswith("GSI")}
    for item in (bare, *due[1:]):
        table.write(put(item, because="an older release wrote it"))

    rewritten = backfilled(table, "ProductOffer")

    assert rewritten == 1
    assert table.get_many([keys.primary(item) for item in due]) == due


def backfilled(table: Table, item_type: str) -> int:
    """Backfill a type; returns how many items were rewritten."""
    run = Run(item_type, 2, NOW)
    steps = chain.from_iterable(run_backfill(table, run, number, item_type=item_type) for number in range(2))
    return sum(step.rewritten for step in steps)


def filed(table: Table, item_type: str) -> list[Item]:
    return sorted((item for item in table.everything() if item["Type"] == item_type), key=place)


def place(item: Item) -> tuple[str, str]:
    return item["PK"], item["SK"]


def test_an_offer_whose_place_is_another_by_now_is_taken_out_of_it_once(table: Table) -> None:
    (deal,) = post(table, [a_deal(link="https://shop.example/view.php?id=1")])
    item = offers.to_item(deal, has_ended=False)
    # 1.1.0 filed it under the address without its query, too, in no index.
    page = keys.product_offer(links.product_hash("https://shop.example/view.php"), deal.deal_id)
    bare = {name: value for name, value in item.items() if not name.startswith("GSI")}
    table.write(put(bare | page, because="1.1.0 wrote it"))

    rewritten = [backfilled(table, "ProductOffer") for _ in range(2)]

    assert filed(table, "ProductOffer") == [item]
    assert rewritten == [1, 0]


def test_a_run_that_was_interrupted_goes_on_where_it_stopped_and_loses_nothing(
    table: Table, stripped: list[Deal]
) -> None:
    seen_before = []
    for number in range(2):
        run = run_backfill(table, Run("Deal", 2, NOW), number, item_type="Deal")
        seen_before += [next(run), next(run)]  # and then its process ends, before the third page

    remembered = len(places(table))
    rest = all_segments(table)

    assert remembered == 2
    assert all("GSI3PK" in item for item in items(table, stripped))
    assert sum(step.rewritten for step in [*seen_before, *rest]) == len(stripped)
    # The first page of the first run is not read again.
    whole = sum(step.seen for step in all_segments(table))
    assert sum(step.seen for step in rest) < whole
    assert places(table) == []


@pytest.mark.parametrize("at", [0, 10], ids=["while they begin", "later"])
def test_an_interrupt_ends_each_segment_after_its_page(table: Table, at: int) -> None:
    def steps(number: int) -> Iterator[Step]:
        for page in range(500):
            if (number, page) == (0, at):
                os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
            yield Step(1, 0)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        done, interrupted = run_steps("Stepping", table, 2, steps)
    except KeyboardInterrupt:
        pytest.fail("it came before the run listened")
    finally:
        signal.signal(signal.SIGINT, before)

    assert interrupted
    assert done.seen < 500


def test_a_page_is_repeated_where_the_run_ended_before_it_was_remembered(table: Table, stripped: list[Deal]) -> None:
    run = run_backfill(table, Run("Deal", 1, NOW), 0, item_type="Deal")
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
