"""Properties that hold whatever is done: feeds against a sorted list, counts against what is counted, searches against
alerts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from hypothesis import assume, example, given, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from shared.data import keys
from shared.data.catalog import deals, feed_counts, feeds, search, topics, words
from shared.data.catalog.deals import is_listed
from shared.data.members import alerts, fanout, follows, limits
from shared.dynamodb.table import Table
from shared.errors import AlreadyLiked, AlreadyWatching, DealsError, NotLiked, NotWatching
from shared.models.catalog import ALL_DEALS, Deal, Feed, Status, Topic, feed_of
from shared.models.members import Limits
from tests.support.engines import DYNOXIDE_ENGINE, MINISTACK, MOTO, Engine
from tests.support.factories import (
    APPLE,
    ASICS,
    FEEDS,
    HOME,
    NOW,
    SHOES,
    a_deal,
    account_of,
    ago,
    ids,
    join,
    newest_first,
    open_brands,
    post,
)
from tests.support.wire import watched

EXAMPLES = {MOTO.name: 4, MINISTACK.name: 20, DYNOXIDE_ENGINE.name: 8}
"""How many examples each engine can run within seconds; moto copies its table for each transaction."""


def examples(engine: Engine) -> settings:
    return settings(max_examples=EXAMPLES.get(engine.name, 20))


# Seconds before now: bursts within a second, hours, days around midnight, gaps of years.
BURSTS = st.tuples(
    st.one_of(
        st.integers(0, 3),
        st.integers(0, 200_000),
        st.integers(-1, 1).map(lambda second: 12 * 3600 + second),
        st.integers(0, 36).map(lambda years: years * 365 * 86_400),
    ),
    st.integers(1, 5),
)
HISTORIES = st.lists(BURSTS, max_size=9)


def deals_of(history: list[tuple[int, int]]) -> list[Deal]:
    """So many deals at each of so many seconds ago, in two brands and two categories."""
    times = [NOW - timedelta(seconds=seconds) for seconds, number in history for _ in range(number)]
    return [
        a_deal(when, brand=("apple", "asics")[number % 5 == 0], category=("shoes", "home")[number % 3 == 0])
        for number, when in enumerate(times)
    ]


def belongs(deal: Deal, feed: Feed) -> bool:
    return feed.topic is None or feed.topic.slug in (deal.brand, deal.category)


def test_a_feed_walked_page_by_page_is_the_sorted_list_of_what_was_posted(engine: Engine) -> None:
    @examples(engine)
    @given(HISTORIES, st.integers(1, 12))
    @example([(0, 16)], 8)  # of one second, and the last page is full
    @example([(14 * 86_400 + 43_200 + second, 1) for second in range(-5, 7)], 5)  # across the start of a day and month
    @example([(0, 24), (43_201, 1)], 4)  # a last page whose first deals are of a day with more than counts are read for
    def walked(history: list[tuple[int, int]], limit: int) -> None:
        with engine.table() as table:
            open_brands(table)
            posted = post(table, deals_of(history))
            for feed in (*FEEDS, feed_of(ASICS), feed_of(HOME)):
                expected = [deal for deal in posted if belongs(deal, feed)]
                holding = {keys.feed_partition(feed, feed.period.start_of(deal.created_at)) for deal in expected}

                pages = list(page_by_page(table, feed, limit, holding))

                assert [deal for page in pages for deal in page] == ids(expected)
                assert all(len(page) == limit for page in pages[:-1])
                assert len(pages) == max(1, -(-len(expected) // limit))

    walked()


def page_by_page(table: Table, feed: Feed, limit: int, holding: set[str]) -> Any:
    """The ids of each page, while what is asked for each of them is checked against what it may be."""
    cursor = None
    while True:
        with watched(table) as wire:
            page = feeds.read(table, feed, limit=limit, now=NOW, cursor=cursor)
        assert wire.round_trips <= 3
        assert set(wire.partitions) <= holding
        yield ids(page.items)
        cursor = page.next
        if cursor is None:
            return


def test_deals_posted_anywhere_between_pages_are_never_repeated_and_hide_none(engine: Engine) -> None:
    @examples(engine)
    @given(HISTORIES, st.lists(HISTORIES.filter(bool), max_size=3), st.integers(1, 7))
    def walked(history: list[tuple[int, int]], later: list[list[tuple[int, int]]], limit: int) -> None:
        with engine.table() as table:
            open_brands(table)
            there = [deal for deal in post(table, deals_of(history)) if belongs(deal, feed_of(SHOES))]
            seen: list[str] = []
            cursor, more, inserts = None, True, list(later)

            while more:
                page = feeds.read(table, feed_of(SHOES), limit=limit, now=NOW, cursor=cursor)
                seen += ids(page.items)
                cursor, more = page.next, page.next is not None
                if inserts:
                    post(table, deals_of(inserts.pop()))

            assert seen == sorted(set(seen), reverse=True)
            assert [deal_id for deal_id in seen if deal_id in set(ids(there))] == ids(there)

    walked()


ACTIONS: dict[str, tuple[Callable[[Table, Topic, str], object], type[DealsError], bool]] = {
    "like": (partial(follows.like, now=NOW), AlreadyLiked, True),
    "unlike": (follows.unlike, NotLiked, False),
    "watch": (partial(follows.watch, now=NOW), AlreadyWatching, True),
    "unwatch": (follows.unwatch, NotWatching, False),
}
"""By name: what is done, the refusal of it, and whether it gives or takes back."""

STEPS = st.lists(
    st.tuples(st.sampled_from([*ACTIONS]), st.sampled_from(["ana", "bo", "cy"]), st.sampled_from([APPLE, SHOES])),
    max_size=25,
)


def test_counts_are_the_numbers_of_like_and_watch_items_after_any_interleaving(engine: Engine) -> None:
    @examples(engine)
    @given(STEPS)
    def counted(steps: list[tuple[str, str, Topic]]) -> None:
        with engine.table() as table:
            open_brands(table)
            join(table, "ana", "bo", "cy")
            liking: set[tuple[str, Topic]] = set()
            watching: set[tuple[str, Topic]] = set()

            for action, name, topic in steps:
                kept = watching if action.endswith("watch") else liking
                do, refusal, gives = ACTIONS[action]
                with suppress(refusal):
                    do(table, topic, name)
                    assert ((name, topic) not in kept) is gives
                (kept.add if gives else kept.discard)((name, topic))

            types = Counter(item["Type"] for item in table.scan()[0])
            for topic in (APPLE, SHOES):
                page = topics.get(table, topic)
                assert page.likes == types[keys.LIKE[topic.kind]] == sum(of == topic for _, of in liking)
                assert page.watchers == types[keys.WATCH[topic.kind]] == sum(of == topic for _, of in watching)

    counted()


CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "brand": st.sampled_from(["apple", "asics"]),
        "category": st.sampled_from(["shoes", "home"]),
        "title": st.just("Road runner"),
    },
)


class Editing(RuleBasedStateMachine):
    """Any sequence of what changes deals, against a model that knows each deal and nothing of feeds or counts."""

    engine: Engine

    def __init__(self) -> None:
        super().__init__()
        self.around = self.engine.table()
        self.table = self.around.__enter__()
        open_brands(self.table)
        self.now: datetime = NOW
        self.known: dict[str, Deal] = {}

    def teardown(self) -> None:
        self.around.__exit__(None, None, None)

    def one(self, which: int) -> Deal:
        return list(self.known.values())[which % len(self.known)]

    def change(self, which: int, **changes: Any) -> None:
        deal = self.one(which)
        self.known[deal.deal_id] = deals.edit(self.table, deal.deal_id, changes, self.now)
        note(f"{deal.deal_id}: {changes}")

    @rule(
        days=st.integers(0, 70),
        brand=st.sampled_from(["apple", "asics"]),
        category=st.sampled_from(["shoes", "home"]),
        lasts=st.sampled_from([None, -1, 1, 30, 2_000]),
        together=st.integers(1, 3),
    )
    def create(self, days: int, brand: str, category: str, lasts: int | None, together: int) -> None:
        ends = None if lasts is None else self.now + timedelta(hours=lasts)
        made = [
            a_deal(self.now - timedelta(days=days), brand=brand, category=category, ends_at=ends)
            for _ in range(together)
        ]
        for deal in deals.create_many(self.table, made, self.now):
            self.known[deal.deal_id] = deal

    @precondition(lambda self: self.known)
    @rule(which=st.integers(0, 99), changes=CHANGES)
    def change_brand_category_or_title(self, which: int, changes: dict[str, str]) -> None:
        self.change(which, **changes)

    @precondition(lambda self: self.known)
    @rule(which=st.integers(0, 99), back=st.booleans())
    def withdraw_or_bring_back(self, which: int, back: bool) -> None:
        self.change(which, withdrawn_at=None if back else self.now)

    @precondition(lambda self: self.known)
    @rule(which=st.integers(0, 99), lasts=st.sampled_from([None, -1, 0, 1, 30]))
    def change_end(self, which: int, lasts: int | None) -> None:
        self.change(which, ends_at=None if lasts is None else self.now + timedelta(hours=lasts))

    @rule(hours=st.sampled_from([1, 12, 31]))
    def let_time_pass(self, hours: int) -> None:
        self.now += timedelta(hours=hours)

    @rule()
    def sweep(self) -> None:
        feeds.sweep(self.table, self.now)

        for item in self.items("Deal"):
            active = self.known[item["DealId"]].status(self.now) is Status.ACTIVE
            assert is_listed(item) == active

    @invariant()
    def counts_are_those_of_the_listed_deals(self) -> None:
        listed = [self.known[item["DealId"]] for item in self.items("Deal") if is_listed(item)]
        for feed in (ALL_DEALS, *map(feed_of, (APPLE, ASICS, SHOES, HOME))):
            expected = Counter(feed.period.start_of(deal.created_at) for deal in listed if belongs(deal, feed))
            assert feed_counts.counts(self.table, feed) == expected

    @invariant()
    def each_feed_lists_the_active_deals_that_are_its_own(self) -> None:
        active = newest_first(deal for deal in self.known.values() if deal.status(self.now) is Status.ACTIVE)
        for feed in (ALL_DEALS, feed_of(APPLE), feed_of(HOME)):
            page = feeds.read(self.table, feed, limit=100, now=self.now)
            assert list(page.items) == [shown(deal) for deal in active if belongs(deal, feed)]

    @invariant()
    def each_deal_that_will_end_has_one_note_while_it_is_listed(self) -> None:
        noted = Counter(item["DealId"] for item in self.items("Ending"))
        listed = {item["DealId"] for item in self.items("Deal") if is_listed(item)}
        assert noted == Counter(i for i, deal in self.known.items() if i in listed and deal.ends_at is not None)

    def items(self, item_type: str) -> list[dict[str, Any]]:
        return [item for item in self.table.scan()[0] if item["Type"] == item_type]


def shown(deal: Deal) -> Deal:
    """The fields of a deal that a feed reads: neither its version nor from when an editor ended it."""
    return replace(deal, version=1, ended_from=None)


def test_counts_and_feeds_are_right_after_any_sequence_of_edits(engine: Engine) -> None:
    class OnThisEngine(Editing):
        pass

    OnThisEngine.engine = engine
    number = EXAMPLES.get(engine.name, 20)
    run_state_machine_as_test(
        OnThisEngine, settings=settings(max_examples=number, stateful_step_count=12, deadline=None)
    )


_WORDS = ["quarter", "zip", "zips", "quarterzip", "t", "shirt", "tshirts", "long", "sleeve", "agre", "agreed", "apple"]
_TEXTS = st.lists(st.lists(st.sampled_from(_WORDS), min_size=1, max_size=3).map("-".join), min_size=1, max_size=3).map(
    " ".join
)


def taken_for(table: Table, text: str, deals: list[Deal]) -> tuple[list[str], list[str]]:
    """The ids of the deals that a search finds, and the words that it says it took: as they are typed or completed,
    or others for those that no deal has."""
    found = search.find(table, words.asked(text), limit=len(deals))
    ran = found.instead or words.asked(text)
    completed = [f"{ran.text.strip().removesuffix(ran.words[-1])}{word}" for word in found.completed]
    return list(found.deal_ids), [ran.text, *completed]


def test_whenever_a_search_finds_a_deal_an_alert_on_its_words_notifies_and_the_reverse(engine: Engine) -> None:
    @settings(max_examples=8 if engine is MOTO else 40, deadline=None)
    @given(_TEXTS, st.lists(_TEXTS, min_size=1, max_size=4))
    @example("quarter-zip", ["Merino Quarter Zip Sweater", "Quarterzip", "Quarter-Zip", "Quarter"])
    @example("zorblax quarter-zip", ["Merino Quarter Zip Sweater", "Zorblax Quarter Zip", "Zorblax"])
    @example("quarterzip", ["Merino Quarter-Zip Sweater", "Merino Quarter Zip Sweater"])
    @example("t-shirt", ["Logo T-Shirt-Dress", "Logo Tshirts", "Oxford Shirt"])
    @example("long-sleeve t-shirt", ["Longsleeve Tshirt"])
    @example("agre", ["Agreed"])
    @example("knives", ["Paring Knife", "Knives"])
    @example("mouse", ["Three Blind Mice"])
    @example("16gb", ["Memory 16 GB", "Memory 16gb"])
    @example("tshirts-t", ["Tshirts-T", "T-Tshirts"])
    def check(text: str, titles: list[str]) -> None:
        typed = text.replace("-", " ").split()
        assume(len({*typed}) == len(typed))  # a search asks a repeated word once, and completes it once
        assume(words.asked(text).terms and not words.asked(text).cut)
        made = [a_deal(ago(minutes=minute), title=title) for minute, title in enumerate(titles)]
        with engine.table() as table:
            open_brands(table)
            for deal in made:
                search.file(table, None, deal)
            found, taken = taken_for(table, text, made)
            for number, each in enumerate(taken):
                join(table, f"reader{number}")
                alerts.on_words(table, f"reader{number}", account_of(f"reader{number}"), Limits(words=each), NOW)
            told = []
            for deal in made:
                met, _ = alerts.cohort(table, fanout.alerts_of(deal, "words")[0], [deal], 250)
                assert len({alert.username for _, alert in met}) == len(met)
                told += [deal] if met else []
                watched = [limits.wants(Limits(words=each), deal, words.of_deal(deal).keys()) for each in taken]
                assert any(watched) == bool(met)
        assert found == ids(told)

    check()
