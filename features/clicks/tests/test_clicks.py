"""Clicks: counted once an hour for each network, apart from their deals."""

from __future__ import annotations

from datetime import timedelta

from features.clicks.data import clicks
from shared.data import keys
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from tests.support.factories import NOW
from tests.support.wire import watched


def test_clicks_are_counted_in_a_partition_of_their_own(table: Table, deal: Deal) -> None:
    for _ in range(2):
        clicks.count(table, deal.deal_id)

    assert clicks.of(table, [deal.deal_id]) == {deal.deal_id: 2}
    assert [item["Type"] for item in table.query(keys.deal(deal.deal_id)["PK"])] == ["Deal"]


def test_a_click_is_the_first_once_an_hour_for_each_network_and_deal(table: Table) -> None:
    the_hour = NOW.replace(minute=0, second=0)
    asked = [
        ("one", "192.0.2.7", timedelta()),
        ("one", "192.0.2.7", timedelta(minutes=59, seconds=59)),
        ("one", "192.0.2.8", timedelta()),
        ("two", "192.0.2.7", timedelta()),
        ("one", "192.0.2.7", timedelta(hours=1)),
        ("one", "2001:db8::1", timedelta()),
        ("one", "2001:db8::2", timedelta()),  # the same /64: one customer may have all of it
    ]

    first = [clicks.is_first(table, deal_id, address, the_hour + later) for deal_id, address, later in asked]

    assert first == [True, False, True, True, True, True, False]


def test_the_note_of_a_click_holds_no_address_and_goes_with_its_hour(table: Table) -> None:
    with watched(table) as wire:
        clicks.is_first(table, "one", "192.0.2.7", NOW)

    (note,) = (request.body["Item"] for request in wire.requests)
    assert note["PK"] == note["SK"]
    assert note.keys() == {"PK", "SK", "Type", "ExpiresAt"}
    assert "192.0.2.7" not in str(note)
    assert 0 < int(note["ExpiresAt"]["N"]) - NOW.timestamp() <= 3600
