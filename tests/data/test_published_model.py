"""Points of "Where the published model falls short", by number, that no other test holds: 2 and 3 are held by
``test_values.py``.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from shared.data.catalog import changes, deals, feeds
from shared.data.catalog.deals import to_item
from shared.data.members import messages, users
from shared.dynamodb.attributes import marshal_item
from shared.dynamodb.table import Table
from shared.errors import AlreadyExists
from shared.models.catalog import ALL_DEALS
from tests.support.factories import NOW, a_deal, a_message, a_user, ago, ahead, ids, send
from tests.support.wire import watched

DATA_MODEL = Path(__file__).resolve().parents[2] / "docs" / "data-model.md"


def test_1_the_first_page_begins_with_the_highest_id_there_can_be(table: Table) -> None:
    last_second = datetime(2050, 6, 15, 23, 59, 59, tzinfo=UTC)
    highest = deals.create(table, a_deal(last_second, entropy=b"\xff" * 16), last_second)
    lowest = deals.create(table, a_deal(datetime(2050, 6, 15, tzinfo=UTC), entropy=b"\x01" * 16), last_second)

    page = feeds.read(table, ALL_DEALS, limit=25, now=last_second)

    assert ids(page.items) == [highest.deal_id, lowest.deal_id]


def test_4_a_list_longer_than_one_answer_is_read_to_its_end(table: Table) -> None:
    for number in range(12):  # 12 times 100 KB: more than the 1 MB of one answer
        deal = a_deal(ago(minutes=number), title="x" * 100_000)
        send(table, a_message(deal, "ana", "brand", NOW))
        users.create(table, a_user(f"user{number}", name="x" * 100_000))

    with watched(table) as wire:
        unread = messages.unread_count(table, "ana", NOW)
        everyone = list(users.everyone(table))

    assert unread == 12
    assert len(everyone) == 12
    assert wire.operations["Query"] > 1
    assert wire.operations["Scan"] > 1


def test_5_two_messages_of_one_second_are_two_and_one_deal_notifies_once(table: Table) -> None:
    one, other = a_deal(), a_deal()
    told = a_message(one, "ana", "brand", NOW)
    send(table, told)
    send(table, a_message(other, "ana", "brand", NOW))
    messages.mark_read(table, "ana", told.message_id, NOW)

    for again in (told, a_message(one, "ana", "category", ahead(days=1))):
        with pytest.raises(AlreadyExists):
            send(table, again)

    kept = messages.latest(table, "ana", limit=25, now=NOW).items
    assert {(message.about, message.unread) for message in kept} == {
        (told.about, False),
        (a_message(other).about, True),
    }


def test_9_reading_all_users_is_split_into_segments_that_can_be_resumed(table: Table) -> None:
    for number in range(20):
        users.create(table, a_user(f"user{number}"))

    found = []
    for segment in range(4):
        start = None
        while True:
            items, start = table.scan(segment=segment, segments=4, start=start, limit=3)
            found += [item["Username"] for item in items if item["Type"] == "User"]
            if start is None:
                break

    assert sorted(found) == sorted(f"user{number}" for number in range(20))


def test_10_the_docs_state_what_a_days_partition_takes() -> None:
    stated = DATA_MODEL.read_text(encoding="utf-8")

    assert "1,000 write units a second" in stated


def test_11_a_removal_by_ttl_triggers_nothing() -> None:
    images = {"OldImage": marshal_item(to_item(a_deal(), NOW)), "ApproximateCreationDateTime": 2_538_992_000.0}
    removal = {"eventName": "REMOVE", "dynamodb": images}
    by_ttl = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}

    ours, ttls = changes.change_of(removal), changes.change_of({**removal, "userIdentity": by_ttl})

    assert ours is not None
    assert ttls is None
