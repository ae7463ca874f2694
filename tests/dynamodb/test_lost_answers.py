"""Writes that were carried out though their answer was lost: tried again, they know their own work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from shared import settings
from shared.data.catalog import deals, topics
from shared.data.members import follows, messages, rate_limits, users
from shared.dynamodb.table import Table
from shared.dynamodb.writes import change, delete, put_new, update
from shared.errors import AlreadyExists, AlreadyLiked, NoSuchDeal, NotFound, NotLiked, SlowDown
from shared.models.catalog import ALL_DEALS, BRAND, Topic
from tests.support.engines import on_servers
from tests.support.factories import APPLE, NOW, a_deal, a_message, a_user, ago, join, leave, listed, send
from tests.support.wire import Answer, answered, cancelled, error, losing, lost_and_throttled

pytestmark = [pytest.mark.faults, on_servers]

THROTTLED = error("ThrottlingException")
CONFLICT = cancelled("None", "TransactionConflict")
ITEM = {"PK": "A", "SK": "A", "Title": "Runner", "Sizes": {"42", "43"}, "Hot": None, "Pages": (1, 2)}


@pytest.fixture
def patient(table: Table) -> Table:
    """A table that does not wait, and in which Ana and Bo have accounts."""
    join(table, "ana", "bo")
    return replace(table, sleep=lambda _: None)


def test_a_like_whose_answer_was_lost_counts_once(patient: Table) -> None:
    with losing(patient, "TransactWriteItems", 3):
        follows.like(patient, APPLE, "ana", NOW)

    assert topics.get(patient, APPLE).likes == 1
    with pytest.raises(AlreadyLiked):
        follows.like(patient, APPLE, "ana", NOW)


def test_what_was_created_does_not_exist_already_because_the_answer_was_lost_and_throttling_followed(
    patient: Table,
) -> None:
    with lost_and_throttled(patient):
        users.create(patient, a_user("cy"))
    with lost_and_throttled(patient):
        topics.create_brand(patient, "g-fore", "G/Fore", NOW)
    with lost_and_throttled(patient):
        deal = deals.create(patient, a_deal(), NOW)

    assert topics.get(patient, Topic(BRAND, "g-fore")).likes == 0
    assert listed(patient, ALL_DEALS) == [deal.deal_id]


def test_a_transaction_keeps_its_token_until_it_was_cancelled_and_shares_it_with_no_other(patient: Table) -> None:
    tokens: list[str] = []
    answers: list[Answer | None] = [THROTTLED, error("TransactionInProgressException"), CONFLICT, THROTTLED, None, None]

    def note(asked: dict[str, Any]) -> Answer | None:
        tokens.append(asked["ClientRequestToken"])
        return answers[len(tokens) - 1]

    with answered(patient, "TransactWriteItems", note):
        follows.like(patient, APPLE, "ana", NOW)
        follows.like(patient, APPLE, "bo", NOW)

    first, second, others = tokens[0], tokens[3], tokens[5]
    assert tokens == [first] * 3 + [second] * 2 + [others]
    assert len({first, second, others}) == 3


def test_ones_own_item_is_known_and_anothers_refused_as_is_the_same_where_no_answer_was_lost(patient: Table) -> None:
    new = put_new(ITEM, refused=AlreadyExists())

    with losing(patient, "PutItem"):
        patient.write(new)
    with losing(patient, "PutItem"), pytest.raises(AlreadyExists):
        patient.write(put_new({**ITEM, "Title": "Walker"}, refused=AlreadyExists()))
    with pytest.raises(AlreadyExists):
        patient.write(new)

    kept = {name: value for name, value in ITEM.items() if value is not None}
    assert patient.get({"PK": "A", "SK": "A"}) == {**kept, "Pages": [1, 2]}


def test_what_was_deleted_is_not_missed(patient: Table) -> None:
    patient.write(put_new(ITEM, refused=AlreadyExists()))

    with losing(patient, "DeleteItem"):
        patient.write(delete({"PK": "A", "SK": "A"}, refused=NoSuchDeal("A")))

    with pytest.raises(NoSuchDeal):
        patient.write(delete({"PK": "A", "SK": "A"}, refused=NoSuchDeal("A")))


def test_messages_whose_answers_were_lost_are_marked_and_removed_and_counted_once(patient: Table) -> None:
    for minutes in range(30):
        send(patient, a_message(a_deal(ago(minutes=minutes))))

    with losing(patient, "TransactWriteItems", 2):
        marked = messages.mark_all_read(patient, "ana", NOW)
    with losing(patient, "TransactWriteItems", 2):
        leave(patient)

    assert marked == 30
    assert messages.latest(patient, "ana", limit=25, now=NOW).items == ()


def test_a_change_is_not_stale_because_of_itself(patient: Table) -> None:
    old = {"PK": "A", "SK": "A", "Title": "Runner", "Version": 1}
    new = {"PK": "A", "SK": "A", "Name": "Road runner", "Version": 2}
    patient.write(put_new(old, refused=AlreadyExists()))

    with losing(patient, "UpdateItem"):
        patient.write(change(old, new, version="Version", refused=AlreadyExists()))

    assert patient.get({"PK": "A", "SK": "A"}) == new
    with losing(patient, "UpdateItem"), pytest.raises(AlreadyExists):
        patient.write(change(old, {**new, "Name": "Walker"}, version="Version", refused=AlreadyExists()))


def test_an_attempt_to_sign_in_whose_answer_was_lost_is_one(patient: Table) -> None:
    with losing(patient, "UpdateItem", 5):
        attempt = rate_limits.begin(patient, "ana", "192.0.2.1", NOW)

    counters = [item for item in patient.scan()[0] if item["Type"] == "Attempts"]
    assert [counter["Counted"] for counter in counters] == [{attempt.name}] * 3
    with losing(patient, "UpdateItem", 3):
        rate_limits.succeed(patient, attempt)
    assert not any("Counted" in item for item in patient.scan()[0])


def test_the_last_attempt_is_allowed_though_its_answer_was_lost(patient: Table) -> None:
    for _ in range(settings.SIGN_INS_PER_USER - 1):
        rate_limits.begin(patient, "ana", "192.0.2.1", NOW)

    with losing(patient, "UpdateItem"):
        rate_limits.begin(patient, "ana", "192.0.2.1", NOW)

    with pytest.raises(SlowDown):
        rate_limits.begin(patient, "ana", "192.0.2.1", NOW)


def test_a_transaction_that_was_carried_out_and_then_met_a_conflict_knows_its_items(patient: Table) -> None:
    with lost_and_cancelled(patient):
        follows.like(patient, APPLE, "ana", NOW)
    with lost_and_cancelled(patient):
        topics.create_brand(patient, "g-fore", "G/Fore", NOW)
    with lost_and_cancelled(patient):
        follows.unlike(patient, APPLE, "ana")

    assert topics.get(patient, APPLE).likes == 0
    assert topics.get(patient, Topic(BRAND, "g-fore")).likes == 0


def test_what_was_refused_stays_refused_though_the_refusal_was_lost(patient: Table) -> None:
    with losing(patient, "TransactWriteItems"), pytest.raises(NotLiked):
        follows.unlike(patient, APPLE, "ana")


@contextmanager
def lost_and_cancelled(table: Table) -> Iterator[None]:
    answers = [None, CONFLICT]
    with (
        losing(table, "TransactWriteItems"),
        answered(table, "TransactWriteItems", lambda _: answers.pop(0) if answers else None),
    ):
        yield


def test_an_expression_that_is_refused_the_second_time_says_so_for_no_item_tells_whose_it_is(patient: Table) -> None:
    key = {"PK": "A", "SK": "A"}
    patient.write(put_new(ITEM, refused=AlreadyExists()))
    first = update(
        key, "ADD Likes :one", condition="attribute_not_exists(Likes)", values={":one": 1}, refused=NotFound()
    )

    with losing(patient, "UpdateItem", 1), pytest.raises(NotFound):
        patient.write(first)

    assert (patient.get(key) or {})["Likes"] == 1
