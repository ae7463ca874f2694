"""Keys of private feeds: they open one inbox, and end with the account's generation."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from features.private_feeds.data import feed_keys, keys
from features.private_feeds.data.feed_keys import NoSuchFeed
from shared.data.members import accounts, sessions, users
from shared.dynamodb.table import Table
from shared.dynamodb.writes import update
from shared.errors import NotSignedIn
from shared.values import identifiers
from tests.support.factories import NOW, account_of, join, leave

ENTROPY = bytes(32)


@pytest.fixture
def key(table: Table) -> str:
    """The key of ana's feed."""
    join(table, "ana")
    return feed_keys.make(table, "ana", account_of("ana"), NOW, ENTROPY)


def change_password(table: Table) -> None:
    accounts.change_password(table, users.get(table, "ana"), "another horse battery")


def test_a_key_opens_the_feed_of_the_member_who_made_it(table: Table, key: str) -> None:
    assert feed_keys.reader(table, key) == feed_keys.Reader("ana", account_of("ana"))
    assert feed_keys.of(table, "ana") == feed_keys.FeedKey(NOW, ended=False)


@pytest.mark.parametrize(
    "change",
    [change_password, lambda table: sessions.end_all(table, "ana")],
    ids=["new password", "sign-out everywhere"],
)
def test_a_key_ends_with_the_generation_of_its_account(table: Table, key: str, change: Callable[[Table], None]) -> None:
    before = users.get(table, "ana").generation
    change(table)

    with pytest.raises(NoSuchFeed):
        feed_keys.reader(table, key)
    assert feed_keys.of(table, "ana") == feed_keys.FeedKey(NOW, ended=True)
    later = NOW + timedelta(minutes=1)
    with pytest.raises(NotSignedIn):  # a session that was ended while it asked
        feed_keys.make(table, "ana", account_of("ana"), later, bytes(32), generation=before)
    another = feed_keys.make(table, "ana", account_of("ana"), later, identifiers.BYTES * b"1")
    assert feed_keys.reader(table, another).username == "ana"
    assert feed_keys.of(table, "ana") == feed_keys.FeedKey(later, ended=False)


def test_a_key_that_names_no_generation_has_ended(table: Table, key: str) -> None:
    for place in (keys.feed_key(identifiers.hashed(key)), keys.feed("ana")):
        table.write(update(place, "REMOVE Generation", refused=NoSuchFeed()))

    with pytest.raises(NoSuchFeed):
        feed_keys.reader(table, key)
    assert feed_keys.of(table, "ana") == feed_keys.FeedKey(NOW, ended=True)


def test_a_key_ends_with_its_account_and_is_made_for_no_other(table: Table, key: str) -> None:
    leave(table)
    join(table, "ana")

    with pytest.raises(NotSignedIn):
        feed_keys.make(table, "ana", "the account before", NOW, ENTROPY)
    with pytest.raises(NoSuchFeed):
        feed_keys.reader(table, key)
    assert feed_keys.of(table, "ana") is None


def test_an_unreadable_note_of_a_key_does_not_keep_its_account(table: Table, key: str) -> None:
    table.write(update(keys.feed("ana"), "REMOVE TokenHash", refused=NoSuchFeed()))

    leave(table)

    assert table.get(keys.feed("ana"), consistent=True) is None
    assert feed_keys.of(table, "ana") is None
