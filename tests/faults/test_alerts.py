"""Limits of watches, alerts on prices and words. After each fault: one notification, of what holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from functions.background import publisher
from shared.data import invariants, keys
from shared.data.catalog import deals, words
from shared.data.catalog.changes import DealChange
from shared.data.members import alerts, cohorts, fanout, follows, limits, messages, several, users
from shared.data.members.cohorts import Unit
from shared.dynamodb.table import Table
from shared.errors import InvalidLimits, NotSignedIn, TooManyAlerts
from shared.models.catalog import Deal
from shared.models.members import Alert, Limits, Pace, PriceAlert
from shared.models.messages import AboutDeal
from shared.services import Queue
from shared.values import links
from tests.support.checks import faults
from tests.support.engines import MINISTACK, Engine
from tests.support.factories import APPLE, NOW, SHOES, a_deal, account_of, ahead, join, leave, let_watch, post
from tests.support.wire import losing, taken_by, watched

pytestmark = pytest.mark.faults

WorkOff = Callable[..., int]
SignUp = Callable[[int], list[str]]


def messages_of(table: Table, username: str) -> list[str]:
    """The subjects of a user's messages."""
    return [message.subject for message in messages.latest(table, username, limit=9, now=NOW).items]


def test_a_watch_notifies_of_what_is_within_its_limits(table: Table, deal: Deal, work_off: WorkOff) -> None:
    wanted = {  # the deal is a trail runner at $31.90, 79 percent off
        "all": Limits(),
        "cheap": Limits(ceiling="31.90", currency="USD"),
        "cheaper": Limits(ceiling="31.89", currency="USD"),
        "euros": Limits(ceiling="99.00", currency="EUR"),
        "off": Limits(least_discount=79),
        "more": Limits(least_discount=80),
        "words": Limits(words="Runner apple"),
        "others": Limits(words="runner sandal"),
        "never": Limits(pace=Pace.NEVER),
    }
    for name, within in wanted.items():
        join(table, name)
        follows.watch(table, APPLE, name, NOW, within=within)

    with watched(table) as wire:
        work_off(fanout.news_of(deal)[:1])

    assert [name for name in wanted if messages_of(table, name)] == ["all", "cheap", "off", "words"]
    assert wire.operations == {"GetItem": 2, "Query": 1, "BatchExecuteStatement": 1}  # as without limits


def test_new_limits_replace_the_old_and_an_old_watch_has_none(table: Table) -> None:
    let_watch(table, SHOES, "ana")
    follows.watch(table, APPLE, "ana", NOW, within=Limits(words="runner", least_discount=20))

    follows.limit(table, APPLE, "ana", Limits(ceiling="80.00", currency="USD", pace=Pace.DAILY))

    kept = Limits(ceiling="80.00", currency="USD", pace=Pace.DAILY)
    assert follows.watching(table, "ana") == {APPLE: kept, SHOES: Limits()}


def test_news_for_once_a_day_waits_in_no_list_for_its_hour(table: Table, deal: Deal, work_off: WorkOff) -> None:
    let_watch(table, APPLE, "ana", "bo", "cy")
    follows.limit(table, APPLE, "ana", Limits(pace=Pace.DAILY))

    work_off(fanout.news_of(deal)[:1], page=2)  # two cohorts, of which one is remembered

    assert [len(messages_of(table, name)) for name in ("ana", "bo", "cy")] == [0, 1, 1]
    assert messages.unread_count(table, "ana", NOW) == messages.mark_all_read(table, "ana", NOW) == 0
    assert messages.unread_count(table, "ana", ahead(hours=18, minutes=59)) == 0  # it is noon
    assert messages.unread_count(table, "ana", ahead(hours=19)) == 1


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"ceiling": "80,00"}, {"ceiling"}),
        ({"ceiling": "0"}, {"ceiling"}),
        ({"ceiling": 80}, {"ceiling"}),
        ({"ceiling": "80", "currency": "dollars"}, {"currency"}),
        ({"leastDiscount": 100, "words": "of the"}, {"leastDiscount", "words"}),
        ({"leastDiscount": True}, {"leastDiscount"}),
        ({"words": "one two three four five six"}, {"words"}),
        ({"words": "run\u0000ning"}, {"words"}),
        ({"pace": "hourly", "color": "red"}, {"pace", "color"}),
    ],
)
def test_what_no_limit_can_be_is_said_by_field(given: dict[str, object], named: set[str]) -> None:
    with pytest.raises(InvalidLimits) as refused:
        limits.read(given)

    assert {field for field, _ in refused.value.faults} == named
    assert limits.read({"ceiling": "80", "leastDiscount": "5"}) == Limits("80.00", "USD", 5)


SHOP = "https://shop.example/view.php"


def ask(table: Table, name: str, deal: Deal, price: str, pace: Pace = Pace.AT_ONCE, currency: str = "USD") -> Alert:
    """An alert of someone's on a deal's product."""
    join(table, name)
    return alerts.on_price(table, deal, name, account_of(name), Limits(price, currency, pace=pace), NOW)


def look_for(table: Table, name: str, text: str, **more: Any) -> Alert:
    """An alert of someone's on words."""
    join(table, name)
    return alerts.on_words(table, name, account_of(name), Limits(words=text, **more), NOW)


def posted(table: Table, **what: Any) -> tuple[Deal, list[Unit]]:
    """A new deal, and the work that it makes for alerts."""
    (deal,) = post(table, [a_deal(**what)])
    return deal, fanout.alerts_of(deal, "words")


def cheaper(table: Table, deal: Deal, price: str) -> list[Unit]:
    """The work that a deal's new price makes."""
    before = deals.get(table, deal.deal_id, consistent=True)
    after = deals.edit(table, deal.deal_id, {"price": price}, NOW)
    return publisher.work_of(DealChange(before, after, NOW))


def test_a_new_offer_asks_by_one_query_for_exactly_those_whose_price_it_meets(
    table: Table, deal: Deal, work_off: WorkOff
) -> None:
    for name, price in (("above", "31.91"), ("at", "31.90"), ("below", "31.89")):
        ask(table, name, deal, price)
    ask(table, "euros", deal, "99.00", currency="EUR")
    ask(table, "never", deal, "99.00", Pace.NEVER)
    ask(table, "other", a_deal(link="https://shop.example/another"), "99.00")
    new, (unit,) = posted(table, link=f"{deal.link}?utm_source=mail&gclid=1")

    with watched(table) as wire:
        work_off([unit])

    names = ("above", "at", "below", "euros", "never", "other")
    assert [name for name in names if messages_of(table, name)] == ["above", "at"]
    assert messages_of(table, "at") == ["$31.90: Trail runner"]
    queried = [request for request in wire.requests if request.operation == "Query"]
    by_word = [named(word) for word in words.of_deal(new) for named in (keys.words_alerts, keys.joined_alerts)]
    partitions = [*by_word, keys.price_alerts(links.product_hash(deal.link), "USD")]
    assert sorted(str(request.partition) for request in queried) == sorted(partitions)


def test_an_alert_on_a_product_ignores_another_whose_address_differs_in_its_query(
    table: Table, work_off: WorkOff
) -> None:
    (machine,) = post(table, [a_deal(title="Espresso machine", link=f"{SHOP}?id=1", price="300.00")])
    ask(table, "ana", machine, "50.00")

    _, units = posted(table, title="Garden hose", link=f"{SHOP}?id=2", price="19.00")
    work_off(units)
    about_hose = messages_of(table, "ana")
    _, units = posted(table, title="Espresso", link="http://SHOP.example/view.php?fbclid=x&id=1", price="49.00")
    work_off(units)

    assert about_hose == []
    assert messages_of(table, "ana") == ["$49.00: Espresso"]


def test_a_price_that_moves_notifies_of_each_lower_price_once(table: Table, deal: Deal, work_off: WorkOff) -> None:
    ask(table, "ana", deal, "30.00")

    for price in ("29.00", "31.00", "29.00", "28.50", "28.50", "30.00"):
        for _ in range(2):  # the stream and the queue repeat themselves
            work_off(cheaper(table, deal, price))

    assert sorted(messages_of(table, "ana")) == ["$28.50: Trail runner", "$29.00: Trail runner"]
    (alert,) = alerts.of(table, "ana")
    assert isinstance(alert, PriceAlert)
    assert (alert.armed, alert.limits.ceiling) == (28_49, "30.00")


def test_a_price_that_moved_twice_before_the_notification_is_shown_as_it_is(
    table: Table, deal: Deal, work_off: WorkOff
) -> None:
    ask(table, "ana", deal, "30.00")
    ask(table, "bo", deal, "27.00")
    falls = [*cheaper(table, deal, "26.00"), *cheaper(table, deal, "28.00"), *cheaper(table, deal, "27.50")]

    work_off(falls)

    assert messages_of(table, "ana") == ["$27.50: Trail runner"]
    assert messages_of(table, "bo") == []


def test_a_new_deal_notifies_those_all_of_whose_words_it_has(table: Table, work_off: WorkOff) -> None:
    for name, text in (("one", "RUNNERS"), ("both", "apple trail"), ("more", "trail sandal"), ("else", "sandal")):
        look_for(table, name, text)
    look_for(table, "cheap", "runner", ceiling="20.00", currency="USD")
    _, units = posted(table)

    work_off(units * 2)

    assert messages_of(table, "one") == messages_of(table, "both") == ["New: Trail runner"]
    assert [messages_of(table, name) for name in ("more", "else", "cheap")] == [[], [], []]


@pytest.mark.parametrize("alerts_first", [True, False])
def test_one_message_for_one_deal_names_all_alerts_and_is_sent_at_once_if_one_wants_that(
    table: Table, deal: Deal, work_off: WorkOff, alerts_first: bool
) -> None:
    ask(table, "ana", deal, "40.00", Pace.DAILY)
    look_for(table, "ana", "trail", pace=Pace.DAILY)
    follows.watch(table, APPLE, "ana", NOW)
    work = [fanout.alerts_of(deal, "words"), fanout.news_of(deal)[:1]]

    for units in work if alerts_first else work[::-1]:
        work_off(units * 2)

    (message,) = messages.latest(table, "ana", limit=9, now=NOW).items
    assert isinstance(message.about, AboutDeal)
    named = {message.about.watched, *(message.about.also or [])}
    alerted = {"“trail”", "this product at $40.00 or less"}
    assert named == alerted | (set() if alerts_first else {"Apple"})


def test_cohorts_of_alerts_notify_everyone_once_though_each_comes_twice(
    table: Table, queue: Queue, deal: Deal, work_off: WorkOff, sign_up: SignUp
) -> None:
    names = sign_up(23)
    for number, name in enumerate(names):
        ask(table, name, deal, f"4{number % 10}.00")
        look_for(table, name, "runner")
    _, units = posted(table)

    work_off(units * 2, page=5)

    assert [len(messages_of(table, name)) for name in names] == [1] * 23


def test_a_cohort_of_alerts_counts_its_messages_numbers_the_next_and_sends_none_of_what_is_over(
    table: Table, queue: Queue, deal: Deal, sign_up: SignUp
) -> None:
    over = a_deal(ends_at=ahead(hours=1))
    deals.create(table, over, NOW)
    for name in sign_up(3):
        ask(table, name, deal, "40.00")
    (unit,) = fanout.alerts_of(deal, "words")

    first = fanout.deliver(table, queue, unit, NOW, 2)

    (continued,) = queue.receive()
    assert (first, Unit.from_json(continued.body).number) == (fanout.Delivered(2, 2), 1)
    assert fanout.deliver(table, queue, fanout.alerts_of(over, "words")[0], ahead(hours=1)) == fanout.Delivered()


@pytest.fixture
def imported(table: Table) -> list[Deal]:
    """New deals that one batch of the stream brings: a product at two prices, shoes of two brands, a lamp."""
    return post(
        table,
        [
            a_deal(title="Trail runner", price="31.90", link=f"{SHOP}?id=1"),
            a_deal(title="Trail runner, used", price="25.00", link=f"{SHOP}?id=1"),
            a_deal(title="Road runner", price="60.00", link=f"{SHOP}?id=2", brand="asics"),
            a_deal(title="Desk lamp", price="9.00", link=f"{SHOP}?id=3", category="home"),
        ],
    )


def told(table: Table, *names: str) -> dict[str, list[str]]:
    """The titles of the deals of which users were notified."""
    found = {name: messages.latest(table, name, limit=9, now=NOW).items for name in names}
    return {
        name: sorted(each.about.title for each in items if isinstance(each.about, AboutDeal))
        for name, items in found.items()
    }


@pytest.mark.parametrize("page", [1, 2, 250])
def test_news_of_many_deals_at_once_notifies_as_news_of_each(
    table: Table, imported: list[Deal], work_off: WorkOff, page: int
) -> None:
    by_title = {deal.title: deal for deal in imported}
    ask(table, "ana", by_title["Trail runner"], "30.00")
    ask(table, "bo", by_title["Road runner"], "59.00")
    look_for(table, "cy", "runner")
    look_for(table, "dee", "lamp", ceiling="8.00", currency="USD")
    look_for(table, "eve", "t-shirt")
    join(table, "fay", "gus")
    follows.watch(table, APPLE, "fay", NOW, within=Limits(ceiling="30.00", currency="USD"))
    follows.watch(table, SHOES, "gus", NOW)
    alone = [unit for deal in imported for unit in (*fanout.news_of(deal), *fanout.alerts_of(deal, "words"))]
    together = several.merged(alone)

    work_off(together * 2, page=page)
    told_at_once = told(table, "ana", "bo", "cy", "dee", "eve", "fay", "gus")
    work_off(alone, page=page)

    runners = ["Road runner", "Trail runner", "Trail runner, used"]
    assert told_at_once == {
        "ana": ["Trail runner, used"],
        "bo": [],
        "cy": runners,
        "dee": [],
        "eve": [],
        "fay": ["Desk lamp", "Trail runner, used"],
        "gus": runners,
    }
    assert told(table, *told_at_once) == told_at_once
    assert sorted((unit.kind, unit.topic) for unit in together) == [
        ("brand", "apple"), ("brand", "asics"), ("category", "home"), ("category", "shoes"), ("words", "")
    ]  # fmt: skip


def test_news_of_many_deals_asks_once_for_each_topic_and_each_word(
    table: Table, imported: list[Deal], work_off: WorkOff
) -> None:
    alone = [unit for deal in imported for unit in (*fanout.news_of(deal), *fanout.alerts_of(deal, "words"))]
    found_by = {word for deal in imported for word in words.stems_of(words.of_deal(deal))}

    with watched(table) as wire:
        work_off(several.merged(alone))

    # The deals; a Query of each of three products, two of each word; and one for each topic of several deals. One of a
    # single deal reads its deal and its marker, too.
    assert wire.operations == {"BatchGetItem": 1, "GetItem": 4, "Query": 3 + 2 * len(found_by) + 4}


def test_a_batch_of_another_request_or_of_more_deals_than_fit_is_a_unit_of_its_own(deal: Deal) -> None:
    many = [replace(deal, deal_id=f"{number}") for number in range(several.TOGETHER + 1)]
    other = replace(deal, deal_id="other", correlation_id="another request")
    hot = fanout.alarm_of(deal, 2)

    units = several.merged([*(fanout.alerts_of(each, "words")[0] for each in [*many, other, many[0]]), *hot])

    assert [len(unit.deal_ids) for unit in units] == [several.TOGETHER, 1, 1, 1, 1]
    assert units[-2:] == hot
    assert [Unit.from_json(unit.to_json()) for unit in units] == units


def test_a_unit_that_1_1_0_queued_is_of_one_deal(deal: Deal) -> None:
    (unit,) = fanout.alerts_of(deal, "words")
    body = {name: value for name, value in json.loads(unit.to_json()).items() if name != "others"}

    assert Unit.from_json(json.dumps(body)) == unit


def test_a_lost_answer_notifies_once_and_arms_once(table: Table, deal: Deal, work_off: WorkOff) -> None:
    ask(table, "ana", deal, "40.00")

    with losing(table, "TransactWriteItems"):
        work_off(fanout.alerts_of(deal, "words"))

    assert messages_of(table, "ana") == ["$31.90: Trail runner"]
    assert [alert.armed for alert in alerts.of(table, "ana") if isinstance(alert, PriceAlert)] == [31_89]


def test_an_alert_that_has_changed_sends_nothing_of_what_the_index_still_shows(table: Table, deal: Deal) -> None:
    unit = fanout.alerts_of(deal, "words")[0]
    shown = [ask(table, "ana", deal, "40.00"), look_for(table, "bo", "trail"), look_for(table, "cy", "runner")]
    ask(table, "ana", deal, "20.00")
    alerts.remove(table, "bo", shown[1].alert_id)
    leave(table, "cy")
    join(table, "cy")

    assert alerts.notify(table, unit, deal, shown, NOW) == 0

    assert [messages_of(table, name) for name in ("ana", "bo", "cy")] == [[], [], []]


def test_an_account_has_a_hundred_alerts_and_no_more(table: Table, deal: Deal) -> None:
    for number in range(alerts.MOST):
        look_for(table, "ana", f"word{number}")

    look_for(table, "ana", "word7", least_discount=10)  # in place of the one that is there
    with pytest.raises(TooManyAlerts):
        ask(table, "ana", deal, "40.00")
    alerts.remove(table, "ana", look_for(table, "ana", "word8").alert_id)
    ask(table, "ana", deal, "40.00")
    with pytest.raises(NotSignedIn):
        alerts.on_price(table, deal, "ana", "an-earlier-owner", Limits("40.00", "USD"), NOW)

    assert len(alerts.of(table, "ana")) == alerts.MOST
    assert {fault.rule for fault in faults(table.everything(), NOW)} & {invariants.ACCOUNTS, invariants.INDEX} == set()
    leave(table, "ana")
    assert alerts.of(table, "ana") == []


def test_a_changed_price_arms_an_alert_anew_and_another_pace_does_not(
    table: Table, deal: Deal, work_off: WorkOff
) -> None:
    alert = ask(table, "ana", deal, "40.00")
    work_off(fanout.alerts_of(deal, "words"))
    alert = alerts.get(table, "ana", alert.alert_id)

    kept = alerts.change(table, alert, Limits("40.00", "USD", pace=Pace.DAILY))
    anew = alerts.change(table, alert, Limits("50.00", "USD"))

    assert [each.armed for each in (alert, kept, anew) if isinstance(each, PriceAlert)] == [31_89, 31_89, 50_00]


def test_a_hot_deal_notifies_at_the_pace_that_a_member_chose(table: Table, deal: Deal, work_off: WorkOff) -> None:
    join(table, "ana", "bo", "cy")
    users.set_hot_notifications(table, "bo", Pace.DAILY)
    users.set_hot_notifications(table, "cy", Pace.NEVER)
    hot = deals.make_hot(table, deal.deal_id, NOW)

    work_off(fanout.alarm_of(hot, 1))

    in_a_day = [messages.unread_count(table, name, ahead(days=1)) for name in ("ana", "bo", "cy")]
    assert [len(messages_of(table, name)) for name in ("ana", "bo", "cy")] == [1, 0, 0]
    assert in_a_day == [1, 1, 0]
    assert cohorts.progress_of(table, deal.deal_id).notified == 2


def test_each_cohort_begins_behind_the_last_alert_of_the_one_before(table: Table, deal: Deal) -> None:
    for name in ("ana", "bo"):
        ask(table, name, deal, "40.00")
        look_for(table, name, "trail")
    (unit,) = fanout.alerts_of(deal, "words")

    met = []
    for _ in range(4):
        found, following = alerts.cohort(table, unit, [deal], 1)
        met += [(alert.username, type(alert)) for _, alert in found]
        unit = replace(unit, start=following)

    assert len(set(met)) == len(met) == 4
    assert alerts.cohort(table, unit, [deal], 1) == ([], None)


def test_what_alerts_take_is_what_the_document_says(table: Table, deal: Deal, engine: Engine) -> None:
    if engine is MINISTACK:
        pytest.skip("its capacity figures are not DynamoDB's")
    join(table, "ana", "bo")
    (unit,) = fanout.alerts_of(deal, "words")
    met: dict[str, list[Alert]] = {}

    def asked() -> None:
        found, _ = alerts.cohort(table, unit, [deal], 250)
        met.update({alert.username: [alert] for _, alert in found})

    steps: dict[str, Callable[[], object]] = {
        "a new deal of five words, without alerts": asked,
        "create an alert on a price": lambda: alerts.on_price(
            table, deal, "ana", account_of("ana"), Limits("40.00", "USD"), NOW
        ),
        "create an alert on words": lambda: alerts.on_words(table, "bo", account_of("bo"), Limits(words="trail"), NOW),
        "": asked,
        "notify a member of a price": lambda: alerts.notify(table, unit, deal, met["ana"], NOW),
        "notify a member of words": lambda: alerts.notify(table, unit, deal, met["bo"], NOW),
    }

    page = (Path(__file__).parents[2] / "docs" / "cost.md").read_text(encoding="utf-8")
    took = taken_by(table, steps)
    lines = [f"| {name} | {of.read:g} | {of.write:g} | {of.dollars / 1000:.4f} |" for name, of in took.items() if name]
    assert [line for line in lines if line not in page] == []


NAMES = [f"{first}{second}{first}" for first in "bcd" for second in "aeiou"]


@pytest.mark.parametrize("count", [98, 99, alerts.MOST])
def test_a_member_all_of_whose_alerts_are_met_is_notified_once_in_as_many_transactions_as_it_takes(
    table: Table, work_off: WorkOff, count: int
) -> None:
    pairs = [" ".join(pair) for pair in combinations(NAMES, 2)][: count - 1]
    for pair in pairs:
        look_for(table, "ana", pair)
    deal, _ = posted(table, title=" ".join(NAMES), price="40.00")
    ask(table, "ana", deal, "40.00")
    (unit,) = fanout.alerts_of(deal, "words")

    with losing(table, "TransactWriteItems"):
        work_off([unit], page=200)
    work_off([unit], page=200)

    (message,) = messages.latest(table, "ana", limit=9, now=NOW).items
    assert isinstance(message.about, AboutDeal)
    assert message.subject == f"$40.00: {deal.title}"
    named = [message.about.watched, *(message.about.also or [])]
    assert sorted(map(str, named)) == sorted(["this product at $40.00 or less", *(f"“{pair}”" for pair in pairs)])
