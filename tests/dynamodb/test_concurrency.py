"""Requests at the same time, and answers that are lost."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

import pytest

from shared import settings
from shared.data.catalog import deals, feed_counts, feeds, topics
from shared.data.idempotency import Idempotency
from shared.data.members import follows, messages, rate_limits, users
from shared.data.members.rate_limits import Attempt, begin
from shared.dynamodb.table import Table
from shared.dynamodb.writes import change, delete, put_new, update
from shared.errors import (
    AlreadyExists,
    AlreadyLiked,
    DealExists,
    DealsError,
    EmailTaken,
    NoSuchDeal,
    NotFound,
    NotLiked,
    SlowDown,
    UsernameTaken,
)
from shared.models.catalog import ALL_DEALS, BRAND, Feed, Topic, feed_of
from shared.models.members import User
from shared.settings import SIGN_INS_PER_USER
from tests.support.engines import on_servers
from tests.support.factories import (
    APPLE,
    ASICS,
    FEEDS,
    NOW,
    SHOES,
    a_deal,
    a_message,
    a_user,
    ago,
    ahead,
    both_kinds,
    ids,
    join,
    leave,
    listed,
    post,
    send,
    walk,
)
from tests.support.wire import Answer, answered, cancelled, error, losing, lost_and_throttled, watched

pytestmark = [pytest.mark.faults, on_servers]


R = TypeVar("R")

THREADS = 16


def at_once(action: Callable[[int], R], times: int = THREADS) -> list[R | DealsError]:
    """The results or refusals of so many threads that began together."""
    ready = threading.Barrier(times)

    def begin_together(number: int) -> R | DealsError:
        ready.wait(timeout=120)
        try:
            return action(number)
        except DealsError as error:
            return error

    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(begin_together, range(times)))


def outcomes(results: Sequence[object]) -> Counter[type]:
    """How many got what: None stands for what succeeded and returned nothing."""
    return Counter(type(result) for result in results)


def counted(table: Table, feed: Feed) -> int:
    return sum(feed_counts.counts(table, feed).values())


@both_kinds
def test_one_users_likes_from_many_places_count_once(table: Table, topic: Topic) -> None:
    join(table, "ana")
    results = at_once(lambda _: follows.like(table, topic, "ana", NOW))

    assert outcomes(results) == {type(None): 1, AlreadyLiked: THREADS - 1}
    assert topics.get(table, topic, consistent=True).likes == 1


@both_kinds
def test_likes_and_unlikes_of_a_few_users_in_any_order_leave_the_count_exact(table: Table, topic: Topic) -> None:
    names = ["ana", "bo", "cy"]
    join(table, *names)

    def toggle(number: int) -> None:
        name = names[number % len(names)]
        for turn in range(6):
            try:
                if (number + turn) % 2:
                    follows.like(table, topic, name, NOW)
                else:
                    follows.unlike(table, topic, name)
            except (AlreadyLiked, NotLiked):
                continue

    results = at_once(toggle)

    assert outcomes(results) == {type(None): THREADS}
    liking = sum(follows.is_liked(table, topic, name) for name in names)
    assert topics.get(table, topic, consistent=True).likes == liking


def test_deals_created_at_once_have_numbers_of_their_own_and_are_all_counted(table: Table) -> None:
    def create(number: int) -> list[int | None]:
        return [deals.create(table, a_deal(ago(days=number % 3)), NOW).number for _ in range(3)]

    results = at_once(create)

    numbers = [number for result in results if isinstance(result, list) for number in result]
    assert sorted(number or 0 for number in numbers) == list(range(1, 3 * THREADS + 1))
    for feed in FEEDS:
        assert len(listed(table, feed)) == counted(table, feed) == 3 * THREADS


def test_one_source_imported_from_many_places_makes_one_deal(table: Table) -> None:
    results = at_once(lambda number: deals.create(table, a_deal(ago(days=number), source_id="shop:1"), NOW))

    assert Counter(isinstance(result, DealExists) for result in results) == {True: THREADS - 1, False: 1}
    assert len(listed(table, ALL_DEALS)) == counted(table, ALL_DEALS) == 1


def test_one_request_sent_many_times_at_once_makes_one_deal(table: Table) -> None:
    asked = Idempotency("ed", "5f2c", {"title": "Trail runner"})

    results = at_once(lambda _: deals.create(table, a_deal(), NOW, idempotency=asked))

    (deal_id,) = listed(table, ALL_DEALS)
    assert {deal.deal_id for deal in results if not isinstance(deal, DealsError)} == {deal_id}
    assert not [result for result in results if isinstance(result, DealsError)]


def test_of_edits_at_once_each_is_made_to_what_the_others_wrote(table: Table) -> None:
    (deal,) = post(table, [a_deal()])
    fields = ["title", "description", "coupon_code", "image"]

    results = at_once(
        lambda number: deals.edit(table, deal.deal_id, {fields[number]: f"of {number}"}, NOW), len(fields)
    )

    edited = deals.get(table, deal.deal_id)
    assert not [result for result in results if isinstance(result, DealsError)]
    assert [getattr(edited, field) for field in fields] == ["of 0", "of 1", "of 2", "of 3"]
    assert edited.version == deal.version + len(fields)


def test_deals_withdrawn_at_once_take_their_period_with_them(table: Table) -> None:
    posted = post(table, [a_deal() for _ in range(THREADS)])

    results = at_once(lambda number: deals.withdraw(table, posted[number].deal_id, NOW))

    assert not [result for result in results if isinstance(result, DealsError)]
    assert feed_counts.counts(table, feed_of(APPLE)) == {}
    assert feed_counts.counts(table, feed_of(SHOES)) == {}
    assert counted(table, ALL_DEALS) == 0


def test_deals_that_move_between_brands_at_once_are_counted_where_they_are(table: Table) -> None:
    posted = post(table, [a_deal() for _ in range(8)])

    def move(number: int) -> None:
        for turn in range(3):
            deals.edit(table, posted[number].deal_id, {"brand": "asics" if (number + turn) % 2 else "apple"}, NOW)

    results = at_once(move, len(posted))

    assert outcomes(results) == {type(None): len(posted)}
    for topic in (APPLE, ASICS):
        assert len(listed(table, feed_of(topic))) == counted(table, feed_of(topic)) == len(posted) / 2


def test_two_sweeps_at_once_take_each_deal_out_once(table: Table) -> None:
    post(table, [a_deal(ends_at=ahead(minutes=number + 1)) for number in range(10)])

    results = at_once(lambda _: feeds.sweep(table, ahead(hours=1)), 4)

    assert not [result for result in results if isinstance(result, DealsError)]
    assert counted(table, ALL_DEALS) == 0
    assert listed(table, ALL_DEALS) == []


def test_a_feed_walked_while_deals_are_posted_repeats_and_skips_none_that_were_there(table: Table) -> None:
    there = post(table, [a_deal(ago(hours=5 * number)) for number in range(40)])
    walked: list[str] = []

    def walk_or_post(number: int) -> None:
        if number == 0:
            walked.extend(deal.deal_id for page in walk(table, ALL_DEALS, limit=3) for deal in page.items)
        else:
            for turn in range(5):
                deals.create(table, a_deal(ago(hours=number * 7 + turn)), NOW)

    results = at_once(walk_or_post, 8)

    assert outcomes(results) == {type(None): 8}
    assert len(walked) == len(set(walked))
    assert [deal_id for deal_id in walked if deal_id in set(ids(there))] == ids(there)
    assert walked == sorted(walked, reverse=True)


def test_one_username_is_given_once_and_one_address_too(table: Table) -> None:
    by_name = at_once(lambda number: users.create(table, a_user("ana", email=f"{number}@mail.example")))
    by_address = at_once(lambda number: users.create(table, a_user(f"user{number}", email="one@mail.example")))

    assert outcomes(by_name) == {User: 1, UsernameTaken: THREADS - 1}
    assert outcomes(by_address) == {User: 1, EmailTaken: THREADS - 1}
    assert len(list(users.everyone(table))) == 2


def test_of_attempts_at_once_no_more_than_allowed_go_through(table: Table) -> None:
    results = at_once(lambda _: begin(table, "ana", "192.0.2.1", NOW), 2 * SIGN_INS_PER_USER)

    assert outcomes(results) == {Attempt: SIGN_INS_PER_USER, SlowDown: SIGN_INS_PER_USER}


THROTTLED = error("ThrottlingException")
CONFLICT = cancelled("None", "TransactionConflict")
ITEM_OF_REFUSAL = "ReturnValuesOnConditionCheckFailure"
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


def test_an_expression_that_is_refused_the_second_time_says_so_for_no_item_shows_whose_it_is(patient: Table) -> None:
    key = {"PK": "A", "SK": "A"}
    patient.write(put_new(ITEM, refused=AlreadyExists()))
    first = update(
        key, "ADD Likes :one", condition="attribute_not_exists(Likes)", values={":one": 1}, refused=NotFound()
    )

    with losing(patient, "UpdateItem", 1), watched(patient) as wire, pytest.raises(NotFound):
        patient.write(first)

    assert (patient.get(key) or {})["Likes"] == 1
    # IAM may refuse it, so nothing asks for an item that shows nothing.
    assert [ITEM_OF_REFUSAL in each.body for each in wire.requests] == [False, False]


def test_a_repeated_transaction_asks_for_the_items_that_show_whose_they_are(patient: Table) -> None:
    with lost_and_cancelled(patient), watched(patient) as wire:
        follows.like(patient, APPLE, "ana", NOW)

    writes = [each for each in wire.requests if each.operation == "TransactWriteItems"][-1].body["TransactItems"]
    asked = [operation for item in writes for operation, arguments in item.items() if ITEM_OF_REFUSAL in arguments]
    assert asked == ["Put"]
