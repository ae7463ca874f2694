"""Accounts: unique names and addresses, changes, and removal with all that is their owner's."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from shared.data import keys
from shared.data.catalog import topics
from shared.data.members import credentials, fanout, follows, messages, saved, sessions, users
from shared.dynamodb.table import Table
from shared.errors import AccountChanged, EmailTaken, NoSuchUser, NotSignedIn, UsernameTaken
from shared.models.catalog import Topic
from shared.values.usernames import normalise_email, normalise_username
from tests.support.engines import MINISTACK, on
from tests.support.factories import APPLE, NOW, SHOES, a_deal, a_message, a_user, both_kinds, join, send
from tests.support.wire import before, watched


def test_an_account_is_read_as_it_was_written(table: Table) -> None:
    ana = a_user("ana", name="Ana Ñuñez")

    users.create(table, ana)

    assert users.get(table, "ana") == ana


def test_an_unknown_account_is_not_found(table: Table) -> None:
    with pytest.raises(NoSuchUser):
        users.get(table, "nobody")


def test_a_name_and_an_address_in_other_letters_are_taken(table: Table) -> None:
    users.create(table, a_user("ana", email="ana@mail.example"))

    with pytest.raises(UsernameTaken):
        users.create(table, a_user(normalise_username(" ANA "), email="other@mail.example"))
    with pytest.raises(UsernameTaken):
        users.create(table, a_user(normalise_username("ａｎａ"), email="other@mail.example"))
    with pytest.raises(EmailTaken):
        users.create(table, a_user("bo", email=normalise_email("Ana@Mail.Example")))

    assert table.get(keys.user_email("other@mail.example")) is None
    assert table.get(keys.user("bo")) is None


def test_a_taken_name_is_told_before_a_taken_address(table: Table) -> None:
    users.create(table, a_user("ana"))

    with pytest.raises(UsernameTaken):
        users.create(table, a_user("ana"))


def test_an_address_is_changed_to_one_that_nobody_has(table: Table) -> None:
    ana, bo = a_user("ana"), a_user("bo")
    users.create(table, ana)
    users.create(table, bo)

    with pytest.raises(EmailTaken):
        users.change_email(table, ana, bo.email)
    changed = users.change_email(table, ana, "new@mail.example")

    assert users.get(table, "ana") == changed == replace(ana, email="new@mail.example")
    users.create(table, a_user("cy", email=ana.email))
    with pytest.raises(EmailTaken):
        users.create(table, a_user("di", email="new@mail.example"))


def test_an_address_changed_to_itself_stays(table: Table) -> None:
    ana = a_user("ana")
    users.create(table, ana)

    assert users.change_email(table, ana, ana.email) == ana


def test_an_address_that_was_changed_meanwhile_is_not_changed_again(table: Table) -> None:
    ana = a_user("ana")
    users.create(table, ana)
    users.change_email(table, ana, "first@mail.example")

    with pytest.raises(NoSuchUser):
        users.change_email(table, ana, "second@mail.example")

    assert users.get(table, "ana").email == "first@mail.example"
    assert table.get(keys.user_email("second@mail.example")) is None


def test_changes_to_an_account_that_is_not_there_make_none(table: Table) -> None:
    for change in (
        lambda: users.rename(table, "nobody", "Nobody"),
        lambda: users.change_password(table, "nobody", "hash"),
        lambda: users.set_role(table, "nobody", "editor"),
        lambda: users.change_email(table, a_user("nobody"), "new@mail.example"),
        lambda: users.remove(table, a_user("nobody")),
    ):
        with pytest.raises(NoSuchUser):
            change()

    assert table.get(keys.user("nobody")) is None


def test_a_new_password_ends_all_sessions(table: Table) -> None:
    ana = a_user("ana")
    users.create(table, ana)
    token, _ = sessions.start(table, ana, NOW, bytes(32))

    users.change_password(table, "ana", "new-hash")

    assert credentials.of(table, "ana") == "new-hash"
    with pytest.raises(NotSignedIn):
        sessions.authenticate(table, token, NOW)


def test_a_new_editor_is_one_in_the_sessions_that_run(table: Table) -> None:
    ana = a_user("ana")
    users.create(table, ana)
    token, _ = sessions.start(table, ana, NOW, bytes(32))

    users.set_role(table, "ana", "editor")

    assert users.get(table, "ana").role == "editor"
    assert sessions.authenticate(table, token, NOW).role == "editor"


def test_a_removed_account_takes_all_that_is_its_own_and_nothing_else(table: Table) -> None:
    for user in (ana := a_user("ana"), a_user("bo")):
        users.create(table, user)
        for topic in (APPLE, SHOES):
            follows.like(table, topic, user.username, NOW)
            follows.watch(table, topic, user.username, NOW)
        for _ in range(3):
            send(table, a_message(a_deal(), user.username, "brand", NOW))
        saved.save(table, a_deal(), user.username, NOW)
    token, _ = sessions.start(table, ana, NOW, bytes(32))

    users.remove(table, ana)

    with pytest.raises(NoSuchUser):
        users.get(table, "ana")
    with pytest.raises(NotSignedIn):
        sessions.authenticate(table, token, NOW)
    assert messages.latest(table, "ana", limit=25, now=NOW).items == ()
    assert follows.watches(table, "ana") == follows.likes(table, "ana") == []
    assert [(topics.get(table, topic).likes, topics.get(table, topic).watchers) for topic in (APPLE, SHOES)] == [
        (1, 1),
        (1, 1),
    ]
    assert messages.unread_count(table, "bo", NOW) == 3
    rest, _ = table.scan()
    words = {word for item in rest for value in item.values() for word in re.split(r"[#@]", str(value))}
    assert "ana" not in words


def test_a_removed_name_and_address_are_free_again(table: Table) -> None:
    ana = a_user("ana")
    users.create(table, ana)
    users.remove(table, ana)

    users.create(table, ana)

    assert users.get(table, "ana") == ana


def test_everyone_is_every_user_and_nothing_else(table: Table) -> None:
    for number in range(7):
        users.create(table, a_user(f"user{number}"))

    everyone = [user.username for user in users.everyone(table)]

    assert sorted(everyone) == [f"user{number}" for number in range(7)]


@both_kinds
def test_who_likes_and_watches_while_the_account_is_removed_leaves_nothing(table: Table, topic: Topic) -> None:
    ana = a_user("ana")
    users.create(table, ana)
    with watched(table) as wire:
        users.remove(table, ana)
    users.create(table, ana)

    for operation, count in wire.operations.items():
        for number in range(count):
            join(table, "ana")
            with before(table, operation, partial(_follow, table, topic, "ana"), skip=number):
                users.remove(table, a_user("ana"))

            assert follows.likes(table, "ana") == follows.watches(table, "ana") == []
            page = topics.get(table, topic, consistent=True)
            assert (page.likes, page.watchers) == (0, 0), f"before {operation} {number}"


def _follow(table: Table, topic: Topic, username: str) -> None:
    for follow in (follows.like, follows.watch):
        with suppress(NotSignedIn):
            follow(table, topic, username, NOW)


def test_a_removal_that_was_interrupted_is_repeated(table: Table) -> None:
    ana = a_user("ana")
    users.create(table, ana)
    follows.watch(table, APPLE, "ana", NOW)
    token, _ = sessions.start(table, ana, NOW, bytes(32))
    with before(table, "BatchGetItem", _fail), pytest.raises(SystemExit):
        users.remove(table, ana)

    with pytest.raises(NotSignedIn):
        follows.like(table, APPLE, "ana", NOW)
    assert sessions.authenticate(table, token, NOW).username == "ana"
    users.remove(table, ana)

    assert topics.get(table, APPLE).watchers == 0
    with pytest.raises(NotSignedIn):
        sessions.authenticate(table, token, NOW)


def _fail() -> None:
    raise SystemExit("killed")


def test_a_password_kept_under_another_hash_ends_no_session(table: Table) -> None:
    ana = a_user("ana")
    users.create(table, ana)
    token, _ = sessions.start(table, ana, NOW, bytes(32))

    rehashed = users.rehash(table, ana, "better-hash")

    assert users.get(table, "ana") == rehashed
    assert sessions.authenticate(table, token, NOW).username == "ana"
    with pytest.raises(AccountChanged):
        users.rehash(table, ana, "yet-another-hash")


def test_what_a_delivery_left_under_a_name_that_nobody_has_is_not_its_next_owners(table: Table) -> None:
    send(table, a_message())
    send(table, a_message(username="bo"))

    users.create(table, a_user("ana"))

    assert messages.latest(table, "ana", limit=25, now=NOW).items == ()
    assert len(messages.latest(table, "bo", limit=25, now=NOW).items) == 1


def test_who_tries_to_sign_up_by_a_taken_name_takes_nothing_from_its_owner(table: Table) -> None:
    users.create(table, a_user("ana"))
    send(table, a_message())

    with pytest.raises(UsernameTaken):
        users.create(table, a_user("ana", email="other@mail.example"))

    assert len(messages.latest(table, "ana", limit=25, now=NOW).items) == 1


@pytest.mark.thorough
@on(MINISTACK)
def test_an_account_with_five_thousand_messages_marks_and_removes_them_in_few_requests_one_after_another(
    table: Table,
) -> None:
    ana = a_user("ana")
    users.create(table, ana)
    announcement = messages.of_deal(a_deal(), "brand")
    told = [replace(announcement, at=NOW - timedelta(minutes=minute)) for minute in range(5_000)]
    fanout.insert(table, [messages.compose(each, "ana", NOW) for each in told])

    with watched(table) as wire:
        marked = messages.mark_all_read(table, "ana", NOW)
        users.remove(table, ana)

    assert marked == 5_000
    assert messages.latest(table, "ana", limit=1, now=NOW).items == ()
    assert wire.operations["TransactWriteItems"] == 201  # the last one deletes the account
    assert wire.operations["BatchWriteItem"] == 200
    assert wire.operations.total() < 450
    # One partition takes no more: side by side they would throttle each other.
    assert {request.thread for request in wire.requests if "Write" in request.operation} == {"MainThread"}
