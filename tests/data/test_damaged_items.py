"""Items of each kind, damaged by hand one attribute at a time: what lists them leaves them out and names them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from demo import corrections
from shared.data import invariants, keys
from shared.data.catalog import deals, feed_counts, feeds, offers, page_cache, picks, search, topics, words
from shared.data.catalog.page_cache import HTML, JSON, NEWEST, Copy
from shared.data.members import alerts, cohorts, fanout, follows, limits, messages, sessions, users
from shared.dynamodb import damage
from shared.dynamodb.attributes import Item, marshal, marshal_item
from shared.dynamodb.schema import KEYS, Key
from shared.dynamodb.table import Table
from shared.dynamodb.writes import forget
from shared.errors import Busy, Damaged, DealsError, Impossible
from shared.models.catalog import FRONT_PAGE, Deal, Feed
from shared.models.members import Limits
from shared.values import identifiers
from tests.support.cases import cases, cases_by_name
from tests.support.checks import faults
from tests.support.factories import (
    APPLE,
    FEEDS,
    NOW,
    SHOES,
    a_deal,
    a_message,
    a_user,
    account_of,
    ago,
    ahead,
    ids,
    post,
    send,
)
from tests.support.wire import Answer, answered, error

Reader = Callable[[Table], Any]

LINK = "https://shop.example/trail-runner"


def deal_ids(table: Table) -> list[str]:
    """The ids of the deals of the world, in their order."""
    return ids(offers.offers(table, LINK))


def swept(table: Table) -> list[list[str]]:
    """The feeds after a sweep of the world's deals, which are listed again afterwards."""
    feeds.sweep(table, ahead(hours=1))
    left = [ids(feeds.read(table, feed, limit=9, now=NOW).items) for feed in FEEDS]
    for deal_id in deal_ids(table):
        deals.edit(table, deal_id, {}, NOW)
    return left


def units(table: Table) -> list[cohorts.Unit]:
    return [unit for deal_id in deal_ids(table)[:1] for unit in fanout.news_of(deals.get(table, deal_id))]


def told(table: Table) -> list[Any]:
    """Who is told of the newest deal."""
    deal = deals.get(table, deal_ids(table)[0])
    return [cohorts.readers_of(table, unit, deal, 9, NOW).usernames for unit in units(table)]


def told_of_alerts(table: Table) -> list[str]:
    """Whose alerts the newest deal meets."""
    deal = deals.get(table, deal_ids(table)[0])
    (unit,) = fanout.alerts_of(deal, "words")
    return [alert.username for _, alert in alerts.cohort(table, unit, [deal], 9)[0]]


READERS: Mapping[str, tuple[Reader, ...]] = {
    keys.PERIODS: tuple(partial(lambda feed, table: feeds.read(table, feed, limit=9, now=NOW), f) for f in FEEDS),
    keys.ENDING: (
        *(partial(lambda feed, table: feeds.read(table, feed, limit=9, now=ahead(hours=2)), feed) for feed in FEEDS),
        lambda table: ids(feeds.upcoming(table, NOW, days=2, most=9).items),
        swept,
    ),
    keys.ENDINGS: (swept,),
    keys.PRODUCT_OFFER: (partial(offers.offers, link=LINK),),
    keys.WORD: (lambda table: search.find(table, words.asked("trail runner"), limit=9),),
    keys.WORD_COUNT: (
        lambda table: search.find(table, words.asked("trail runner"), limit=9),
        lambda table: search.find(table, words.asked("runner trai"), limit=9),
        lambda table: search.find(table, words.asked("trial"), limit=9),
    ),
    keys.BRANDS: (topics.brand_names,),
    keys.TOPIC[APPLE.kind]: (
        partial(topics.get, topic=APPLE),
        lambda table: topics.get_many(table, [APPLE, SHOES]),
        lambda table: feeds.open_feed(table, APPLE),
    ),
    keys.TOPIC[SHOES.kind]: (
        lambda table: page_cache.read_category(table, SHOES, shard=1, now=NOW),
        lambda table: feeds.read(table, FEEDS[2], limit=9, now=NOW),
    ),
    keys.WATCH[APPLE.kind]: (partial(follows.watches, username="ana"), told),
    keys.LIKE[APPLE.kind]: (partial(follows.likes, username="ana"),),
    FRONT_PAGE.type: (
        lambda table: picks.read(table, FRONT_PAGE, NOW),
        lambda table: picks.refresh(table, FRONT_PAGE, NOW),
    ),
    keys.DEALS_CACHE: (
        lambda table: page_cache.read(table, [NEWEST], shard=1, now=NOW),
        lambda table: page_cache.age(table, NEWEST, NOW),
    ),
    keys.MESSAGE: (
        partial(messages.latest, username="ana", limit=9, now=NOW),
        partial(messages.latest, username="ana", limit=1, now=NOW, unread=True),
        partial(messages.unread_count, username="ana", now=NOW),
    ),
    keys.PRICE_ALERT: (partial(alerts.of, username="ana"), told_of_alerts),
    keys.WORDS_ALERT: (partial(alerts.of, username="ana"), told_of_alerts),
    keys.FAN_OUT: (lambda table: cohorts.progress_of(table, deal_ids(table)[0]),),
    **cases_by_name("LISTED_BY"),
}
"""By the type of an item, what reads it among others: for a page that everyone sees, for the clock or the stream."""


MAY_BE_ABSENT = {
    "Address", "Alike", "CorrelationId", "Day15", "DealNumber", "EndsAt", "LastPage", "ListPrice", "Month06",
    "Username", "Watched", *limits.ATTRIBUTES, "Word.Brand", "Word.Card", "Word.Discount", "Word.Price", "Word.Product",
    "Word.Version",
}  # fmt: skip
"""Attributes that an item need not have: without them it is no damaged one."""


@pytest.fixture
def _moto_compares_values_of_two_kinds() -> Iterator[None]:
    """moto raises a TypeError for a condition that compares text with a number: in DynamoDB it is false."""
    with corrections.applied():
        yield


@pytest.fixture
def world(table: Table) -> Table:
    """A table with two or more items of each kind."""
    posted = post(table, [a_deal(ago(minutes=number), link=LINK, ends_at=ahead(minutes=number)) for number in (9, 8)])
    for deal in posted:
        offers.file(table, None, deal)
        search.file(table, None, deal)
        for happen in cases("HAPPENS_TO"):
            happen(table, deal)
    picks.set_featured(table, FRONT_PAGE, ids(posted), NOW)
    copy, expires = Copy(None, '{"items": []}'), ahead(hours=1)
    for form in (JSON, HTML):
        page_cache.write(table, NEWEST, copy, began=NOW, expires=expires, form=form)
    for name in ("ana", "bo"):
        users.create(table, a_user(name))
        for topic in (APPLE, SHOES):
            follows.watch(table, topic, name, NOW)
            follows.like(table, topic, name, NOW)
    for number, deal in enumerate(posted):
        send(table, a_message(deal))
        for give in cases("OWNS"):
            give(table, deal, "ana", NOW)
        name = ("ana", "bo")[number]
        alerts.on_price(table, deal, name, account_of(name), Limits("40.00", "USD"), NOW)
        alerts.on_words(table, name, account_of(name), Limits(words="trail"), NOW)
        for unit in fanout.alarm_of(deal, 2):
            fanout._finish(table, unit, cohorts.readers_of(table, unit, deal, 9, NOW), NOW)
    return table


def store(table: Table, item: Mapping[str, Any]) -> None:
    table.client.put_item(TableName=table.name, Item=marshal_item(item))


def spoiled(item: Item) -> Iterator[tuple[str, Item]]:
    """An item without each of its attributes in turn, and with a value of another kind in its place."""
    for name in item.keys() - {*KEYS, "Type"}:
        rest = {each: value for each, value in item.items() if each != name}
        if not MAY_BE_ABSENT & {name, f"{item['Type']}.{name}"}:
            yield f"{name} is gone", rest
        yield f"{name} is of another kind", {**rest, name: 7 if "S" in marshal(item[name]) else "damaged"}


def test_what_lists_an_item_goes_on_where_one_is_damaged(world: Table) -> None:
    silent = []

    for kind, readers in READERS.items():
        items = [each for each in world.scan()[0] if each["Type"] == kind]
        whole = [read(world) for read in readers]
        item = next(each for each in items if missed(world, each, readers, whole))
        for how, bad in spoiled(item):
            store(world, bad)
            damage.taken()
            found = [read(world) for read in readers]
            named = bool(damage.taken()) or kind == keys.DEALS_CACHE  # a copy that is none is counted as missing
            if found != whole and not named:
                silent.append(f"{kind}: {how}")
            store(world, item)

    assert not silent, "; ".join(silent)


SESSION = identifiers.token(bytes(31) + b"1")

OWN: Mapping[str, Callable[[Item], Reader]] = {
    keys.DEAL_NUMBER: lambda item: partial(deals.find, id_or_number=keys.id_in(item["PK"])),
    keys.USER: lambda item: partial(users.get, username=keys.id_in(item["PK"])),
    keys.PRICE_ALERT: lambda item: partial(alerts.get, username="ana", alert_id=keys.id_in(item["SK"])),
    keys.WORDS_ALERT: lambda item: partial(alerts.get, username="ana", alert_id=keys.id_in(item["SK"])),
    keys.MESSAGE: lambda item: partial(messages.mark_read, username="ana", message_id=keys.id_in(item["SK"]), now=NOW),
    keys.SESSION: lambda _: partial(sessions.authenticate, token=SESSION, now=NOW),
    **cases_by_name("READ_BY"),
}
"""By the type of an item, what reads it by itself."""


@pytest.mark.usefixtures("_moto_compares_values_of_two_kinds")
def test_an_item_that_is_asked_for_is_read_or_said_to_be_damaged(world: Table) -> None:
    sessions.start(world, a_user(), NOW, bytes(31) + b"1")

    for kind, own in OWN.items():
        items = [each for each in world.scan()[0] if each["Type"] == kind and each.get("Username") != "bo"]
        assert items, kind
        for item in items:
            read = own(item)
            assert read(world) is not None, kind
            for how, bad in spoiled(item):
                store(world, bad)
                try:
                    read(world)
                except DealsError:
                    continue
                except Exception as error:
                    raise AssertionError(f"{kind}: {how}: {error!r}") from error
            store(world, item)


def missed(table: Table, item: Item, readers: Sequence[Reader], whole: list[Any]) -> bool:
    """Whether those readers would miss an item, which they must meet to be held up by it."""
    table.write(forget(keys.primary(item), because="a test's own"))
    try:
        return [read(table) for read in readers] != whole
    except DealsError:
        return True
    finally:
        store(table, item)


def counting(deal: Deal, feed: Feed) -> Key:
    return keys.periods(feed, feed_counts.places(deal)[feed])


@pytest.mark.parametrize("damaged", ["the period", "the total", "both"])
def test_a_deal_is_posted_though_the_count_of_a_feed_is_damaged_which_is_counted_anew(
    table: Table, damaged: str
) -> None:
    (there,) = post(table, [a_deal(ago(minutes=5))])
    post(table, [a_deal(ago(days=3))])
    names = {"the period": ["Day15", "Month06"], "the total": ["Total"], "both": ["Day15", "Month06", "Total"]}[damaged]
    for feed in FEEDS:
        item = table.get(counting(there, feed)) or {}
        store(table, {**item, **{name: "many" for name in names if name in item}})

    new = deals.create(table, a_deal(), NOW)

    assert set(damage.taken()) == {" / ".join(counting(new, feed).values()) for feed in FEEDS}
    assert [len(feeds.read(table, feed, limit=9, now=NOW).items) for feed in FEEDS] == [3, 3, 3]
    assert [fault for fault in faults(table.everything(), NOW) if fault.rule == invariants.FEEDS] == []


@pytest.mark.parametrize("leaves", ["is withdrawn", "ends"])
@pytest.mark.parametrize("missing", ["item", "period", "total"])
def test_a_deal_leaves_the_feeds_though_a_count_is_missing_which_is_counted_anew(
    table: Table, missing: str, leaves: str
) -> None:
    ending, *_ = post(table, [a_deal(ago(minutes=number), ends_at=ahead(hours=number + 1)) for number in range(3)])
    for feed in FEEDS:
        key = counting(ending, feed)
        item = table.get(key) or {}
        gone = {"item": set(item), "period": {"Day15", "Month06"}, "total": {"Total"}}[missing]
        left = {name: value for name, value in item.items() if name not in gone}
        table.write(forget(key, because="a hand's")) if missing == "item" else store(table, left)

    if leaves == "ends":
        assert feeds.sweep(table, ahead(hours=1)) == 1
    else:
        deals.withdraw(table, ending.deal_id, NOW)

    assert set(damage.taken()) == {" / ".join(counting(ending, feed).values()) for feed in FEEDS}
    assert [len(feeds.read(table, feed, limit=9, now=NOW).items) for feed in FEEDS] == [2, 2, 2]
    assert [fault for fault in faults(table.everything(), ahead(hours=1)) if fault.rule == invariants.FEEDS] == []


def test_a_sweep_goes_on_where_a_deal_cannot_leave_the_feeds(table: Table) -> None:
    made = post(table, [a_deal(ago(minutes=9), ends_at=ahead(minutes=number)) for number in (1, 2, 3)])
    busy = next(deal for deal in made if deal.ends_at == ahead(minutes=2))
    failures: damage.Failures = []

    with answered(replace(table, sleep=lambda _: None), "TransactWriteItems", partial(refused, busy.deal_id)):
        swept = feeds.sweep(table, ahead(minutes=5), failures=failures)

    assert swept == 3
    assert [type(error) for _, error in failures] == [Busy]
    assert busy.deal_id in damage.failed()[0]
    assert ids(feeds.read(table, FEEDS[0], limit=9, now=NOW).items) == [busy.deal_id]
    assert feeds.sweep(table, ahead(days=1, hours=2)) == 1
    assert feeds.read(table, FEEDS[0], limit=9, now=NOW).items == ()


def refused(deal_id: str, request: Mapping[str, Any]) -> Answer | None:
    return error("ThrottlingException") if deal_id in str(request) else None


def test_work_over_many_goes_on_where_one_is_damaged_or_fails() -> None:
    def work(thing: str) -> str:
        errors = {"a": Damaged("ITEM#a", "why"), "b": KeyError("Type"), "c": Impossible("no number"), "d": Busy("late")}
        if thing in errors:
            raise errors[thing]
        return thing.upper()

    done: list[str] = []
    with pytest.raises(Busy, match="late"):
        done.extend(damage.each("abcdef", work, str))

    assert done == ["E", "F"]
    assert (damage.taken(), damage.failed()) == (["ITEM#a", "b", "c"], ["d: Busy: late"])


def test_failures_of_work_over_many_are_their_callers_where_it_asks_for_them() -> None:
    failures: list[tuple[int, Exception]] = []

    halves = list(damage.each([2, 0, 4], lambda number: 8 // number, str, failures=failures))

    assert halves == [4, 2]
    assert [(number, type(error)) for number, error in failures] == [(0, ZeroDivisionError)]
    assert damage.failed() == ["0: ZeroDivisionError: integer division or modulo by zero"]
