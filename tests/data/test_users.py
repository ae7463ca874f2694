"""Accounts: unique names and addresses, changes, and removal with all that is their owner's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from shared.data import keys, removal
from shared.data.members import announcements, messages, users
from shared.dynamodb.table import Table
from shared.errors import AccountChanged, EmailTaken, NoSuchUser, UsernameTaken
from shared.models.members import User
from shared.values.naming import normalise_email, normalise_username
from tests.support.engines import MINISTACK, on
from tests.support.factories import NOW, a_deal, a_message, a_user, leave, send
from tests.support.wire import watched


@pytest.fixture
def ana(table: Table) -> User:
    return users.create(table, a_user("ana", name="Ana Ñuñez"))


def test_a_name_and_an_address_in_other_letters_are_taken(table: Table, ana: User) -> None:
    for name in (" ANA ", "ａｎａ"):
        with pytest.raises(UsernameTaken):
            users.create(table, a_user(normalise_username(name), email="other@mail.example"))
    with pytest.raises(UsernameTaken):  # told before the address, which is taken, too
        users.create(table, ana)
    with pytest.raises(EmailTaken):
        users.create(table, a_user("bo", email=normalise_email("Ana@Mail.Example")))

    assert table.get(keys.user_email("other@mail.example")) is None
    assert table.get(keys.user("bo")) is None


def test_an_address_is_changed_to_one_that_nobody_has(table: Table, ana: User) -> None:
    bo = users.create(table, a_user("bo"))

    with pytest.raises(EmailTaken):
        users.change_email(table, ana, bo.email)
    changed = users.change_email(table, ana, "new@mail.example")

    assert users.get(table, "ana") == changed == replace(ana, email="new@mail.example")
    users.create(table, a_user("cy", email=ana.email))
    with pytest.raises(EmailTaken):
        users.create(table, a_user("di", email="new@mail.example"))


def test_an_address_that_was_changed_meanwhile_is_not_changed_again(table: Table, ana: User) -> None:
    users.change_email(table, ana, "first@mail.example")

    with pytest.raises(AccountChanged):
        users.change_email(table, ana, "second@mail.example")

    assert users.get(table, "ana").email == "first@mail.example"
    assert table.get(keys.user_email("second@mail.example")) is None


def test_changes_to_an_account_that_is_not_there_make_none(table: Table) -> None:
    changes: list[Callable[[], object]] = [
        lambda: users.rename(table, "nobody", "Nobody"),
        lambda: users.change_password(table, "nobody", "hash"),
        lambda: users.set_role(table, "nobody", "editor"),
        lambda: removal.remove_account(table, a_user("nobody"), NOW),
    ]
    for change in changes:
        with pytest.raises(NoSuchUser):
            change()

    assert table.get(keys.user("nobody")) is None


def test_a_removed_name_and_address_are_free_again(table: Table, ana: User) -> None:
    leave(table)

    users.create(table, ana)

    assert users.get(table, "ana") == ana


def test_what_a_delivery_left_under_a_name_that_nobody_has_is_not_its_next_owners(table: Table) -> None:
    send(table, a_message())
    send(table, a_message(username="bo"))

    users.create(table, a_user("ana"))

    assert messages.latest(table, "ana", limit=25, now=NOW).items == ()
    assert len(messages.latest(table, "bo", limit=25, now=NOW).items) == 1


def test_who_tries_to_sign_up_by_a_taken_name_takes_nothing_from_its_owner(table: Table, ana: User) -> None:
    send(table, a_message())

    with pytest.raises(UsernameTaken):
        users.create(table, a_user("ana", email="other@mail.example"))

    assert len(messages.latest(table, "ana", limit=25, now=NOW).items) == 1


@pytest.mark.thorough
@on(MINISTACK)
def test_an_account_with_five_thousand_messages_marks_and_removes_them_in_few_requests_one_after_another(
    table: Table, ana: User
) -> None:
    announcement = announcements.of_deal(a_deal(), "brand")
    told = [replace(announcement, at=NOW - timedelta(minutes=minute)) for minute in range(5_000)]
    announcements.insert(table, [announcements.compose(each, "ana") for each in told])

    with watched(table) as wire:
        marked = messages.mark_all_read(table, "ana", NOW)
        leave(table)
        removal.go_on_with_all(table)

    assert marked == 5_000
    assert messages.latest(table, "ana", limit=1, now=NOW).items == ()
    assert wire.operations["TransactWriteItems"] == 401  # one removes the account
    assert wire.operations.total() < 500
    # One partition takes no more: side by side they would throttle each other.
    assert {request.thread for request in wire.requests if "Write" in request.operation} == {"MainThread"}
