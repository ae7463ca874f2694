"""A deal gets the picture that it names at another host: ordered once, fetched a few at a time, and tried again."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext

from features.pictures import fetching, keys, resizer
from features.pictures.commands import fetch_pictures
from features.pictures.data import fetches, uploads
from features.pictures.data.bucket import Bucket
from features.pictures.data.fetches import MOST_ATTEMPTS, OF_A_HOST, OF_ALL, PAUSES, Fetch
from features.pictures.fetching import NotNow
from features.pictures.hosts import HOSTS
from features.pictures.models import BUCKET, QUEUE, Picture, Refused
from features.pictures.tests.test_pictures import bucket, publish  # noqa: F401  # a fixture
from functions.background import expiry
from shared.data.catalog import deals
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put
from shared.models.catalog import Deal
from shared.services import Queue
from shared.values import times
from tests.functions.conftest import context, deployed, lines, queue, table  # noqa: F401  # fixtures
from tests.support.factories import a_deal, plain_picture
from tests.support.rights import within_rights
from tests.support.surroundings import event, taken

PAST = datetime(2026, 6, 4, tzinfo=UTC)
IMAGE = "https://cdn.shop.example/shoe.png"
"""A picture at a host that the stage allows."""


@pytest.fixture(autouse=True)
def stage(monkeypatch: pytest.MonkeyPatch, bucket: Bucket, queue: Queue) -> None:
    """A stage that fetches from the shop's hosts. One queue is that of uploads, too."""
    monkeypatch.setenv(HOSTS, "*.shop.example")
    monkeypatch.setenv(QUEUE, queue.url)
    monkeypatch.setenv(BUCKET, bucket.name)


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the addresses answer: a file, or an error."""
    found: dict[str, Any] = {}

    def fetch(address: str, _hosts: tuple[str, ...]) -> bytes:
        answer = found[address]
        if isinstance(answer, Exception):
            raise answer
        return bytes(answer() if callable(answer) else answer)

    monkeypatch.setattr(fetching, "fetch", fetch)
    return found


def post(table: Table, image: str | None = IMAGE, **fields: Any) -> Deal:
    now = times.now()
    return deals.create(table, a_deal(now, brand="g-fore", brand_name="G/Fore", image=image, **fields), now)


def waiting(table: Table) -> list[Fetch]:
    return [fetches.from_item(item) for item in table.query(keys.fetch("", PAST, "")["PK"])]


def work(queue: Queue, context: LambdaContext) -> int:
    """Let the clock strike, and the resizer do what it sends; returns how many messages that were."""
    within_rights(expiry)(event("expiry-schedule"), context)
    bodies = [body for body in taken(queue) if "fetch" in json.loads(body)]
    (like,) = event("resizer-upload")["Records"]
    for body in bodies:
        assert within_rights(resizer)({"Records": [{**like, "body": body}]}, context) == {"batchItemFailures": []}
    return len(bodies)


def later(table: Table, pause: timedelta) -> None:
    """Let time pass: what waits becomes due that much earlier."""
    for fetch in waiting(table):
        fetches.done(table, fetch)
        table.write(put(fetches.to_item(replace(fetch, due_at=fetch.due_at - pause)), because="a test's own"))


def test_a_new_deal_gets_the_picture_that_it_names(
    table: Table, queue: Queue, context: LambdaContext, answers: dict[str, Any]
) -> None:  # fmt: skip
    answers[IMAGE] = plain_picture()
    deal = post(table)

    publish(None, deal, context)

    assert [(each.host, each.deal_id) for each in waiting(table)] == [("cdn.shop.example", deal.deal_id)]
    assert work(queue, context) == 1
    after = deals.get(table, deal.deal_id)
    assert isinstance(after.own(Picture), Picture)
    assert after.version == deal.version + 1
    assert waiting(table) == []


@pytest.mark.parametrize(
    ("before", "after", "is_ordered"),
    [
        (None, {"image": "https://other.example/shoe.png"}, False),
        (None, {"image": None}, False),
        (None, {"ends_at": PAST}, False),
        ({}, {}, False),
        ({}, {"price": "9.00"}, False),
        ({}, {"image": "https://cdn.shop.example/other.png"}, True),
        ({"image": None}, {}, True),
    ],
)
def test_what_a_deal_names_anew_is_ordered_from_allowed_hosts(
    table: Table,
    context: LambdaContext,
    before: dict[str, Any] | None,
    after: dict[str, Any],
    *,
    is_ordered: bool,
) -> None:
    deal = post(table)

    publish(None if before is None else replace(deal, **before), replace(deal, **after), context)

    assert bool(waiting(table)) == is_ordered


def test_a_stage_that_fetches_nothing_orders_nothing_and_asks_for_nothing(
    table: Table,
    context: LambdaContext,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(HOSTS)
    monkeypatch.delenv(QUEUE)

    publish(None, post(table), context)
    expiry.handler(event("expiry-schedule"), context)

    assert waiting(table) == []


OWN = Picture("a" * 20, 40, 30, "c81e1e")


def upload(table: Table, deal: Deal) -> bytes:
    """An editor's upload becomes the deal's picture; returns another one, as its host would."""
    later = times.now() + timedelta(hours=1)
    uploads.record_picture(table, deal.deal_id, "uploads/x", times.to_iso(later), OWN, "", later)
    return plain_picture()


def test_an_editors_own_picture_stays(
    table: Table,
    queue: Queue,
    context: LambdaContext,
    answers: dict[str, Any],
) -> None:
    deal = post(table)
    publish(None, deal, context)
    answers[IMAGE] = lambda: upload(table, deal)  # while the other is on its way

    assert work(queue, context) == 1
    after = deals.get(table, deal.deal_id)
    publish(replace(after, image=None), after, context)

    assert after.own(Picture) == OWN
    assert waiting(table) == []


def test_another_picture_replaces_a_fetched_one(
    table: Table,
    queue: Queue,
    context: LambdaContext,
    answers: dict[str, Any],
) -> None:
    answers |= {IMAGE: plain_picture(), f"{IMAGE}?v=2": plain_picture(60, 40)}
    deal = post(table)
    publish(None, deal, context)
    work(queue, context)
    first = deals.get(table, deal.deal_id)

    second = deals.edit(table, deal.deal_id, {"image": f"{IMAGE}?v=2"}, times.now())
    publish(first, second, context)
    work(queue, context)

    shown = [each.own(Picture) for each in (first, deals.get(table, deal.deal_id))]
    assert [each and each.width for each in shown] == [40, 60]


def test_what_fails_is_tried_again_later_and_in_the_end_refused_with_the_reason(
    table: Table,
    queue: Queue,
    context: LambdaContext,
    answers: dict[str, Any],
) -> None:
    answers[IMAGE] = NotNow("Its host answered 503.")
    deal = post(table)
    publish(None, deal, context)

    for pause in PAUSES:
        assert work(queue, context) == 1
        assert work(queue, context) == 0  # not before its time
        later(table, pause)
    assert uploads.outcome_of(deals.get(table, deal.deal_id)) is None
    assert work(queue, context) == 1

    assert uploads.outcome_of(deals.get(table, deal.deal_id)) == uploads.Outcome(
        "uploads/fetched", "Its host answered 503."
    )
    assert waiting(table) == []


def test_a_fetch_whose_last_message_was_lost_comes_to_an_end(table: Table, queue: Queue) -> None:
    lost = Fetch("cdn.shop.example", PAST, "a deal", PAST, MOST_ATTEMPTS)
    table.write(put(fetches.to_item(lost), because="a test's own"))

    assert fetches.sweep(table, queue, times.now(), []) == 0

    assert waiting(table) == []


@pytest.mark.parametrize("answer", [Refused("Its host answered 404."), b"<html>"], ids=["refused", "no picture"])
def test_a_refusal_is_final_and_leaves_the_deal_as_it_was(
    table: Table,
    queue: Queue,
    context: LambdaContext,
    answers: dict[str, Any],
    answer: object,
) -> None:
    answers[IMAGE] = answer
    deal = post(table)
    publish(None, deal, context)

    work(queue, context)

    after = deals.get(table, deal.deal_id)
    outcome = uploads.outcome_of(after)
    assert outcome is not None
    assert outcome.refused
    assert (after.own(Picture), after.version, waiting(table)) == (None, deal.version, [])


def test_a_deal_that_is_gone_or_names_another_hosts_picture_by_now_is_left_alone(
    table: Table,
    queue: Queue,
    context: LambdaContext,
    answers: dict[str, Any],
) -> None:
    moved = post(table)
    deals.edit(table, moved.deal_id, {"image": "https://img.shop.example/shoe.png"}, times.now())
    for deal_id in (moved.deal_id, "3F2VM8KqLdHD6qBOm7B4Q0YD0Fs"):
        fetches.order(table, "cdn.shop.example", deal_id, times.now())

    assert work(queue, context) == 2

    assert waiting(table) == []
    assert answers == {}  # nothing was asked


def test_each_minute_takes_a_few_of_each_host_so_that_a_large_import_makes_no_other_host_wait(
    table: Table,
    queue: Queue,
) -> None:
    now = times.now()
    hosts = ("a.example", "a.example.org", "b.example", "z.example")
    for number in range(OF_A_HOST + 5):
        for host in hosts:
            fetches.order(table, host, f"deal{number:02}", PAST)

    def sent(minute: int) -> dict[str, int]:
        fetches.sweep(table, queue, now.replace(minute=minute), [])
        found = [Fetch.from_json(body).host for body in taken(queue)]
        return {host: found.count(host) for host in hosts if host in found}

    assert sent(0) == dict.fromkeys(hosts[:3], OF_A_HOST)  # from the digits on
    assert sent(8) == {"z.example": OF_A_HOST, **dict.fromkeys(hosts[:3], 5)}  # from the letter r on
    assert sent(9) == {"z.example": 5}
    assert OF_ALL == 3 * OF_A_HOST


def test_two_runs_of_the_clock_send_a_fetch_once(table: Table) -> None:
    fetches.order(table, "a.example", "deal", PAST)
    (item,) = table.query(keys.fetch("", PAST, "")["PK"])

    claimed = [fetches.claim(table, item, times.now()) for _ in range(2)]

    assert [len(each) for each in claimed] == [1, 0]


def test_a_command_orders_what_active_deals_without_a_picture_name_at_some_hosts(table: Table) -> None:
    bare, _, _, shown = [post(table), post(table, None), post(table, "https://other.example/shoe.png"), post(table)]
    uploads.record_picture(table, shown.deal_id, "uploads/x", times.to_iso(times.now()), OWN, "", times.now())
    work: Any = SimpleNamespace(table=table, now=times.now())

    assert fetch_pictures(work, ["*.shop.example"]) == {"ordered": 1}

    assert [each.deal_id for each in waiting(table)] == [bare.deal_id]
