"""DynamoDB's answers on a bad day: conflicts, throttling, half an answer, nothing at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from shared.data import keys
from shared.data.catalog import deals, feeds, topics
from shared.data.members import follows, messages, rate_limits, sessions
from shared.dynamodb.aws_errors import MAX_ATTEMPTS
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put_new
from shared.errors import AlreadyLiked, Busy, DealsError, Impossible, NoAnswer, NoSuchTopic, TooLarge, Unavailable
from shared.models.catalog import ALL_DEALS
from tests.support.factories import APPLE, NOW, a_deal, a_message, ago, ids, join, post, send
from tests.support.wire import Answer, answered, cancelled, error, failing, hooked, watched


@pytest.fixture
def table(table: Table) -> Table:
    """A table with the accounts of those who like and watch."""
    join(table, "ana")
    return table


pytestmark = pytest.mark.faults

CONFLICT = cancelled("None", "TransactionConflict")
THROTTLED = error("ThrottlingException")


@pytest.fixture
def slept() -> list[float]:
    """How long the table waited, in seconds."""
    return []


@pytest.fixture
def patient(table: Table, slept: list[float]) -> Table:
    """A table that notes how long it would wait, as long as it may, instead of waiting."""
    return replace(table, sleep=slept.append, jitter=lambda: 1.0)


def test_a_conflict_is_retried_after_waits_of_twice_the_last_up_to_a_second(patient: Table, slept: list[float]) -> None:
    with failing(patient, "TransactWriteItems", 8, CONFLICT) as conflicts:
        follows.like(patient, APPLE, "ana", NOW)

    assert len(conflicts) == 8
    assert topics.get(patient, APPLE).likes == 1
    assert slept == [0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.0, 1.0]


def test_a_wait_is_a_random_part_of_the_longest(table: Table, slept: list[float]) -> None:
    jitters = iter([0.0, 0.5, 0.9])
    jittery = replace(table, sleep=slept.append, jitter=lambda: next(jitters))

    with failing(jittery, "TransactWriteItems", 3, CONFLICT):
        follows.like(jittery, APPLE, "ana", NOW)

    assert slept == pytest.approx([0.0, 0.025, 0.09])


def test_conflicts_without_end_are_busy_and_nothing_is_written(patient: Table) -> None:
    with failing(patient, "TransactWriteItems", 1000, CONFLICT) as conflicts, pytest.raises(Busy):
        follows.like(patient, APPLE, "ana", NOW)

    assert len(conflicts) == MAX_ATTEMPTS
    assert topics.get(patient, APPLE).likes == 0
    assert patient.get(keys.like(APPLE, "ana")) is None


@pytest.mark.parametrize("temporary", [Busy("made up"), NoAnswer("made up")])
def test_no_refusal_is_of_a_kind_that_is_tried_again(temporary: DealsError) -> None:
    with pytest.raises(TypeError, match="tried again"):
        put_new(keys.deal("none"), refused=temporary)


TEMPORARY = [
    CONFLICT, cancelled("ThrottlingError", "ProvisionedThroughputExceeded"), THROTTLED,
    error("TransactionInProgressException"), error("RequestLimitExceeded"), error("InternalServerError"),
]  # fmt: skip


def test_a_transaction_that_meets_trouble_is_retried(patient: Table) -> None:
    for answer in TEMPORARY:
        with failing(patient, "TransactWriteItems", 2, answer) as failed:
            follows.like(patient, APPLE, "ana", NOW)
        assert (len(failed), topics.get(patient, APPLE).likes) == (2, 1)
        follows.unlike(patient, APPLE, "ana")


LASTING: list[tuple[Answer, type[DealsError]]] = [
    (cancelled("ConditionalCheckFailed", "None"), AlreadyLiked),
    (cancelled("None", "ConditionalCheckFailed"), NoSuchTopic),
    (cancelled("ConditionalCheckFailed", "TransactionConflict"), AlreadyLiked),
    (error("ValidationException"), Impossible),
    (cancelled("ValidationError", "None"), Impossible),
    (cancelled("TransactionConflict", "ValidationError"), Impossible),
    (error("TransactionCanceledException"), Unavailable),
    (error("ResourceNotFoundException"), Unavailable),
    (error("AccessDeniedException"), Unavailable),
    (error("UnrecognizedClientException"), Unavailable),
    (error("ExpiredTokenException"), Unavailable),
]
"""Answers to the two writes of a like that no repetition changes, and their meanings."""


@pytest.mark.parametrize(("answer", "meaning"), LASTING)
def test_what_lasts_is_not_tried_again_and_means_an_error_of_its_own(
    patient: Table, answer: Answer, meaning: type[DealsError]
) -> None:
    with failing(patient, "TransactWriteItems", 1, answer) as seen, pytest.raises(meaning) as raised:
        follows.like(patient, APPLE, "ana", NOW)

    assert type(raised.value) is meaning
    assert len(seen) == 1
    assert topics.get(patient, APPLE).likes == 0


def test_an_item_that_would_be_too_large_is_said_to_be(patient: Table) -> None:
    too_large = error("ValidationException", message="Item size to update has exceeded the maximum allowed size")

    with failing(patient, "UpdateItem", 1, too_large) as seen, pytest.raises(TooLarge):
        rate_limits.begin(patient, "ana", "192.0.2.1", NOW)

    assert len(seen) == 1


def test_a_single_write_that_meets_trouble_is_retried_and_then_busy(patient: Table) -> None:
    message = a_message(a_deal(), "ana", "brand", NOW)
    trouble = [THROTTLED, error("TransactionConflictException")]

    with answered(patient, "PutItem", lambda _: trouble.pop() if trouble else None):
        send(patient, message)
    with failing(patient, "UpdateItem", 1000, THROTTLED) as seen, pytest.raises(Busy):
        messages.mark_read(patient, "ana", message.message_id, NOW)

    assert len(seen) == MAX_ATTEMPTS
    assert messages.unread_count(patient, "ana", NOW) == 1


READS: list[tuple[str, Callable[[Table], Any]]] = [
    ("GetItem", lambda table: topics.get(table, APPLE)),
    ("GetItem", lambda table: sessions.authenticate(table, "token", NOW)),
    ("Query", lambda table: messages.latest(table, "ana", limit=25, now=NOW)),
    ("BatchGetItem", lambda table: topics.get_many(table, [APPLE])),
    ("Scan", lambda table: table.scan()),
]


@pytest.mark.parametrize(("operation", "read"), READS, ids=["get", "authenticate", "query", "batch", "scan"])
def test_a_read_that_fails_is_unavailable_and_a_throttled_one_busy(
    patient: Table, operation: str, read: Callable[[Table], Any]
) -> None:
    with failing(patient, operation, 1, error("ResourceNotFoundException")), pytest.raises(Unavailable):
        read(patient)
    with failing(patient, operation, 1000, THROTTLED) as seen, pytest.raises(Busy):
        read(patient)
    assert len(seen) == MAX_ATTEMPTS


def test_a_feed_that_is_throttled_in_one_of_its_partitions_is_busy_and_not_short(patient: Table) -> None:
    post(patient, [a_deal(ago(days=number)) for number in range(6)])

    def of_yesterday(asked: dict[str, Any]) -> Answer | None:
        return THROTTLED if "2050-06-14" in asked["ExpressionAttributeValues"][":partition"]["S"] else None

    with answered(patient, "Query", of_yesterday), pytest.raises(Busy):
        feeds.read(patient, ALL_DEALS, limit=25, now=NOW)


def test_keys_left_unprocessed_are_asked_for_again(patient: Table) -> None:
    posted = post(patient, [a_deal() for _ in range(7)])

    with half_done(patient, "BatchGetItem", "UnprocessedKeys"), watched(patient) as wire:
        found = deals.get_many(patient, ids(posted))

    assert found == posted
    assert wire.operations["BatchGetItem"] == 3  # of 7 keys, 3 are left, and then 1


def test_keys_that_stay_unprocessed_are_busy_and_not_absent(patient: Table) -> None:
    posted = post(patient, [a_deal() for _ in range(2)])

    def none_of_them(asked: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        return 200, {"Responses": {}, "UnprocessedKeys": asked["RequestItems"]}

    with answered(patient, "BatchGetItem", none_of_them) as seen, pytest.raises(Busy):
        deals.get_many(patient, ids(posted))

    assert len(seen) == MAX_ATTEMPTS


@contextmanager
def half_done(table: Table, operation: str, left_over: str) -> Iterator[None]:
    """Let each request of an operation do half of its batch, rounded up, and give the others back."""
    left: dict[str, Any] = {}

    def halve(params: dict[str, Any], **_: Any) -> dict[str, Any]:
        asked = params["RequestItems"][table.name]
        half = (len(asked["Keys"]) + 1) // 2
        left.clear()
        if half < len(asked["Keys"]):
            left[table.name] = {**asked, "Keys": asked["Keys"][half:]}
        return {**params, "RequestItems": {table.name: {**asked, "Keys": asked["Keys"][:half]}}}

    def give_back(parsed: dict[str, Any], **_: Any) -> None:
        parsed[left_over] = dict(left)

    with (
        hooked(table, f"provide-client-params.dynamodb.{operation}", halve),
        hooked(table, f"after-call.dynamodb.{operation}", give_back),
    ):
        yield


def tell(table: Table, number: int) -> None:
    """Send messages of so many deals."""
    for minutes in range(number):
        send(table, a_message(a_deal(ago(minutes=minutes))))


def test_what_was_marked_before_the_table_was_busy_stays_marked_and_the_newest_come_first(patient: Table) -> None:
    tell(patient, 60)
    let_through = iter([None])

    with (
        answered(patient, "TransactWriteItems", lambda _: next(let_through, THROTTLED)),
        pytest.raises(Busy),
    ):
        messages.mark_all_read(patient, "ana", NOW)

    inbox = messages.latest(patient, "ana", limit=60, now=NOW).items
    assert [message.unread for message in inbox] == [False] * 25 + [True] * 35
    assert messages.mark_all_read(patient, "ana", NOW) == 35


def test_an_edit_that_others_are_always_ahead_of_is_busy_and_waits_in_between(
    patient: Table, slept: list[float]
) -> None:
    (deal,) = post(patient, [a_deal()])
    stale = cancelled("ConditionalCheckFailed")

    with failing(patient, "TransactWriteItems", 1000, stale) as seen, pytest.raises(Busy):
        deals.edit(patient, deal.deal_id, {"title": "Road runner"}, NOW)

    assert len(seen) == len(slept) + 1 == MAX_ATTEMPTS
    assert deals.get(patient, deal.deal_id) == deal
