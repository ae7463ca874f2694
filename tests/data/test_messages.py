"""Messages: inboxes, and feeds of one's own."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from shared import settings
from shared.data import keys
from shared.data.members import messages
from shared.dynamodb.table import Table
from shared.dynamodb.writes import update
from shared.errors import InvalidCursor, NoSuchMessage
from shared.models.messages import AboutDeal, Message
from shared.values import links
from tests.support.factories import (
    NOW,
    a_deal,
    a_message,
    ago,
    ahead,
    every_page,
    join,
    send,
)


def tell(table: Table, username: str, number: int, **how_old: float) -> list[Message]:
    """Send a user messages of so many deals, newest first."""
    sent = [a_message(a_deal(ago(minutes=i, **how_old)), username, "brand", NOW) for i in range(number)]
    for message in sent:
        send(table, message)
    return sent


def test_a_message_is_read_as_it_was_sent(table: Table) -> None:
    deal = a_deal(title="Läufer 👟", brand="g-fore", brand_name="G/Fore")
    message = a_message(deal, "ana", "hot", NOW)

    send(table, message)

    assert messages.latest(table, "ana", limit=1, now=NOW).items == (message,)
    alike = links.alike(deal.link, deal.title, deal.brand)
    assert message.about == AboutDeal(deal.deal_id, "Läufer 👟", "g-fore", "G/Fore", "31.90", "USD", alike=alike)
    assert (message.subject, message.unread) == ("Hot: Läufer 👟", True)


@pytest.mark.parametrize("unread", [False, True], ids=["all", "unread"])
def test_messages_are_paged_to_their_end(table: Table, unread: bool) -> None:
    sent = tell(table, "ana", 7)
    tell(table, "anabel", 2)

    pages = every_page(lambda c: messages.latest(table, "ana", limit=3, now=NOW, unread=unread, cursor=c))

    assert [[*page.items] for page in pages] == [sent[:3], sent[3:6], sent[6:]]


def test_a_page_is_full_among_expired_messages(table: Table) -> None:
    for number in range(9):
        when = NOW if number % 3 == 0 else ago(days=91)
        deal = a_deal(ago(minutes=number), title=f"{number}")
        send(table, a_message(deal, "ana", "brand", when))

    pages = every_page(lambda cursor: messages.latest(table, "ana", limit=2, now=NOW, cursor=cursor))

    told = [[message.subject for message in page.items] for page in pages]
    assert told == [["New from Apple: 0", "New from Apple: 3"], ["New from Apple: 6"]]
    assert messages.unread_count(table, "ana", NOW) == 3


def test_a_message_that_arrives_between_two_pages_is_not_in_the_second(table: Table) -> None:
    sent = tell(table, "ana", 4)
    first = messages.latest(table, "ana", limit=2, now=NOW)
    send(table, a_message(a_deal(ahead(minutes=1)), "ana", "brand", NOW))

    second = messages.latest(table, "ana", limit=2, now=NOW, cursor=first.next)

    assert [*first.items, *second.items] == sent


def test_a_cursor_of_another_users_or_of_the_other_list_is_refused(table: Table) -> None:
    tell(table, "ana", 2)
    cursor = messages.latest(table, "ana", limit=1, now=NOW).next

    with pytest.raises(InvalidCursor):
        messages.latest(table, "bo", limit=1, now=NOW, cursor=cursor)
    with pytest.raises(InvalidCursor):
        messages.latest(table, "ana", limit=1, now=NOW, cursor=cursor, unread=True)


def test_marking_read_twice_is_no_trouble_and_keeps_the_first_time(table: Table) -> None:
    (message,) = tell(table, "ana", 1)
    first = messages.mark_read(table, "ana", message.message_id, NOW)

    again = messages.mark_read(table, "ana", message.message_id, ahead(hours=1))

    assert first == again
    assert messages.unread_count(table, "ana", NOW) == 0
    items, _ = table.scan()
    assert [item["ReadAt"] for item in items if item["Type"] == "Message"] == ["2050-06-15T12:00:00Z"]


def test_messages_that_wait_for_their_hour_take_no_place_in_a_count(table: Table) -> None:
    join(table, "ana")
    tell(table, "ana", 5)
    for number in range(120):
        send(table, replace(a_message(a_deal(ago(seconds=number))), shown_at=ahead(hours=9)))

    assert messages.unread_count(table, "ana", NOW, most=100) == 5
    assert messages.unread_count(table, "ana", ahead(hours=9), most=100) == 100


def test_marking_what_is_no_message_is_refused_and_makes_no_phantom(table: Table) -> None:
    (anas,) = tell(table, "ana", 1)
    before = table.scan()[0]

    with pytest.raises(NoSuchMessage):
        messages.mark_read(table, "bo", anas.message_id, NOW)
    for forged in ("", "x", "#", "0" * 28, "../me", "🙂", "\0", "MESSAGE", a_message().message_id):
        with pytest.raises(NoSuchMessage):
            messages.mark_read(table, "ana", forged, NOW)

    assert table.scan()[0] == before


def test_unread_messages_are_counted_as_the_inbox_shows_them(table: Table) -> None:
    """A product's colours at one price, sent on one day for one reason, are one; as far as messages are read."""
    coat = [a_deal(ago(minutes=n), link=f"https://shop.example/coat?variant={n}", title="Coat") for n in range(4)]
    lamps = [a_deal(ago(hours=n + 1), link=f"https://shop.example/lamp-{n}", title=f"Lamp {n}") for n in range(2)]
    cheaper = a_deal(ago(hours=4), link="https://shop.example/coat?variant=4", title="Coat", price="9.00")
    for deal in (*coat, *lamps, cheaper):
        send(table, a_message(deal))
    send(table, a_message(a_deal(ago(days=2), link="https://shop.example/coat", title="Coat")))
    send(table, a_message(a_deal(ago(minutes=9), link="https://shop.example/coat", title="Coat"), kind="hot"))

    assert messages.unread_rows(table, "ana", NOW, most=99) == (6, True)
    assert messages.unread_rows(table, "ana", NOW, most=3) == (1, False)
    assert messages.unread_count(table, "ana", NOW) == 9


def test_a_message_of_the_release_before_stands_alone(table: Table) -> None:
    for minutes in range(2):
        message = a_message(a_deal(ago(minutes=minutes)))
        send(table, message)
        table.write(update(keys.message("ana", message.message_id), "REMOVE Alike", refused=None))

    assert messages.unread_rows(table, "ana", NOW, most=9) == (2, True)


def test_all_unread_messages_are_marked_at_once(table: Table) -> None:
    join(table, "ana")
    sent = tell(table, "ana", 20)
    messages.mark_read(table, "ana", sent[3].message_id, NOW)
    tell(table, "bo", 1)
    assert [messages.unread_count(table, "ana", NOW, most=most) for most in (2, 99, None)] == [2, 19, 19]

    marked = messages.mark_all_read(table, "ana", NOW)

    assert marked == 19
    assert messages.unread_count(table, "ana", NOW) == 0
    assert messages.unread_count(table, "bo", NOW) == 1
    assert messages.mark_all_read(table, "ana", NOW) == 0
    assert not any(message.unread for message in messages.latest(table, "ana", limit=25, now=NOW).items)


def test_an_expired_message_is_neither_listed_nor_marked_nor_counted(table: Table) -> None:
    (message,) = tell(table, "ana", 1)
    expires = NOW + settings.MESSAGE_LIFETIME

    before = messages.unread_count(table, "ana", expires - timedelta(seconds=1))

    assert before == 1
    assert messages.unread_count(table, "ana", expires) == messages.mark_all_read(table, "ana", expires) == 0
    with pytest.raises(NoSuchMessage):
        messages.mark_read(table, "ana", message.message_id, expires)


def test_one_deal_and_one_user_make_one_id_and_other_pairs_others() -> None:
    deal, other = a_deal(), a_deal()

    ids = {a_message(d, user).message_id for d in (deal, other) for user in ("ana", "bo")}

    assert len(ids) == 4
    assert a_message(deal, "ana", "hot", ahead(days=1)).message_id in ids


@pytest.mark.parametrize("minutes", [0, 59, 60])
def test_a_deal_made_hot_within_an_hour_is_the_same_announcement(minutes: int) -> None:
    deal = a_deal(ago(days=1))
    hot = replace(deal, hot_at=deal.created_at + timedelta(minutes=minutes))

    assert a_message(hot, kind="hot").message_id == a_message(deal, kind="brand").message_id


def test_a_deal_made_hot_later_is_announced_again_at_the_top_of_the_inbox(table: Table) -> None:
    old = a_deal(ago(days=30))
    hot = replace(old, hot_at=NOW)
    for message in [a_message(old, "ana", "brand", ago(days=30)), *(a_message(a_deal(ago(days=d))) for d in (1, 2, 3))]:
        send(table, message)

    send(table, a_message(hot, kind="hot"))

    inbox = messages.latest(table, "ana", limit=25, now=NOW).items
    assert len(inbox) == 5
    assert inbox[0].kind == "hot"
