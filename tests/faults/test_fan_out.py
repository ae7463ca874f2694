"""Faults between a deal and its readers. After each: one message for everyone addressed, none doubled."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from functions.background import publisher
from shared import settings
from shared.data import keys, removal
from shared.data.catalog import deals
from shared.data.catalog.changes import DealChange
from shared.data.members import cohorts, fanout, messages, users
from shared.data.members.cohorts import Unit
from shared.dynamodb.aws_errors import MAX_ATTEMPTS
from shared.dynamodb.table import Table
from shared.dynamodb.writes import forget
from shared.errors import Busy, TooManyCohorts, Unavailable
from shared.models.catalog import Deal
from shared.models.members import Pace
from shared.services import Queue
from tests.support.engines import MINISTACK, on
from tests.support.factories import (
    APPLE,
    HOME,
    NOW,
    SHOES,
    a_deal,
    a_message,
    a_user,
    ahead,
    join,
    leave,
    let_watch,
    post,
)
from tests.support.surroundings import taken
from tests.support.wire import answered, before, error, failing, hooked, watched

pytestmark = pytest.mark.faults

THROTTLED = {"Error": {"Code": "ThrottlingError", "Message": "made up"}}

WorkOff = Callable[..., int]
SignUp = Callable[[int], list[str]]


def received(table: Table, names: list[str]) -> dict[str, int]:
    """How many messages each of some users has."""
    pages = table.gather([partial(messages.latest, table, name, limit=5, now=NOW) for name in names])
    return {name: len(page.items) for name, page in zip(names, pages, strict=True)}


def once_each(names: list[str]) -> dict[str, int]:
    return dict.fromkeys(names, 1)


def test_a_watcher_of_a_brand_and_its_category_is_notified_once(table: Table, deal: Deal, work_off: WorkOff) -> None:
    let_watch(table, APPLE, "ana", "bo")
    let_watch(table, SHOES, "ana", "dee")

    work_off(fanout.news_of(deal), page=2)  # so that there is a mark of each page

    assert received(table, ["ana", "bo", "cy", "dee"]) == {"ana": 1, "bo": 1, "cy": 0, "dee": 1}


def test_watchers_of_the_announced_topic_are_notified_though_the_deal_was_moved_since(
    table: Table, deal: Deal, work_off: WorkOff
) -> None:
    let_watch(table, SHOES, "ana")
    let_watch(table, HOME, "bo")
    news = fanout.news_of(deal)
    deals.edit(table, deal.deal_id, {"category": "home"}, NOW)

    work_off(news)

    (told,) = messages.latest(table, "ana", limit=5, now=NOW).items
    assert (told.subject, told.about) == (f"New in Shoes: {deal.title}", a_message(deal, kind="category").about)
    assert received(table, ["ana", "bo"]) == {"ana": 1, "bo": 0}


def test_a_stream_that_repeats_and_reorders_records_notifies_once(
    table: Table, deal: Deal, work_off: WorkOff, watchers: SignUp
) -> None:
    names = watchers(30)
    hot = deals.make_hot(table, deal.deal_id, NOW)
    created, made_hot = DealChange(None, deal, NOW), DealChange(deal, hot, NOW)

    for change in (made_hot, created, made_hot, created, created):
        units = publisher.work_of(change)
        assert {unit.written_at for unit in units} == {NOW.timestamp()}
        work_off(units)

    assert received(table, names) == once_each(names)
    assert cohorts.progress_of(table, deal.deal_id) == cohorts.Progress(notified=30, finished=True)
    assert cohorts.progress_of(table, deal.deal_id).at == NOW


def test_a_page_that_is_repeated_queues_its_continuation_once_with_its_id_and_time(
    table: Table, queue: Queue, deal: Deal, watchers: SignUp
) -> None:
    watchers(30)
    unit = replace(fanout.news_of(deal)[0], correlation_id="c-1", written_at=NOW.timestamp())

    for _ in range(5):
        fanout.deliver(table, queue, unit, NOW, size=10)

    (following,) = (Unit.from_json(message.body) for message in queue.receive())
    assert following == replace(unit, number=1, start=following.start)
    assert following.start is not None
    assert {item["CorrelationId"] for item in table.scan()[0] if item["Type"] == "Message"} == {"c-1"}


def test_throttled_entries_are_tried_again(table: Table, deal: Deal, work_off: WorkOff, watchers: SignUp) -> None:
    names = watchers(60)

    with half_throttled(table) as batches:
        work_off(fanout.news_of(deal), page=60)

    assert len(batches) > 3
    assert received(table, names) == once_each(names)


@pytest.mark.parametrize("throttled", [MAX_ATTEMPTS - 1, MAX_ATTEMPTS, MAX_ATTEMPTS + 1, 2 * MAX_ATTEMPTS])
def test_requests_that_are_throttled_whole_lose_no_message(
    table: Table, queue: Queue, deal: Deal, watchers: SignUp, throttled: int
) -> None:
    names = watchers(20)  # one request
    (unit, _) = fanout.news_of(deal)
    patient = replace(table, sleep=lambda _: None)

    with failing(table, "BatchExecuteStatement", throttled, error("ThrottlingException")) as refused:
        delivered = False
        while not delivered:  # the queue delivers again the messages given back, and nothing else
            with suppress(Busy):
                fanout.deliver(patient, queue, unit, NOW)
                delivered = True

    assert len(refused) == throttled
    assert received(table, names) == once_each(names)


@pytest.mark.parametrize("kind", ["hot", "brand"])
def test_a_late_cohort_is_notified_without_those_who_have_left_whose_names_others_have(
    table: Table, queue: Queue, deal: Deal, kind: str
) -> None:
    names = ["ana", "bo", "cy", "di"]
    readers_of(table, "brand", names)
    hot = deals.make_hot(table, deal.deal_id, NOW)
    unit = fanout.alarm_of(hot, 1)[0] if kind == "hot" else fanout.news_of(deal)[0]
    patient = replace(table, sleep=lambda _: None)
    throttled = answered(table, "BatchExecuteStatement", lambda _: error("ThrottlingException"))
    with throttled, pytest.raises(Busy):
        fanout.deliver(patient, queue, unit, NOW, size=4)

    for name in ("ana", "bo"):
        leave(table, name)
    users.create(table, a_user("ana", created_at=ahead(minutes=1)))
    delivered = fanout.deliver(table, queue, unit, ahead(days=1), size=4)

    assert received(table, names) == {"ana": 0, "bo": 0, "cy": 1, "di": 1}
    assert delivered == fanout.Delivered(readers=2, written=2)


def test_progress_says_how_many_segments_of_all_users_are_done(
    table: Table, queue: Queue, deal: Deal, sign_up: SignUp
) -> None:
    sign_up(3)
    hot = deals.make_hot(table, deal.deal_id, NOW)
    seen = []

    for unit in fanout.alarm_of(hot, segments=2):
        progress = cohorts.progress_of(table, deal.deal_id)
        seen.append((progress.segments_finished, progress.segments))
        fanout.deliver(table, queue, unit, NOW)

    progress = cohorts.progress_of(table, deal.deal_id)
    assert [*seen, (progress.segments_finished, progress.segments)] == [(0, 0), (1, 2), (2, 2)]


def test_five_deliveries_at_once_notify_once(
    table: Table, queue: Queue, deal: Deal, sign_up: SignUp, work_off: WorkOff
) -> None:
    names = sign_up(60)
    hot = deals.make_hot(table, deal.deal_id, NOW)
    units = fanout.alarm_of(hot, segments=2)

    with ThreadPoolExecutor(5) as pool:
        list(pool.map(lambda _: fanout.deliver(table, queue, units[0], NOW, size=40), range(5)))
    work_off(units, page=40)

    assert received(table, names) == once_each(names)
    assert cohorts.progress_of(table, deal.deal_id) == cohorts.Progress(notified=60, finished=True)


def test_a_message_read_between_two_deliveries_stays_read(table: Table, deal: Deal, work_off: WorkOff) -> None:
    let_watch(table, APPLE, "ana")
    work_off(fanout.news_of(deal))
    messages.mark_read(table, "ana", a_message(deal).message_id, NOW)

    work_off(fanout.news_of(deal))

    (message,) = messages.latest(table, "ana", limit=5, now=NOW).items
    assert not message.unread
    assert messages.unread_count(table, "ana", NOW) == 0


@pytest.mark.parametrize("over", ["withdrawn_at", "ends_at"])
def test_a_deal_that_ends_meanwhile_notifies_no_more_readers(
    table: Table, queue: Queue, deal: Deal, watchers: SignUp, work_off: WorkOff, over: str
) -> None:
    names = watchers(30)
    (unit, _) = fanout.news_of(deal)
    fanout.deliver(table, queue, unit, NOW, size=10)

    deals.edit(table, deal.deal_id, {over: NOW}, NOW)
    work_off([Unit.from_json(message.body) for message in queue.receive()])

    assert sum(received(table, names).values()) == 10


def test_a_new_deal_is_work_for_its_brand_and_its_category_as_they_were_called_then(deal: Deal) -> None:
    new = replace(deal, correlation_id="c-1")
    told = replace(Unit(deal.deal_id, "brand"), correlation_id="c-1", written_at=NOW.timestamp())

    news = publisher.work_of(DealChange(None, new, NOW))

    assert news == [
        replace(told, topic="apple", topic_name="Apple"),
        replace(told, kind="category", topic="shoes", topic_name="Shoes"),
        replace(told, kind="words"),
    ]
    assert [Unit.from_json(unit.to_json()) for unit in news] == news


def test_an_old_deal_an_ended_one_an_edit_and_a_second_time_hot_are_no_news(table: Table, deal: Deal) -> None:
    hot = deals.make_hot(table, deal.deal_id, NOW)
    edited = deals.edit(table, deal.deal_id, {"title": "Road runner"}, ahead(minutes=1))

    assert publisher.work_of(DealChange(None, deal, NOW)) != []
    assert publisher.work_of(DealChange(None, replace(deal, ends_at=NOW), NOW)) == []
    assert publisher.work_of(DealChange(None, deal, ahead(hours=1))) == []
    assert publisher.work_of(DealChange(deal, None, NOW)) == []
    assert publisher.work_of(DealChange(hot, edited, ahead(minutes=1))) == []


def test_text_that_would_end_a_literal_is_sent_as_it_is(table: Table, work_off: WorkOff) -> None:
    title = "Men's ''quoted'' \\' ? {} -- \" ; 鞋"
    (deal,) = post(table, [a_deal(title=title)])
    let_watch(table, APPLE, "ana", "bo")

    work_off(fanout.news_of(deal))

    told = [messages.latest(table, name, limit=1, now=NOW).items[0] for name in ("ana", "bo")]
    assert [message.about for message in told] == [a_message(deal).about] * 2


USERS = int(os.environ.get("FAN_OUT_USERS", "4000"))
"""Users, each of which is told of a hot deal (``make drift``: 20,000)."""


@on(MINISTACK)  # which holds thousands of users without slowing down
@pytest.mark.thorough
def test_a_hot_deal_reaches_thousands_of_users_once(
    table: Table, deal: Deal, sign_up: SignUp, work_off: WorkOff
) -> None:
    names = sign_up(USERS)
    hot = deals.make_hot(table, deal.deal_id, NOW)

    work_off(fanout.alarm_of(hot), page=250)

    assert cohorts.progress_of(table, deal.deal_id) == cohorts.Progress(notified=USERS, finished=True)
    sample = names[::97]
    assert received(table, sample) == once_each(sample)
    assert sum(item["Type"] == "Message" for item in table.everything()) == USERS


class Killed(BaseException):
    """The end of a worker, at any point: nothing of its own catches it."""


@contextmanager
def interrupted(table: Table, queue: Queue, at: int, action: Callable[[], None]) -> Iterator[None]:
    """Do something just before the request of a number, of those to the table and the queue together."""
    count = itertools.count()

    def step(**_: Any) -> None:
        if next(count) == at:
            action()

    sent: Any = queue.client.meta.events
    sent.register_first("before-call.sqs", step)
    try:
        with hooked(table, "before-call.dynamodb", step):
            yield
    finally:
        sent.unregister("before-call.sqs", step)


def takes(table: Table, queue: Queue, unit: Unit) -> int:
    """How many requests it takes to do a unit of work; what it queues is taken out."""
    with watched(table) as wire:
        fanout.deliver(table, queue, unit, NOW, size=4)
    taken(queue)
    return len(wire.requests) + 1  # and one to the queue


def in_one_thread(table: Table) -> Table:
    """A table whose requests come one after the other, so that each has a number."""

    class OneByOne(Table):
        def gather(self, requests: Sequence[Callable[[], Any]]) -> list[Any]:
            return [request() for request in requests]

    return OneByOne(table.name, client=table.client)


UNITS: dict[str, Callable[[Deal], Unit]] = {
    "hot": lambda deal: fanout.alarm_of(deal, 1)[0],
    "brand": lambda deal: fanout.news_of(deal)[0],
}
KINDS = pytest.mark.parametrize("kind", ["hot", "brand"])


def readers_of(table: Table, kind: str, names: list[str]) -> None:
    if kind == "brand":
        let_watch(table, APPLE, *names)


def told_of(table: Table, deal: Deal, kind: Any) -> dict[str, int]:
    """How many messages about a deal each user has; where it is hot, its progress says as many."""
    about = a_message(deal, kind=kind).about
    everyone = [user.username for user in users.everyone(table)]
    inboxes = {name: messages.latest(table, name, limit=99, now=NOW).items for name in everyone}
    told = {name: sum(message.about == about for message in inbox) for name, inbox in inboxes.items()}
    if kind == "hot":
        assert cohorts.progress_of(table, deal.deal_id) == cohorts.Progress(sum(told.values()), finished=True)
    return told


@KINDS
@pytest.mark.parametrize("before_it_dies", [False, True], ids=["dies", "newcomers, dies"])
def test_a_worker_that_dies_at_any_point_loses_and_doubles_no_message(
    table: Table, queue: Queue, deal: Deal, sign_up: SignUp, work_off: WorkOff, kind: str, before_it_dies: bool
) -> None:
    table = in_one_thread(table)
    names = sign_up(11)
    readers_of(table, kind, names)

    for at in range(takes(table, queue, UNITS[kind](deal))):
        (told,) = post(table, [a_deal(title=f"{at}")])
        unit = UNITS[kind](told)

        def and_die(at: int = at) -> None:
            if before_it_dies:
                newcomers = [f"reader0-{at}-{number}" for number in range(5)]
                join(table, *newcomers)
                readers_of(table, kind, newcomers)
            raise Killed

        with interrupted(table, queue, at, and_die), suppress(Killed):
            fanout.deliver(table, queue, unit, NOW, size=4)
        work_off([unit], page=4)

        of_it = told_of(table, told, kind)
        assert {name: of_it[name] for name in names} == once_each(names), f"killed at request {at}"
        assert set(of_it.values()) <= {0, 1}


@KINDS
def test_a_second_delivery_at_any_point_of_the_first_notifies_and_counts_once(
    table: Table, queue: Queue, deal: Deal, sign_up: SignUp, work_off: WorkOff, kind: str
) -> None:
    table = in_one_thread(table)
    names = sign_up(6)
    readers_of(table, kind, names)

    for at in range(takes(table, queue, UNITS[kind](deal))):
        (told,) = post(table, [a_deal(title=f"{at}")])
        unit = UNITS[kind](told)

        def meanwhile(unit: Unit = unit, at: int = at) -> None:
            join(table, f"reader0-{at}")
            readers_of(table, kind, [f"reader0-{at}"])
            fanout.deliver(table, queue, unit, NOW, size=4)

        with interrupted(table, queue, at, meanwhile):
            fanout.deliver(table, queue, unit, NOW, size=4)
        work_off([Unit.from_json(body) for body in taken(queue)], page=4)

        of_it = told_of(table, told, kind)
        assert {name: of_it[name] for name in names} == once_each(names), f"repeated at request {at}"


def test_a_page_that_is_done_is_not_done_again_when_it_is_delivered_weeks_later(
    table: Table, queue: Queue, deal: Deal, sign_up: SignUp
) -> None:
    sign_up(3)
    (unit,) = fanout.alarm_of(deals.make_hot(table, deal.deal_id, NOW), segments=1)
    fanout.deliver(table, queue, unit, NOW)
    table.write(users.registration(a_user("newcomer")))

    again = fanout.deliver(table, queue, unit, ahead(days=18))

    assert again == fanout.Delivered()
    assert cohorts.progress_of(table, deal.deal_id) == cohorts.Progress(notified=3, finished=True)
    (marker,) = (item for item in table.scan()[0] if item["Type"] == keys.FAN_OUT_PAGE)
    assert marker["Done"] is True
    assert "Readers" not in marker  # nobody's name is kept for longer than it is needed


def test_a_page_that_is_claimed_no_more_is_notified_and_counted_when_it_comes_again(
    table: Table, queue: Queue, deal: Deal, sign_up: SignUp, work_off: WorkOff
) -> None:
    names = sign_up(3)
    (unit,) = fanout.alarm_of(deals.make_hot(table, deal.deal_id, NOW), segments=1)

    def forget_the_claim() -> None:
        (marker,) = (item for item in table.scan()[0] if item["Type"] == keys.FAN_OUT_PAGE)
        table.write(forget(keys.primary(marker), because="someone removed it"))

    with before(table, "UpdateItem", forget_the_claim), pytest.raises(Unavailable):
        fanout.deliver(table, queue, unit, NOW, size=2)
    work_off([unit], page=2)

    assert received(table, names) == once_each(names)
    assert cohorts.progress_of(table, deal.deal_id) == cohorts.Progress(notified=3, finished=True)


def test_a_repeated_page_leaves_out_those_who_are_leaving_and_keeps_the_others_pace(
    table: Table, queue: Queue, deal: Deal
) -> None:
    join(table, "ana", "bo", "cy")
    users.set_hot_notifications(table, "ana", Pace.DAILY)
    (unit,) = fanout.alarm_of(deals.make_hot(table, deal.deal_id, NOW), segments=1)

    def die() -> None:
        raise Killed

    with before(table, "BatchExecuteStatement", die), suppress(Killed):
        fanout.deliver(table, queue, unit, NOW, size=3)
    removal.leave(table, users.get(table, "bo", consistent=True), NOW)

    again = fanout.deliver(table, queue, unit, ahead(hours=1), size=3)

    assert again.readers == 2
    assert len(taken(queue)) == 1  # what follows the page, once
    told = [item for item in table.scan()[0] if item["Type"] == "Message"]
    assert {item["Username"]: "ShownAt" in item for item in told} == {"ana": True, "cy": False}


def test_a_page_is_remembered_for_longer_than_a_message_can_wait_and_be_redriven() -> None:
    assert timedelta(days=14 + 4) < settings.MARKER_LIFETIME


def test_a_fan_out_without_end_is_stopped(table: Table, queue: Queue, deal: Deal) -> None:
    (unit, _) = fanout.news_of(deal)
    endless = replace(unit, number=settings.MOST_COHORTS)

    with pytest.raises(TooManyCohorts):
        fanout.deliver(table, queue, endless, NOW)

    assert list(queue.receive()) == []


def test_a_list_of_five_million_is_notified_to_its_end(table: Table, queue: Queue, deal: Deal) -> None:
    (unit, _) = fanout.news_of(deal)
    # Every cohort before was full, so only this one can find that nobody is left.
    after_the_last = replace(unit, number=5_000_000 // settings.READERS_PER_COHORT, start={"SK": "USER#zoe"})

    delivered = fanout.deliver(table, queue, after_the_last, NOW)

    assert delivered.readers == 0
    assert list(queue.receive()) == []


@contextmanager
def half_throttled(table: Table) -> Iterator[list[int]]:
    """Withhold every other statement of a batch from the table, and answer for it that it was throttled."""
    batches: list[int] = []

    def withhold(params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        body = json.loads(params["body"])
        statements = body["Statements"]
        batches.append(len(statements))
        context["withheld"] = len(statements) // 2
        body["Statements"] = statements[context["withheld"] :]
        params["body"] = json.dumps(body).encode()
        params["headers"].pop("Content-Length", None)

    def say_so(parsed: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        parsed["Responses"] = [THROTTLED] * context["withheld"] + parsed["Responses"]

    with (
        hooked(table, "before-call.dynamodb.BatchExecuteStatement", withhold),
        hooked(table, "after-call.dynamodb.BatchExecuteStatement", say_so),
    ):
        yield batches
