"""Accounts: unique names and addresses, changes, and removal with all that is their owner's."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import permutations
from typing import Any

import pytest

from shared.data import keys, removal
from shared.data.catalog import topics
from shared.data.entity import EVERYTHING_ELSE, Entity, at, in_order_of_removal
from shared.data.members import alerts, follows, messages, sessions, users
from shared.dynamodb import damage
from shared.dynamodb.table import Table
from shared.dynamodb.writes import update
from shared.errors import (
    AccountChanged,
    Busy,
    Conflict,
    EmailTaken,
    NoSuchUser,
    NotSignedIn,
    UsernameTaken,
)
from shared.models.catalog import Deal
from shared.models.members import Limits, User
from shared.values.naming import normalise_email, normalise_username
from tests.support.cases import cases, cases_by_name
from tests.support.engines import DYNOXIDE_ENGINE, MINISTACK, on
from tests.support.factories import APPLE, NOW, a_deal, a_message, a_user, account_of, leave, send
from tests.support.wire import Answer, answered, before, error, watched


def furnish(table: Table, deal: Deal) -> None:
    """An account that has something of each kind, and nothing that holds it."""
    users.create(table, a_user("ana"))
    follows.like(table, APPLE, "ana", NOW)
    follows.watch(table, APPLE, "ana", NOW)
    for give in cases("OWNS"):
        give(table, deal, "ana", NOW)
    alerts.on_price(table, deal, "ana", account_of("ana"), Limits("40.00", "USD"), NOW)
    alerts.on_words(table, "ana", account_of("ana"), Limits(words="trail"), NOW)
    send(table, a_message(a_deal()))
    sessions.start(table, a_user(), NOW, secrets.token_bytes(32))


def belongings(table: Table) -> list[tuple[str, str]]:
    """The keys of all items that name the user."""
    return sorted(
        (item["PK"], item["SK"])
        for item in table.scan()[0]
        if any("ana" in re.split(r"[#@/]", str(value)) for value in item.values())
    )


def test_an_account_goes_with_all_that_is_its_own(table: Table, deal: Deal) -> None:
    furnish(table, deal)

    leave(table)

    assert belongings(table) == []
    assert topics.get(table, APPLE).likes == topics.get(table, APPLE).watchers == 0
    with pytest.raises(NoSuchUser):
        leave(table)


def test_a_busy_account_does_not_keep_the_others_from_being_removed(table: Table, deal: Deal) -> None:
    for name in ("bo", "cy", "dee", "eve"):
        users.create(table, a_user(name))
        send(table, a_message(deal, name))
    for name in ("bo", "cy", "dee", "eve"):
        removal.leave(table, users.get(table, name, consistent=True), NOW)
    table.write(update(keys.user("cy"), "REMOVE Username", refused=NoSuchUser("cy")))

    def of_dee(request: Mapping[str, Any]) -> Answer | None:
        return error("ThrottlingException") if "MESSAGES#dee" in str(request) else None

    failures: damage.Failures = []
    with answered(replace(table, sleep=lambda _: None), "Query", of_dee):
        finished = removal.go_on_with_all(table, failures=failures)

    assert finished == 3
    assert [(name, type(failure)) for name, failure in failures] == [("dee", Busy)]
    assert damage.failed()[0].startswith("dee: Busy: ")
    for name, is_there in {"bo": False, "cy": False, "dee": True, "eve": False}.items():
        assert (table.get(keys.user(name), consistent=True) is not None) == is_there


def test_a_large_account_does_not_keep_the_others_waiting(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(removal, "IN_A_RUN", 2)
    for name in ("ana", "bo"):
        users.create(table, a_user(name))
        for _ in range(9 if name == "ana" else 1):
            send(table, a_message(a_deal(), name))
        removal.leave(table, users.get(table, name, consistent=True), NOW)

    with watched(table) as wire:
        finished = removal.go_on_with_all(table)

    gone = [str(request.body) for request in wire.requests if request.operation == "DeleteItem"]
    assert finished == 2
    assert ["USER#bo" in each for each in gone] == [True, False]


def all_at_once(table: Table, deal: Deal) -> None:
    """All that the owner may still do in another window."""
    deeds: list[Callable[[], object]] = [
        *(partial(give, table, deal, "ana", NOW) for give in cases("OWNS")),
        lambda: follows.unlike(table, APPLE, "ana"),
        lambda: follows.like(table, APPLE, "ana", NOW),
    ]
    for deed in deeds:
        with suppress(NoSuchUser, NotSignedIn, AccountChanged, Conflict):
            deed()


@pytest.mark.thorough  # before each of some sixty requests
@on(DYNOXIDE_ENGINE)
def test_what_another_window_does_while_the_account_is_removed_is_neither_left_nor_does_it_cost_anything(
    table: Table, deal: Deal
) -> None:
    for operation, number in requests_of_a_removal(table, deal):
        with before(table, operation, partial(all_at_once, table, deal), skip=number):
            leave(table)
        assert belongings(table) == [], f"before {operation} {number}"
        assert topics.get(table, APPLE, consistent=True).likes == 0


def requests_of_a_removal(table: Table, deal: Deal) -> Iterator[tuple[str, int]]:
    """Each request of the removal of an account, which is there anew before each of them: its operation and number."""
    furnish(table, deal)
    with watched(table) as wire:
        leave(table)
    for operation, count in wire.operations.items():
        for number in range(count):
            furnish(table, deal)
            yield operation, number


@on(DYNOXIDE_ENGINE)
def test_a_removal_that_was_interrupted_is_finished_by_the_clock(table: Table, deal: Deal) -> None:
    for operation, number in requests_of_a_removal(table, deal):
        with before(table, operation, _fail, skip=number), suppress(SystemExit):
            leave(table)
        with suppress(NoSuchUser):  # the account was removed before it was interrupted
            leave(table)
        removal.go_on_with_all(table)
        assert belongings(table) == [], f"before {operation} {number}"


def _fail() -> None:
    raise SystemExit("killed")


@pytest.mark.thorough  # before each of some sixty requests
@on(DYNOXIDE_ENGINE)
def test_a_late_run_of_a_removal_takes_nothing_from_the_names_next_owner(table: Table, deal: Deal) -> None:
    def next_owner_comes() -> None:
        removal.go_on_with_all(table)
        furnish(table, deal)

    for operation, number in requests_of_a_removal(table, deal):
        had = len(belongings(table))
        with before(table, operation, next_owner_comes, skip=number), suppress(UsernameTaken):
            leave(table)
        if [user.username for user in users.everyone(table)] == ["ana"]:
            assert len(belongings(table)) == had, f"before {operation} {number}"
            leave(table)


def test_a_second_removal_that_is_late_does_not_reach_the_names_next_owner(table: Table) -> None:
    users.create(table, a_user("ana"))
    first = users.get(table, "ana")
    leave(table)
    users.create(table, a_user("ana", account_id="another"))

    with pytest.raises(NoSuchUser):
        removal.remove_account(table, first, NOW)

    assert users.get(table, "ana").account_id == "another"


def test_an_account_whose_email_address_has_just_changed_is_removed_with_the_new_one(table: Table) -> None:
    users.create(table, a_user("ana"))
    ana = users.get(table, "ana")
    users.change_email(table, ana, "new@mail.example")

    removal.remove_account(table, ana, NOW)

    assert belongings(table) == []
    assert table.get(keys.user_email("new@mail.example")) is None


LATE: dict[str, Callable[[Table, Deal, str], object]] = {  # likes and watches are in ``test_follows.py``
    "read all": lambda table, _, account: messages.mark_all_read(table, "ana", NOW, account),
    "rename": lambda table, _, account: users.rename(table, "ana", "Another", account),
    "change email": lambda table, _, account: users.change_email(
        table, a_user("ana", account_id=account), "new@mail.example"
    ),
    "sign out everywhere": lambda table, _, account: sessions.end_all(table, "ana", account),
    **cases_by_name("LATE"),
}


@pytest.mark.parametrize("late", LATE)
def test_a_late_request_of_a_names_last_owner_does_not_reach_the_next(table: Table, deal: Deal, late: str) -> None:
    furnish(table, deal)
    leave(table)
    users.create(table, a_user("ana", account_id="the next"))
    send(table, a_message(a_deal()))
    undone = cases_by_name("UNDOES")
    if late in undone:
        LATE[undone[late]](table, deal, "the next")
    there = table.scan()[0]

    with pytest.raises((NotSignedIn, AccountChanged)):
        LATE[late](table, deal, a_user().account_id)

    assert table.scan()[0] == there


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


def test_an_address_is_changed_to_a_free_one(table: Table, ana: User) -> None:
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


def test_what_a_delivery_left_under_a_free_name_is_not_its_next_owners(table: Table) -> None:
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
    announcement = messages.of_deal(a_deal(), "brand")
    told = [replace(announcement, at=NOW - timedelta(minutes=minute)) for minute in range(5_000)]
    messages.insert(table, [messages.compose(each, "ana") for each in told])

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


def a_row(type_: str, *before_: str, remover: bool = False) -> Entity:
    return Entity(type_, at({"PK": type_, "SK": type_}), owned=True, remover=remover, removed_before=before_)


SOME_ROWS = [
    *(a_row("Basket"), a_row("Letter"), a_row("Note", remover=True), a_row("Stamp", "Letter")),
    a_row("Parcel", EVERYTHING_ELSE, remover=True),
]


def test_items_are_removed_in_the_order_that_their_rows_state_wherever_these_stand() -> None:
    orders = {tuple(row.type for row in in_order_of_removal(rows)) for rows in permutations(SOME_ROWS)}

    assert orders == {("Parcel", "Note", "Basket", "Stamp", "Letter")}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([a_row("Letter", "Stamp"), a_row("Stamp", "Letter")], "Letter, Stamp can be removed first: each waits"),
        ([a_row("Letter", "Stamps")], "Letter items are removed before Stamps items, of which no account has any"),
    ],
)
def test_an_order_of_removal_that_cannot_be_kept_is_refused(rows: list[Entity], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        in_order_of_removal(rows)
