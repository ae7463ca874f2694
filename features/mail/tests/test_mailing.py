"""The day's mails, their links, and mailed links to a new password; and the keys of mail."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

import pytest

from features.mail import items as mail_keys
from features.mail.data import digests, mailing
from features.mail.data.mailing import DeadLink
from features.mail.models import settings_of
from shared import settings
from shared.data import keys
from shared.data.keys import Item, Text
from shared.data.members import messages, sessions, users
from shared.dynamodb.table import Table
from shared.dynamodb.writes import update
from shared.errors import NotSignedIn
from shared.models.members import User
from tests.support.checks import faults
from tests.support.factories import NOW, a_deal, a_user, join, leave, send

DUE = NOW.replace(minute=0, second=0, microsecond=0)
DAY = timedelta(days=1)


@pytest.fixture
def ana(table: Table) -> User:
    """Ana, who asked for the day's messages a day before they are due."""
    join(table, "ana")
    digests.choose_hour(table, users.get(table, "ana"), DUE.hour, bytes(16), DUE - DAY)
    return users.get(table, "ana")


def tell_hot(table: Table, *announced: datetime) -> list[str]:
    """Send Ana a message of a deal announced at each time; returns their ids."""
    made = [a_deal(at, title=f"Shoe of {at}", link=f"https://shop.example/{at:%d%H%M}") for at in announced]
    told = [messages.compose(messages.of_deal(deal, "hot"), "ana") for deal in made]
    for message in told:
        send(table, message)
    return [message.message_id for message in told]


def mailed(table: Table, user: User, due: datetime) -> tuple[list[str], int]:
    """What a mail that is sent at a time shows, and how many more it says there are."""
    rows, more = digests.news(table, user, due)
    shown = [*chain.from_iterable(rows)]
    digests.note_mailed(table, shown, due)
    return [each.message_id for each in shown], more


def test_a_mail_has_the_unread_messages_since_a_day_before_it_was_asked_for_oldest_first(
    table: Table, ana: User
) -> None:
    _, early, late, read = tell_hot(table, *(DUE - timedelta(hours=hours) for hours in (49, 47, 1, 2)))
    messages.mark_read(table, "ana", read, DUE)

    assert mailed(table, ana, DUE) == ([early, late], 0)


def test_news_announced_before_a_mail_and_delivered_after_it_is_in_the_next(table: Table, ana: User) -> None:
    first = tell_hot(table, DUE - timedelta(hours=1))
    assert mailed(table, ana, DUE) == (first, 0)

    late = tell_hot(table, DUE - timedelta(minutes=3))

    assert mailed(table, ana, DUE + DAY) == (late, 0)
    assert mailed(table, ana, DUE + 2 * DAY) == ([], 0)


def test_messages_of_before_the_hour_are_mailed_although_fifteen_came_after_it(table: Table, ana: User) -> None:
    before = tell_hot(table, *(DUE - timedelta(minutes=number) for number in (3, 2, 1)))
    after = tell_hot(table, *(DUE + timedelta(minutes=number) for number in range(15)))

    assert mailed(table, ana, DUE) == ([*before, *after[:12]], 3)
    assert mailed(table, ana, DUE + DAY) == (after[12:], 0)


def test_colours_of_a_product_are_one_row_of_a_mail_however_many(table: Table, ana: User) -> None:
    for number in range(40):
        deal = a_deal(DUE - timedelta(minutes=50 - number), title="Coat", variant=f"{number}")
        send(table, messages.compose(messages.of_deal(deal, "hot"), "ana"))
    (other,) = tell_hot(table, DUE - timedelta(minutes=1))

    (coats, (lamp,)), more = digests.news(table, ana, DUE)

    assert (len(coats), lamp.message_id, more) == (40, other, 0)


def test_an_account_without_a_first_day_is_mailed_what_came_since_the_mail_before(table: Table, ana: User) -> None:
    table.write(update(keys.user("ana"), "REMOVE DigestSince", refused=None))
    _, late = tell_hot(table, DUE - timedelta(hours=49), DUE - timedelta(hours=25))

    assert mailed(table, users.without_addresses(table, "ana"), DUE) == ([late], 0)


def test_the_first_day_stays_with_another_hour_and_goes_with_the_last(table: Table, ana: User) -> None:
    assert settings_of(ana).digest_since == DUE - 2 * DAY

    digests.choose_hour(table, ana, 9, bytes(16), DUE)
    assert settings_of(users.get(table, "ana")).digest_since == settings_of(ana).digest_since

    digests.choose_hour(table, ana, None, b"", DUE)
    assert settings_of(users.get(table, "ana")).digest_since is None

    digests.choose_hour(table, ana, 9, bytes(16), DUE)
    assert settings_of(users.get(table, "ana")).digest_since == DUE - DAY


@pytest.mark.damages
def test_a_damaged_message_costs_only_itself(table: Table, ana: User) -> None:
    first, damaged, last = tell_hot(table, *(DUE - timedelta(minutes=number) for number in (3, 2, 1)))
    key = keys.message("ana", damaged)
    table.write(update(key, "SET Price = :price", values={":price": "abc"}, refused=None))

    assert mailed(table, ana, DUE) == ([first, last], 0)


def test_a_message_that_goes_while_it_is_mailed_is_not_made_again(table: Table, ana: User) -> None:
    tell_hot(table, DUE - timedelta(minutes=1))
    rows, _ = digests.news(table, ana, DUE)
    leave(table)

    digests.note_mailed(table, [*chain.from_iterable(rows)], DUE)

    assert [*table.query(keys.messages("ana"))] == []


def test_a_claim_is_one_deliverys_and_only_that_one_takes_it_back(table: Table, ana: User) -> None:
    assert digests.claim(table, ana, DUE, "first")
    assert not digests.claim(table, ana, DUE, "second")

    digests.release(table, ana, DUE, "second")
    assert not digests.claim(table, ana, DUE, "third")

    digests.release(table, ana, DUE, "first")
    digests.release(table, ana, DUE, "first")  # its answer was lost
    assert digests.claim(table, ana, DUE, "third")


def test_a_link_that_ends_the_mails_dies_with_the_address_that_it_was_mailed_to(table: Table, ana: User) -> None:
    link = digests.unsubscribing(ana)
    assert digests.subscriber(table, link) == ana

    changed = users.change_email(table, ana, "new@mail.example")

    with pytest.raises(DeadLink):
        digests.subscriber(table, link)
    assert digests.subscriber(table, digests.unsubscribing(changed)).email == "new@mail.example"


def test_a_link_that_ends_the_mails_is_not_that_of_the_names_next_owner(table: Table, ana: User) -> None:
    link = digests.unsubscribing(ana)
    leave(table)
    users.create(table, a_user("ana", account_id="another"))
    digests.choose_hour(table, users.get(table, "ana"), DUE.hour, bytes(16), DUE)  # with the same key

    with pytest.raises(DeadLink):
        digests.subscriber(table, link)


def test_a_message_that_has_expired_is_not_mailed_although_it_is_still_there(table: Table, ana: User) -> None:
    _, kept = tell_hot(table, DUE - timedelta(hours=1), DUE)

    assert mailed(table, ana, DUE + settings.MESSAGE_LIFETIME - timedelta(minutes=30)) == ([kept], 0)


def test_a_session_ends_with_a_mailed_reset(table: Table) -> None:
    join(table, "ana")
    session, _ = sessions.start(table, users.get(table, "ana"), NOW, bytes(32))
    token = mailing.issue_token(table, users.get(table, "ana"), "reset", NOW, bytes(32))

    mailing.reset_password(table, token, "another horse battery", NOW)

    with pytest.raises(NotSignedIn):
        sessions.authenticate(table, session, NOW)


def test_who_reads_the_daily_mail_goes_on_reading_it(table: Table) -> None:
    join(table, "ana")
    digests.choose_hour(table, users.get(table, "ana"), 7, bytes(16), NOW)

    assert faults(table.everything(), NOW) == []

    assert digests.readers(table, 7, "", 9) == ["ana"]


GOLDEN: list[tuple[Callable[..., Any], tuple[Any, ...], Any]] = [
    (mail_keys.digests, (7,), "DIGEST#07"),
    (mail_keys.user_in_digests, ("ana", 7), {"GSI1PK": "DIGEST#07", "GSI1SK": "USER#ana"}),
    (
        mail_keys.digest_receipt,
        ("1f0c", "2026-06-04"),
        dict.fromkeys(("PK", "SK"), "DIGESTRECEIPT#1f0c#2026-06-04"),
    ),
    (mail_keys.email_token, ("9f86d081",), dict.fromkeys(("PK", "SK"), "EMAILTOKEN#9f86d081")),
]


@pytest.mark.parametrize(("key", "values", "spelled"), GOLDEN)
def test_a_key_is_spelled_so(key: Callable[..., Any], values: tuple[Any, ...], spelled: Any) -> None:
    assert key(*values) == spelled


def test_no_key_of_mail_goes_unspelled() -> None:
    written = [key for key in vars(mail_keys).values() if isinstance(key, Item | Text)]

    assert len(written) == len(GOLDEN)
