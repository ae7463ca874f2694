"""The numbered points of "Where the published model falls short": none of those defects is here."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from shared.data import keys
from shared.data.catalog import brands, changes, deals, feeds, topics
from shared.data.catalog.deal_items import to_item
from shared.data.members import follows, messages, sessions, users
from shared.dynamodb.attributes import marshal_item
from shared.dynamodb.table import Table
from shared.errors import AlreadyExists, AlreadyLiked, NoSuchMessage, NoSuchTopic, NotSignedIn
from shared.models.catalog import ALL_DEALS, BRAND, Topic
from shared.values import slugs
from tests.support.factories import APPLE, NOW, a_deal, a_message, a_user, ago, ahead, ids, join, post, send
from tests.support.wire import cancelled, failing, watched

DATA_MODEL = Path(__file__).resolve().parents[2] / "docs" / "data-model.md"


def test_1_the_first_page_begins_with_the_highest_id_there_can_be(table: Table) -> None:
    last_second = datetime(2050, 6, 15, 23, 59, 59, tzinfo=UTC)
    highest = deals.create(table, a_deal(last_second, entropy=b"\xff" * 16), last_second)
    lowest = deals.create(table, a_deal(datetime(2050, 6, 15, tzinfo=UTC), entropy=b"\x01" * 16), last_second)

    page = feeds.read(table, ALL_DEALS, limit=25, now=last_second)

    assert ids(page.items) == [highest.deal_id, lowest.deal_id]


def test_2_a_page_is_full_however_long_the_gaps_and_says_when_there_are_no_more(table: Table) -> None:
    posted = post(table, [a_deal(ago(days=300 * number)) for number in range(30)])

    with watched(table) as wire:
        first = feeds.read(table, ALL_DEALS, limit=25, now=NOW)
    second = feeds.read(table, ALL_DEALS, limit=25, now=NOW, cursor=first.next)

    assert ids(first.items) == ids(posted[:25])
    assert ids(second.items) == ids(posted[25:])
    assert second.next is None
    assert wire.round_trips <= 3


def test_3_a_page_starts_where_the_last_one_ended_and_not_today(table: Table) -> None:
    before_midnight, after_midnight = datetime(2050, 6, 14, 23, 59, 59, tzinfo=UTC), datetime(2050, 6, 15, tzinfo=UTC)
    posted = post(table, [a_deal(before_midnight) for _ in range(6)])
    first = feeds.read(table, ALL_DEALS, limit=3, now=before_midnight)
    deals.create(table, a_deal(after_midnight), after_midnight)

    second = feeds.read(table, ALL_DEALS, limit=3, now=after_midnight, cursor=first.next)

    assert ids([*first.items, *second.items]) == ids(posted)
    assert second.next is None


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


def test_5_two_messages_of_one_second_are_two_and_one_deal_tells_once(table: Table) -> None:
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


def test_6_marking_what_is_not_there_makes_no_phantom(table: Table) -> None:
    absent = a_message().message_id

    with pytest.raises(NoSuchMessage):
        messages.mark_read(table, "ana", absent, NOW)

    assert table.get(keys.message("ana", absent)) is None


def test_7_a_transactions_refusals_are_told_apart_and_its_conflicts_retried(table: Table) -> None:
    join(table, "ana")
    with failing(table, "TransactWriteItems", 2, cancelled("None", "TransactionConflict")) as conflicts:
        follows.like(table, APPLE, "ana", NOW)

    with pytest.raises(AlreadyLiked):
        follows.like(table, APPLE, "ana", NOW)
    with pytest.raises(NoSuchTopic):
        follows.like(table, Topic(BRAND, "nobodys"), "ana", NOW)

    assert len(conflicts) == 2
    assert topics.get(table, APPLE).likes == 1


@pytest.mark.parametrize("name", ["G/Fore", "g/fore", "G FORE", "g#fore", "Ｇ／ｆｏｒｅ", "G🏌Fore", " g-fore "])
def test_8_a_name_in_any_letters_is_one_brand_and_forges_no_key(name: str, table: Table) -> None:
    brands.create(table, slugs.slug("G/Fore"), "G/Fore", NOW)

    slug = slugs.slug(name)

    assert slug == "g-fore"
    assert topics.get(table, Topic(BRAND, slug)).name == "G/Fore"


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


def test_11_what_has_expired_is_gone_before_it_is_deleted(table: Table) -> None:
    join(table, "ana")
    token, session = sessions.start(table, a_user(), NOW, bytes(32))
    message = a_message(a_deal(), "ana", "brand", NOW)
    send(table, message)
    later = NOW + messages.LIFETIME

    with pytest.raises(NotSignedIn):
        sessions.authenticate(table, token, session.expires_at)
    with pytest.raises(NoSuchMessage):
        messages.mark_read(table, "ana", message.message_id, later)

    assert messages.latest(table, "ana", limit=25, now=later).items == ()
    assert messages.unread_count(table, "ana", later) == 0


def test_11_a_removal_by_ttl_triggers_nothing() -> None:
    images = {"OldImage": marshal_item(to_item(a_deal(), NOW)), "ApproximateCreationDateTime": 2_538_992_000.0}
    removal = {"eventName": "REMOVE", "dynamodb": images}
    by_ttl = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}

    ours, ttls = changes.change_of(removal), changes.change_of({**removal, "userIdentity": by_ttl})

    assert ours is not None
    assert ttls is None
