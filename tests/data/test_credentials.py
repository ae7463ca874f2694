"""The hash of a password: apart from its account, and gone with its owner."""

from __future__ import annotations

import pytest
from argon2 import PasswordHasher

from shared.data import keys
from shared.data.members import accounts, credentials, sessions, users
from shared.dynamodb.table import Table
from shared.errors import AccountChanged, NoSuchUser, WrongPassword
from shared.models.members import Session, User
from shared.values import passwords
from tests.support.factories import NOW, a_user, leave
from tests.support.wire import before, watched

HERE = "192.0.2.1"
PASSWORD = "correct horse battery"
ANOTHER = "another horse battery"


@pytest.fixture(autouse=True)
def _cheap_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "HASHER", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


def sign_up(table: Table) -> User:
    names = {"username": "ana", "email": "ana@mail.example", "name": "Ana"}
    return accounts.sign_up(table, **names, password=PASSWORD, address=HERE, now=NOW)


def sign_in(table: Table, password: str = PASSWORD) -> Session:
    return accounts.sign_in(table, "ana", password, HERE, NOW, bytes(32))[1]


def test_a_users_collection_does_not_hold_the_hash(table: Table) -> None:
    user = sign_up(table)

    collection = list(table.query(keys.user("ana")["PK"]))

    assert user.password_hash
    assert user.password_hash not in str(collection)
    assert users.get(table, "ana").password_hash is None
    assert credentials.of(table, "ana") == user.password_hash


def test_a_session_is_known_without_reading_the_hash(table: Table) -> None:
    token, _ = sessions.start(table, sign_up(table), NOW, bytes(32))

    with watched(table) as wire:
        sessions.authenticate(table, token, NOW)

    session, account = (request.body for request in wire.requests)
    assert session["Key"]["PK"]["S"].startswith(keys.any_like(keys.session("")).rstrip("*"))
    assert account["Key"]["PK"]["S"] == keys.user("ana")["PK"]
    assert set(account["ExpressionAttributeNames"].values()) == {"AccountId", "Generation", "SignOuts", "Role"}


def test_a_removed_account_takes_its_hash_along(table: Table) -> None:
    sign_up(table)

    leave(table)

    assert credentials.of(table, "ana") is None


def test_of_two_who_change_a_password_at_once_one_is_told(table: Table) -> None:
    proved = accounts.prove(table, sign_up(table), PASSWORD, HERE, NOW)

    accounts.change_password(table, proved, ANOTHER)

    with watched(table) as wire, pytest.raises(AccountChanged):
        accounts.change_password(table, proved, "yet another horse battery")
    assert wire.operations["TransactWriteItems"] == 1  # a refusal is told at once, not tried again
    assert sign_in(table, ANOTHER).username == "ana"


def test_a_sign_in_under_way_meets_another_hash_and_ends(table: Table) -> None:
    user = accounts.prove(table, sign_up(table), PASSWORD, HERE, NOW)
    rehashed = credentials.changed("ana", "another-hash", proved=None)  # and the generation stays

    with before(table, "TransactWriteItems", lambda: table.write(rehashed)), pytest.raises(AccountChanged):
        sessions.start(table, user, NOW, bytes(32))


def test_a_name_that_nobody_has_costs_as_many_requests_as_one_that_somebody_has(table: Table) -> None:
    sign_up(table)
    asked = []
    for name in ("ana", "nobody"):
        with watched(table) as wire, pytest.raises(WrongPassword):
            accounts.sign_in(table, name, ANOTHER, HERE, NOW, bytes(32))
        asked.append(wire.operations)

    assert asked[0] == asked[1]


def test_an_account_needs_a_password(table: Table) -> None:
    with pytest.raises(ValueError, match="a password"):
        users.create(table, a_user("bo", password_hash=None))
    with pytest.raises(NoSuchUser):
        users.get(table, "bo")
