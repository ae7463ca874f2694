"""The key of a private feed: whose messages it opens, and when it ends."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from shared.data import keys
from shared.data.members import accounts, mailing, sessions, users
from shared.dynamodb.table import Table
from shared.dynamodb.writes import update
from shared.errors import NoSuchFeed, NotSignedIn
from shared.values import identifiers
from tests.support.factories import NOW, account_of, join, leave

ENTROPY = bytes(32)


@pytest.fixture
def key(table: Table) -> str:
    """The key of ana's feed."""
    join(table, "ana")
    return sessions.make_feed_key(table, "ana", account_of("ana"), NOW, ENTROPY)


def reset(table: Table) -> None:
    token = mailing.issue_token(table, users.get(table, "ana"), "reset", NOW, ENTROPY)
    accounts.reset_password(table, token, "another horse battery", NOW)


def change_password(table: Table) -> None:
    accounts.change_password(table, users.get(table, "ana"), "another horse battery")


def test_a_key_opens_the_feed_of_the_member_who_made_it(table: Table, key: str) -> None:
    assert sessions.feed_reader(table, key) == sessions.FeedReader("ana", account_of("ana"))
    assert sessions.feed_key_of(table, "ana") == sessions.FeedKey(NOW, ended=False)


@pytest.mark.parametrize(
    "change",
    [reset, change_password, lambda table: sessions.end_all(table, "ana")],
    ids=["mailed reset", "new password", "sign-out everywhere"],
)
def test_a_key_ends_with_the_generation_of_its_account(table: Table, key: str, change: Callable[[Table], None]) -> None:
    change(table)

    with pytest.raises(NoSuchFeed):
        sessions.feed_reader(table, key)
    assert sessions.feed_key_of(table, "ana") == sessions.FeedKey(NOW, ended=True)
    later = NOW + timedelta(minutes=1)
    another = sessions.make_feed_key(table, "ana", account_of("ana"), later, identifiers.BYTES * b"1")
    assert sessions.feed_reader(table, another).username == "ana"
    assert sessions.feed_key_of(table, "ana") == sessions.FeedKey(later, ended=False)


def test_a_key_that_names_no_generation_has_ended(table: Table, key: str) -> None:
    for place in (keys.feed_key(identifiers.hashed(key)), keys.feed("ana")):
        table.write(update(place, "REMOVE Generation", refused=NoSuchFeed()))

    with pytest.raises(NoSuchFeed):
        sessions.feed_reader(table, key)
    assert sessions.feed_key_of(table, "ana") == sessions.FeedKey(NOW, ended=True)


def test_a_key_ends_with_its_account_and_is_made_for_no_other(table: Table, key: str) -> None:
    leave(table)
    join(table, "ana")

    with pytest.raises(NotSignedIn):
        sessions.make_feed_key(table, "ana", "the account before", NOW, ENTROPY)
    with pytest.raises(NoSuchFeed):
        sessions.feed_reader(table, key)
    assert sessions.feed_key_of(table, "ana") is None
