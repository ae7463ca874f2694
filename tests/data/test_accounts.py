"""Signing up and in, proving and leaving, as the API and the site's pages do it; and where the hash is kept."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import replace
from importlib import import_module

import pytest
from argon2 import PasswordHasher

from shared import settings
from shared.data import keys
from shared.data.members import accounts, messages, rate_limits, sessions, users
from shared.dynamodb.table import Table
from shared.errors import (
    AccountChanged,
    Busy,
    EmailTaken,
    Forbidden,
    NoSuchUser,
    SlowDown,
    UsernameTaken,
    WrongPassword,
)
from shared.models.members import Session, User
from shared.values import passwords
from shared.values.passwords import is_common
from tests.support.engines import MOTO
from tests.support.factories import NOW, a_deal, a_message, a_user, ago, join, leave, send
from tests.support.wire import answered, before, error, watched

HERE = "192.0.2.1"
PASSWORD = "correct horse battery"
ANOTHER_PASSWORD = "another horse battery"
THROTTLED = error("ThrottlingException")
CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@pytest.fixture
def table() -> Iterator[Table]:
    with MOTO.table() as table:
        yield table


@pytest.fixture(autouse=True)
def _cheap_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "HASHER", CHEAP)


def sign_up(table: Table, username: str = "ana", email: str = "") -> User:
    address = email or f"{username}@mail.example"
    names = {"username": username, "email": address, "name": username.title()}
    return accounts.sign_up(table, **names, password=PASSWORD, address=HERE, now=NOW)


def sign_in(table: Table, password: str, username: str = "ana", entropy: bytes = bytes(32)) -> Session:
    return accounts.sign_in(table, username, password, HERE, NOW, entropy)[1]


def test_a_hash_of_old_parameters_is_made_again_when_its_owner_signs_in(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = sign_up(table)
    monkeypatch.setattr(passwords, "HASHER", PasswordHasher(time_cost=2, memory_cost=8, parallelism=1))
    token, _ = sessions.start(table, old, NOW, bytes(32))

    sign_in(table, PASSWORD, entropy=bytes(31) + b"1")

    assert not passwords.is_outdated(sessions.password_hash(table, "ana") or "")
    assert passwords.is_outdated(old.password_hash or "")
    assert sessions.authenticate(table, token, NOW).username == "ana"
    with pytest.raises(WrongPassword):
        sign_in(table, "wrong password")
    with pytest.raises(AccountChanged):
        users.rehash(table, old, "made of a hash that no longer holds")


@pytest.mark.parametrize("what", ["removed", "given another password"])
def test_a_sign_in_beside_a_change_of_the_account_is_one_or_is_refused(table: Table, what: str) -> None:
    def change() -> None:
        if what == "removed":
            leave(table)
        else:
            users.change_password(table, "ana", CHEAP.hash("another password"))

    sign_up(table)
    with watched(table) as wire:
        sign_in(table, PASSWORD)
    for operation, count in wire.operations.items():
        for number in range(count):
            with suppress(NoSuchUser):  # the change may have removed it
                leave(table)
            sign_up(table)
            with before(table, operation, change, skip=number), suppress(WrongPassword):
                sign_in(table, PASSWORD, entropy=secrets.token_bytes(32))


@pytest.mark.parametrize("operation", ["UpdateItem", "TransactWriteItems", "GetItem"])
def test_a_sign_up_that_is_repeated_after_the_table_was_busy_succeeds(table: Table, operation: str) -> None:
    hasty = replace(table, sleep=lambda _: None)
    with watched(table) as wire:
        sign_up(table, "first")
    for number in range(wire.operations[operation]):
        name = f"user{number}"
        through = iter([None] * number)
        with answered(hasty, operation, lambda _, left=through: next(left, THROTTLED)), suppress(Busy):  # type: ignore[misc]
            sign_up(hasty, name)

        again = sign_up(table, name)

        assert (again.username, again.account_id) == (name, users.get(table, name).account_id)
        assert sign_in(table, PASSWORD, name, secrets.token_bytes(32)).account_id == again.account_id


def test_an_account_is_only_its_owners_to_sign_up_again_and_only_while_it_is_new(table: Table) -> None:
    sign_up(table)
    again = {"username": "ana", "email": "ana@mail.example", "name": "Ana", "password": PASSWORD, "address": HERE}

    for other in ({"password": ANOTHER_PASSWORD}, {"email": "b@mail.example"}):
        with pytest.raises(UsernameTaken):
            accounts.sign_up(table, **{**again, **other}, now=NOW)
    with pytest.raises(EmailTaken):
        accounts.sign_up(table, **{**again, "username": "bo"}, now=NOW)
    assert accounts.sign_up(table, **again, now=NOW).username == "ana"
    with pytest.raises(UsernameTaken):
        accounts.sign_up(table, **again, now=NOW + settings.SIGN_IN_WINDOW)


def test_signing_up_again_guesses_a_password_no_faster_than_signing_in(table: Table) -> None:
    sign_up(table)
    names = {"username": "ana", "email": "ana@mail.example", "name": "Ana"}

    for number in range(settings.SIGN_INS_PER_USER):
        with pytest.raises(UsernameTaken):
            accounts.sign_up(table, **names, password=f"guess {number}", address=HERE, now=NOW)

    with pytest.raises(SlowDown):
        accounts.sign_up(table, **names, password=PASSWORD, address=HERE, now=NOW)


def test_messages_left_under_a_name_go_in_the_transaction_of_its_next_account(table: Table) -> None:
    for minutes in range(30):
        send(table, a_message(a_deal(ago(minutes=minutes))))

    sign_up(table)

    assert messages.latest(table, "ana", limit=1, now=NOW).items == ()


def test_a_password_is_the_same_however_a_keyboard_composes_it(table: Table) -> None:
    composed, combining = "crème brûlée!", "cre\u0300me bru\u0302le\u0301e!"
    accounts.sign_up(
        table, username="ana", email="ana@mail.example", name="Ana", password=composed, address=HERE, now=NOW
    )

    user = accounts.prove(table, users.get(table, "ana"), combining, HERE, NOW)
    assert sign_in(table, combining).username == "ana"
    accounts.change_password(table, user, combining.upper())
    assert sign_in(table, composed.upper(), entropy=secrets.token_bytes(32)).username == "ana"


def test_a_new_password_is_known_without_reading_the_account_once_more(table: Table) -> None:
    sessions.end_all(table, sign_up(table).username)
    user = accounts.prove(table, users.get(table, "ana"), PASSWORD, HERE, NOW)

    changed = accounts.change_password(table, user, ANOTHER_PASSWORD)

    assert changed.generation == users.get(table, "ana", consistent=True).generation
    assert changed.password_hash == sessions.password_hash(table, "ana")


def test_asking_which_addresses_exist_is_slowed_for_who_signs_up(table: Table) -> None:
    sign_up(table)
    for number in range(settings.TAKEN_PER_NETWORK):
        with pytest.raises(EmailTaken):
            sign_up(table, f"user{number}", "ana@mail.example")

    with pytest.raises(SlowDown):
        sign_up(table, "another", "ana@mail.example")


def test_asking_which_addresses_exist_is_slowed_for_members(table: Table) -> None:
    ana, bo = sign_up(table), sign_up(table, "bo")
    for number in range(settings.MOVES_PER_USER - 1):
        ana = accounts.change_email(table, ana, f"ana{number}@mail.example", HERE, NOW)
    with pytest.raises(EmailTaken):
        accounts.change_email(table, ana, bo.email, HERE, NOW)

    with pytest.raises(SlowDown):
        accounts.change_email(table, ana, "other@mail.example", "198.51.100.7", NOW)

    assert accounts.change_email(table, ana, ana.email, HERE, NOW) == ana


def test_an_account_is_removed_by_a_session_of_the_last_ten_minutes_only(table: Table) -> None:
    join(table, "ana")
    _, old = sessions.start(table, a_user("ana"), ago(minutes=10, seconds=1), bytes(32))
    _, new = sessions.start(table, a_user("ana"), ago(minutes=10), bytes(31) + b"1")
    _, of_program = sessions.start(table, a_user("ana"), NOW, bytes(31) + b"2", program="Import")

    for refused in (old, of_program):
        with pytest.raises(Forbidden):
            accounts.require_recent(refused, NOW)
    accounts.require_recent(new, NOW)


def test_a_users_collection_does_not_hold_the_hash(table: Table) -> None:
    user = sign_up(table)

    collection = list(table.query(keys.user("ana")["PK"]))

    assert user.password_hash
    assert user.password_hash not in str(collection)
    assert users.get(table, "ana").password_hash is None
    assert sessions.password_hash(table, "ana") == user.password_hash


def test_of_two_who_change_a_password_at_once_one_is_refused(table: Table) -> None:
    proved = accounts.prove(table, sign_up(table), PASSWORD, HERE, NOW)

    accounts.change_password(table, proved, ANOTHER_PASSWORD)

    with watched(table) as wire, pytest.raises(AccountChanged):
        accounts.change_password(table, proved, "yet another horse battery")
    assert wire.operations["TransactWriteItems"] == 1  # a refusal is told at once, not tried again
    assert sign_in(table, ANOTHER_PASSWORD).username == "ana"


def test_a_sign_in_under_way_meets_another_hash_and_ends(table: Table) -> None:
    user = accounts.prove(table, sign_up(table), PASSWORD, HERE, NOW)
    rehashed = sessions.changed_password("ana", "another-hash", proved=None)  # and the generation stays

    with before(table, "TransactWriteItems", lambda: table.write(rehashed)), pytest.raises(AccountChanged):
        sessions.start(table, user, NOW, bytes(32))


@pytest.mark.parametrize("names", [("ana", "nobody"), ("ana@mail.example", "nobody@mail.example")])
def test_an_unknown_name_costs_as_many_requests_as_a_known_one(table: Table, names: tuple[str, str]) -> None:
    sign_up(table)
    asked = []
    for name in names:
        with watched(table) as wire, pytest.raises(WrongPassword):
            sign_in(table, ANOTHER_PASSWORD, name)
        asked.append(wire.operations)

    assert asked[0] == asked[1]


def test_an_email_address_signs_its_account_in_until_the_account_has_another(table: Table) -> None:
    user = sign_up(table)

    assert sign_in(table, PASSWORD, " Ana@Mail.EXAMPLE").username == "ana"

    users.change_email(table, user, "new@mail.example")
    assert sign_in(table, PASSWORD, "new@mail.example", secrets.token_bytes(32)).username == "ana"
    with pytest.raises(WrongPassword):
        sign_in(table, PASSWORD, "ana@mail.example")


@pytest.mark.parametrize("known", [True, False])
def test_an_email_address_may_be_tried_as_often_as_a_name_and_is_counted_apart(table: Table, *, known: bool) -> None:
    if known:
        sign_up(table)
    for _ in range(settings.SIGN_INS_PER_USER):
        rate_limits.begin(table, "ana@mail.example", HERE, NOW)

    with pytest.raises(SlowDown):
        sign_in(table, PASSWORD, "Ana@mail.example")
    with nullcontext() if known else pytest.raises(WrongPassword):  # it shows nobody whose address that is
        sign_in(table, PASSWORD, "ana")


def test_an_account_needs_a_password(table: Table) -> None:
    with pytest.raises(ValueError, match="a password"):
        users.create(table, a_user("bo", password_hash=None))
    with pytest.raises(NoSuchUser):
        users.get(table, "bo")


def test_the_hash_for_unknown_names_has_the_parameters_of_today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()

    assert not passwords.is_outdated(passwords.NOBODYS)


GUESSED_FIRST = """password123 Password123! P@ssw0rd123 passwordpassword qwertyuiop 1234567890 0987654321 0123456789
aaaaaaaaaa abcabcabcabc abcdefghij 1q2w3e4r5t 1qaz2wsx3edc iloveyou2024 welcome2024 dragondragon superman2000
MyPassword1 bigtimedeals football2024 qwerty123456 123qwe123qwe Spring2025! photography1 christopher volleyball1
January2024 zaq12wsxcde3 mercedes123 spongebob1"""


@pytest.mark.parametrize("guessed_first", GUESSED_FIRST.split())
def test_what_is_guessed_first_is_refused(guessed_first: str) -> None:
    assert is_common(guessed_first)


def test_the_most_used_passwords_are_refused() -> None:
    used = import_module("zxcvbn.frequency_lists").FREQUENCY_LISTS["passwords"]

    assert len(used) >= 10_000
    assert [each for each in used if len(each) >= 10 and not is_common(each)] == []


@pytest.mark.parametrize(
    "fine", [PASSWORD, "a new password", "Café au lait", "mauve otter", "kV9#wq2LmZ", "correct-horse", "harbour 927314"]
)
def test_other_passwords_are_taken(fine: str) -> None:
    assert not is_common(fine)
