"""Sessions by token, their end, and attempts to sign in that are slowed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from shared import settings
from shared.data import keys
from shared.data.members import rate_limits, sessions, users
from shared.dynamodb.table import Table
from shared.dynamodb.writes import update
from shared.errors import AccountChanged, NoSuchSession, NotSignedIn, SlowDown
from shared.values import identifiers
from shared.values.times import to_iso
from tests.support.factories import NOW, a_user, ago, ahead, join, leave
from tests.support.wire import before, watched


@pytest.fixture
def table(table: Table) -> Table:
    """A table with the accounts of those who like and watch."""
    join(table, "ana", "bo", "anabel")
    return table


def entropy(number: int) -> bytes:
    return number.to_bytes(identifiers.BYTES, "big")


def test_a_token_is_256_bits_of_the_callers_randomness() -> None:
    for wrong in (b"", bytes(31), bytes(33)):
        with pytest.raises(ValueError, match="32 bytes"):
            sessions.start(None, a_user(), NOW, wrong)  # type: ignore[arg-type]  # refused before the table is asked


def test_a_session_is_known_by_its_token_only(table: Table) -> None:
    users.set_role(table, "ana", "editor")
    token, session = sessions.start(table, users.get(table, "ana"), NOW, entropy(1))

    assert sessions.authenticate(table, token, NOW) == session
    assert (session.username, session.role, len(token)) == ("ana", "editor", 43)
    for wrong in ("", "x", token[:-1], token + "A", token.swapcase(), "é", "\0"):
        with pytest.raises(NotSignedIn):
            sessions.authenticate(table, wrong, NOW)


def test_a_request_is_authenticated_by_two_consistent_reads(table: Table) -> None:
    token, _ = sessions.start(table, a_user(), NOW, entropy(1))

    with watched(table) as wire:
        sessions.authenticate(table, token, NOW)

    assert [(request.operation, request.body["ConsistentRead"]) for request in wire.requests] == [("GetItem", True)] * 2
    session, account = (request.body for request in wire.requests)
    assert session["Key"]["PK"]["S"].startswith(keys.pattern_of(keys.session("")).rstrip("*"))
    assert account["Key"]["PK"]["S"] == keys.user("ana")["PK"]
    assert set(account["ExpressionAttributeNames"].values()) == {"AccountId", "Generation", "SignOuts", "Role"}


def test_a_session_is_refused_from_the_second_it_expires(table: Table) -> None:
    token, session = sessions.start(table, a_user(), NOW, entropy(1))
    for days in (10, 20):  # it is used meanwhile
        sessions.authenticate(table, token, ahead(days=days))

    within = sessions.authenticate(table, token, session.expires_at - timedelta(seconds=1))

    assert within == replace(session, used_at=ahead(days=20))
    with pytest.raises(NotSignedIn):
        sessions.authenticate(table, token, session.expires_at)


def test_signing_out_twice_is_no_trouble(table: Table) -> None:
    token, _ = sessions.start(table, a_user(), NOW, entropy(1))

    for _ in range(2):
        sessions.end(table, token)

    with pytest.raises(NotSignedIn):
        sessions.authenticate(table, token, NOW)


def test_signing_out_everywhere_ends_sessions_of_one_second_and_no_others_by_one_write(table: Table) -> None:
    anas = [sessions.start(table, a_user("ana"), NOW, entropy(number))[0] for number in range(3)]
    anas.append(sessions.start(table, a_user("ana"), ahead(days=1), entropy(3))[0])
    bos, _ = sessions.start(table, a_user("bo"), NOW, entropy(4))
    anabels, _ = sessions.start(table, a_user("anabel"), NOW, entropy(5))

    with watched(table) as wire:
        sessions.end_all(table, "ana")

    assert wire.operations == {"UpdateItem": 1}
    for token in anas:
        with pytest.raises(NotSignedIn):
            sessions.authenticate(table, token, NOW)
    assert sessions.authenticate(table, bos, NOW).username == "bo"
    assert sessions.authenticate(table, anabels, NOW).username == "anabel"
    again, _ = sessions.start(table, users.get(table, "ana"), NOW, entropy(99))
    assert sessions.authenticate(table, again, NOW).username == "ana"


ENDINGS: dict[str, Callable[[Table], object]] = {
    "signing out everywhere": lambda table: sessions.end_all(table, "ana"),
    "another role": lambda table: users.set_role(table, "ana", "editor"),
    "a new password": lambda table: users.change_password(table, "ana", "another-hash"),
    "the account's removal": leave,
}
every_ending = pytest.mark.parametrize("ending", ENDINGS)


@every_ending
def test_sessions_that_no_index_shows_end_with_the_others(table: Table, ending: str) -> None:
    token, _ = sessions.start(table, a_user("ana"), NOW, entropy(1))
    hidden = keys.session(hashlib.sha256(token.encode()).hexdigest())
    table.write(update(hidden, "REMOVE GSI1PK, GSI1SK", refused=NotSignedIn()))

    ENDINGS[ending](table)

    with pytest.raises(NotSignedIn):
        sessions.authenticate(table, token, NOW)


@every_ending
def test_a_sign_in_under_way_does_not_survive(table: Table, ending: str) -> None:
    ana = users.get(table, "ana")
    started: list[str] = []

    with before(table, "TransactWriteItems", lambda: ENDINGS[ending](table)), suppress(AccountChanged):
        started.append(sessions.start(table, ana, NOW, entropy(1))[0])

    for token in started:
        with pytest.raises(NotSignedIn):
            sessions.authenticate(table, token, NOW)


def test_a_removed_accounts_token_is_not_the_next_owners_of_its_name(table: Table) -> None:
    token, _ = sessions.start(table, a_user("ana"), NOW, entropy(1))
    leave(table)

    users.create(table, a_user("ana", password_hash="another-salt"))

    with pytest.raises(NotSignedIn):
        sessions.authenticate(table, token, NOW)


HERE = "192.0.2.1"
ELSEWHERE = "198.51.100.7"


def test_one_user_may_be_tried_ten_times_from_one_network_in_a_quarter_of_an_hour(table: Table) -> None:
    for _ in range(settings.SIGN_INS_PER_USER):
        rate_limits.begin(table, "ana", HERE, NOW)

    with pytest.raises(SlowDown) as refusal:
        rate_limits.begin(table, "ana", HERE, ahead(minutes=5))

    assert refusal.value.retry_after == 10 * 60
    rate_limits.begin(table, "bo", HERE, NOW)
    rate_limits.begin(table, "ana", HERE, ahead(minutes=15))


def from_anywhere(table: Table, username: str, now: datetime = NOW) -> None:
    """As many attempts as all networks share."""
    for number in range(settings.SIGN_INS_FROM_ANYWHERE):
        rate_limits.begin(table, username, f"203.0.113.{number}", now)


def test_one_user_may_be_tried_a_hundred_times_from_everywhere(table: Table) -> None:
    from_anywhere(table, "ana")

    with pytest.raises(SlowDown):
        rate_limits.begin(table, "ana", HERE, NOW)


@pytest.mark.parametrize(
    ("ask", "most", "others"),
    [
        (rate_limits.signed_in, "SESSIONS_PER_USER", ("ana", ahead(minutes=15))),
        (rate_limits.ask, "TAKEN_PER_NETWORK", (ELSEWHERE, NOW)),
        (rate_limits.sign_up, "SIGN_UPS_PER_NETWORK", (ELSEWHERE, NOW)),
    ],
    ids=["sign-ins that succeed", "names found taken", "sign-ups"],
)
def test_what_one_user_or_network_may_do_in_a_window_is_bounded(
    table: Table,
    monkeypatch: pytest.MonkeyPatch,
    ask: Callable[[Table, str, datetime], object],
    most: str,
    others: tuple[str, datetime],
) -> None:
    monkeypatch.setattr(settings, most, 3)
    who = "ana" if ask is rate_limits.signed_in else HERE
    for _ in range(3):
        ask(table, who, NOW)

    with pytest.raises(SlowDown):
        ask(table, who, NOW)

    ask(table, *others)


def test_an_attempt_that_succeeds_is_taken_back(table: Table) -> None:
    for _ in range(3 * settings.SIGN_INS_PER_USER):
        rate_limits.succeed(table, rate_limits.begin(table, "ana", HERE, NOW))

    for _ in range(settings.SIGN_INS_PER_USER):
        rate_limits.begin(table, "ana", HERE, NOW)

    with pytest.raises(SlowDown):
        rate_limits.begin(table, "ana", HERE, NOW)


@pytest.mark.parametrize(("networks", "width"), [(16, 56), (64, 48)])
def test_the_owner_of_a_wide_ipv6_network_cannot_lock_an_account_out(table: Table, networks: int, width: int) -> None:
    """A customer has 256 networks in a /56, and 65,536 in a /48."""
    for number in range(networks):
        for _ in range(settings.SIGN_INS_PER_USER + 1):
            with suppress(SlowDown):
                rate_limits.begin(table, "ana", f"2001:db8:0:{number if width == 56 else number * 256:x}::1", NOW)

    rate_limits.begin(table, "ana", HERE, NOW)


def test_a_network_that_signed_in_before_is_not_refused_for_what_others_guess(table: Table) -> None:
    for address in (HERE, "2001:db8:0:1::1"):
        rate_limits.remember(table, "ana", address, ago(days=89))
    from_anywhere(table, "ana")

    for address in (HERE, "2001:db8:0:2::2"):  # another /64 of the same /56
        rate_limits.begin(table, "ana", address, NOW)
    with pytest.raises(SlowDown):
        rate_limits.begin(table, "ana", ELSEWHERE, NOW)
    from_anywhere(table, "ana", ahead(days=2))
    with pytest.raises(SlowDown):
        rate_limits.begin(table, "ana", HERE, ahead(days=2))  # it signed in too long ago


def test_a_live_session_is_not_refused_for_what_others_guess(table: Table) -> None:
    from_anywhere(table, "ana")

    for _ in range(settings.SIGN_INS_PER_USER):
        rate_limits.begin(table, "ana", HERE, NOW, signed_in=True)
    with pytest.raises(SlowDown):
        rate_limits.begin(table, "ana", HERE, NOW, signed_in=True)  # which guesses no faster than anyone


def test_no_address_is_kept_of_a_sign_in(table: Table) -> None:
    rate_limits.remember(table, "ana", HERE, NOW)

    (note,) = (item for item in table.scan()[0] if item["Type"] == "Attempts")
    assert not {"ana", HERE} & {word for value in note.values() for word in str(value).split("#")}


ODD = ("", "test-invoke-source-ip", "fe80::1%eth0", "192.0.2.1, 10.0.0.1", "#", "\0")


@pytest.mark.parametrize(
    ("tried_from", "same", "other"),
    [
        (HERE, HERE, ELSEWHERE),
        ("2001:db8:0:1::{:x}", "2001:0db8:0000:0001:ffff:ffff:ffff:ffff", "2001:db8:0:2::1"),
        (f"::ffff:{HERE}", HERE, f"::ffff:{ELSEWHERE}"),  # written as IPv6, it is itself and no network
        *((odd, odd, ELSEWHERE) for odd in ODD),
    ],
)
def test_one_network_may_try_fifty_times_under_any_name(table: Table, tried_from: str, same: str, other: str) -> None:
    for number in range(settings.SIGN_INS_PER_NETWORK):
        rate_limits.begin(table, f"user{number}", tried_from.format(number), NOW)

    with pytest.raises(SlowDown):
        rate_limits.begin(table, "another", same, NOW)

    rate_limits.begin(table, "another", other, NOW)


def test_the_counters_expire_with_their_window(table: Table) -> None:
    rate_limits.begin(table, "ana", HERE, NOW)

    items, _ = table.scan()

    counters = [item for item in items if item["Type"] == "Attempts"]
    assert len(counters) == 3
    assert {item["ExpiresAt"] for item in counters} == {int(ahead(minutes=15).timestamp())}


def used_at(table: Table, token: str) -> str | None:
    item = table.get(keys.session(sessions.id_of(token)), consistent=True)
    return item.get("UsedAt") if item else None


def test_use_is_noted_once_an_hour_by_one_conditional_write(table: Table) -> None:
    token, _ = sessions.start(table, a_user(), NOW, entropy(1))

    with watched(table) as within:
        sessions.authenticate(table, token, ahead(minutes=59))
    with watched(table) as after:
        for minutes in (61, 62, 100):
            sessions.authenticate(table, token, ahead(minutes=minutes))

    assert (within.operations["UpdateItem"], after.operations["UpdateItem"]) == (0, 1)
    assert used_at(table, token) == to_iso(ahead(minutes=61))


def test_a_request_is_answered_though_another_has_noted_the_use_or_the_session_has_ended(table: Table) -> None:
    token, _ = sessions.start(table, a_user(), NOW, entropy(1))

    with before(table, "UpdateItem", lambda: sessions.authenticate(table, token, ahead(hours=3))):
        assert sessions.authenticate(table, token, ahead(hours=2)).username == "ana"
    assert used_at(table, token) == to_iso(ahead(hours=3))
    with before(table, "UpdateItem", lambda: sessions.end(table, token)):
        assert sessions.authenticate(table, token, ahead(hours=5)).username == "ana"

    assert used_at(table, token) is None  # and the note didn't bring it back


def test_a_session_ends_after_two_weeks_without_use(table: Table) -> None:
    idle, _ = sessions.start(table, a_user(), NOW, entropy(1))
    busy, _ = sessions.start(table, a_user(), NOW, entropy(2))

    sessions.authenticate(table, busy, ahead(days=13))

    for token, refused in ((idle, True), (busy, False)):
        with pytest.raises(NotSignedIn) if refused else nullcontext():
            sessions.authenticate(table, token, ahead(days=14))
    assert [each.session_id for each in sessions.of_user(table, users.get(table, "ana"), ahead(days=14))] == [
        sessions.id_of(busy)
    ]


def test_a_session_of_the_release_before_lasts_until_it_expires_and_is_noted_from_its_next_use(table: Table) -> None:
    token, _ = sessions.start(table, a_user(), NOW, entropy(1))
    as_of_1_1_0 = keys.session(sessions.id_of(token))
    table.write(update(as_of_1_1_0, "REMOVE UsedAt, Browser, #network", names={"#network": "Network"}, refused=None))

    listed = sessions.of_user(table, users.get(table, "ana"), ahead(days=20))
    session = sessions.authenticate(table, token, ahead(days=20))

    assert [(each.used_at, each.browser, each.network) for each in listed] == [(None, None, None)]
    assert session.used_at is None
    assert used_at(table, token) == to_iso(ahead(days=20))


def test_a_user_sees_the_valid_sessions_newest_first_and_no_address(table: Table) -> None:
    users.change_password(table, "ana", "another-hash")
    ana = users.get(table, "ana")
    old, _ = sessions.start(table, ana, ago(days=40), entropy(1))
    first, _ = sessions.start(table, ana, NOW, entropy(2), address=HERE, browser="Firefox on Linux")
    second, _ = sessions.start(table, ana, ahead(hours=1), entropy(3), address=ELSEWHERE)
    sessions.start(table, users.get(table, "anabel"), NOW, entropy(4))

    found = sessions.of_user(table, ana, ahead(hours=2))

    assert [(each.session_id, each.browser) for each in found] == [
        (sessions.id_of(second), None),
        (sessions.id_of(first), "Firefox on Linux"),
    ]
    assert [each.network == sessions.network_of(HERE, ana.account_id) for each in found] == [False, True]
    assert HERE not in str(table.scan()[0])
    users.change_password(table, "ana", "a third hash")
    assert sessions.of_user(table, users.get(table, "ana"), ahead(hours=2)) == []
    assert old not in {first, second}


def test_only_its_user_ends_a_session(table: Table) -> None:
    token, session = sessions.start(table, a_user(), NOW, entropy(1))

    for username, session_id in (("bo", session.session_id), ("ana", "0" * 64), ("ana", token), ("ana", "x" * 2000)):
        with pytest.raises(NoSuchSession):
            sessions.end_one(table, username, session_id)
    assert sessions.authenticate(table, token, NOW).username == "ana"
    sessions.end_one(table, "ana", session.session_id)

    with pytest.raises(NotSignedIn):
        sessions.authenticate(table, token, NOW)
