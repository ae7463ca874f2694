"""Random actions while answers are lost, halved, reset, throttled and refused by conflicts: nothing drifts.

``DRIFT_ACTIONS`` says how many (``make drift``: 50,000), ``DRIFT_SEED`` which.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from botocore.exceptions import ConnectionClosedError, ReadTimeoutError

from shared.data import keys
from shared.data.catalog import deals, topics
from shared.data.members import follows, users
from shared.dynamodb.attributes import Item
from shared.dynamodb.client import BrokenAnswer
from shared.dynamodb.schema import Key
from shared.dynamodb.table import Table
from shared.errors import (
    AlreadyLiked,
    AlreadyWatching,
    BrandExists,
    DealExists,
    DealsError,
    EmailTaken,
    NotLiked,
    NotWatching,
    Unavailable,
    UsernameTaken,
)
from shared.models.catalog import Deal, Feed, Topic, feed_of
from tests.support.engines import MINISTACK, on
from tests.support.factories import APPLE, ASICS, FEEDS, NOW, SHOES, a_deal, a_user, newest_first, walk
from tests.support.wire import Answer, answered, cancelled, error, hooked, watched

pytestmark = pytest.mark.faults

ACTIONS = int(os.environ.get("DRIFT_ACTIONS", "250"))
SEED = int(os.environ.get("DRIFT_SEED", "1"))
SAID_EVERY = 1_000

FOLLOWING: dict[str, tuple[Any, type[DealsError], Any, type[DealsError], Callable[[Topic, str], Key]]] = {
    "like": (follows.like, AlreadyLiked, follows.unlike, NotLiked, keys.like),
    "watch": (follows.watch, AlreadyWatching, follows.unwatch, NotWatching, keys.watch),
}
"""By kind: how to follow, its refusal, how to take it back, the refusal of that, and the key of the item."""

NAMES = [f"user{number}" for number in range(6)]
TOPICS = (APPLE, ASICS, SHOES)


@dataclass(slots=True)
class Weather:
    """Faults of requests: now and then in one of several ways, and in a storm always."""

    dice: random.Random
    storm: bool = False
    seen: Counter[str] = field(default_factory=Counter)
    sent: str = ""
    lost: set[str] = field(default_factory=set)
    """The token of the transaction that was sent last, and those of all whose answers were lost."""

    def strikes(self, *ways: str, chance: float) -> str | None:
        """The way in which something goes wrong now, if anything does."""
        if not self.storm and self.dice.random() > chance:
            return None
        way = self.dice.choice(ways)
        self.seen[way] += 1
        return way

    @contextmanager
    def over(self, table: Table) -> Iterator[None]:
        """Let a table's requests run into it."""
        with (
            answered(table, "", self._refuse),
            hooked(table, "before-call.dynamodb", self._reset),
            hooked(table, "after-call.dynamodb", self._lose),
        ):
            yield

    def _reset(self, **_: Any) -> None:
        if not self.storm and self.strikes("reset", chance=0.04):
            raise ConnectionClosedError(endpoint_url="https://dynamodb.example")

    def _refuse(self, asked: dict[str, Any]) -> Answer | None:
        writes = "TransactItems" in asked or "Item" in asked or "UpdateExpression" in asked
        self.sent = asked.get("ClientRequestToken", "")
        if self.storm and self.dice.random() < 0.5:
            return None  # to be carried out, and its answer lost
        # DynamoDB calls nothing cancelled that it knows to be done.
        conflicts = ["conflict"] if writes and self.sent not in self.lost else []
        match self.strikes("throttled", "failed", *conflicts, chance=0.1):
            case "throttled":
                return error("ThrottlingException")
            case "failed":
                return 500, error("InternalServerError")[1]
            case "conflict" if "TransactItems" in asked:
                return cancelled("TransactionConflict", *["None"] * (len(asked["TransactItems"]) - 1))
            case "conflict":
                return error("TransactionConflictException")
        return None

    def _lose(self, **_: Any) -> None:
        way = self.strikes("lost", "halved", chance=0.1)
        if way and self.sent:
            self.lost.add(self.sent)
        match way:
            case "lost":
                raise ReadTimeoutError(endpoint_url="https://dynamodb.example")
            case "halved":
                raise BrokenAnswer(error="it is no JSON")


def is_there(item: Item | None) -> bool:
    return item is not None


@dataclass(frozen=True, slots=True)
class Action:
    """One action: what it is refused for, if the model is right, and the item by which it can be told what it did."""

    name: str
    act: Callable[[], object]
    refused: type[DealsError] | None
    about: Key
    done: Callable[[], None]
    was_done: Callable[[Item | None], bool] = is_there
    leaves_nothing: bool = False
    """Nothing tells who left it: where an attempt's fate is unknown, and what follows it goes by another name, then an
    absent item is taken for one's own work. The table is the same, and so is the API's answer."""


class Model:
    """The model of what the table must hold, and random actions on it."""

    def __init__(self, table: Table, dice: random.Random) -> None:
        self.table, self.dice = table, dice
        self.follows: dict[str, set[tuple[Topic, str]]] = {"like": set(), "watch": set()}
        self.minutes = 0
        self.users: set[str] = set()
        self.emails: set[str] = set()
        self.deals: dict[str, Deal] = {}
        self.sources: set[str] = set()
        self.brands = {"apple", "asics"}

    def any_action(self) -> Action:
        ways = [self.follow, self.follow, self.follow, self.post, self.edit, self.withdraw, self.sign_up, self.brand]
        return self.dice.choice(ways)()

    def moment(self) -> datetime:
        """Another for each action: at one moment, nobody can tell another's item that is as one's own."""
        self.minutes += 1
        return NOW + timedelta(minutes=self.minutes)

    def follow(self) -> Action:
        kind, topic, name = self.dice.choice(["like", "watch"]), self.dice.choice(TOPICS), self.dice.choice(NAMES)
        pair, there, when = (topic, name), self.follows[kind], self.moment()
        say, known, unsay, unknown, key_of = FOLLOWING[kind]
        key = key_of(topic, name)
        if self.dice.random() < 0.5:
            refused = known if pair in there else None
            return Action(kind, lambda: say(self.table, topic, name, when), refused, key, lambda: there.add(pair))
        refused = None if pair in there else unknown
        return Action(
            f"un{kind}",
            lambda: unsay(self.table, topic, name),
            refused,
            key,
            lambda: there.discard(pair),
            lambda item: item is None,
            leaves_nothing=True,
        )

    def post(self) -> Action:
        source = f"source{self.dice.randrange(4 * ACTIONS)}"
        when = NOW - timedelta(hours=self.dice.randrange(24 * 40))
        deal = a_deal(
            when, entropy=self.dice.randbytes(16), source_id=source, brand=self.dice.choice(["apple", "asics"])
        )
        refused = DealExists if source in self.sources else None

        def done() -> None:
            self.deals[deal.deal_id] = deal
            self.sources.add(source)

        return Action("post", lambda: deals.create(self.table, deal, NOW), refused, keys.deal(deal.deal_id), done)

    def edit(self) -> Action:
        title = f"Runner {self.dice.random()}"
        return self._change("edit", lambda item: item["Title"] == title, title=title) if self.deals else self.post()

    def withdraw(self) -> Action:
        if not self.deals or self.dice.random() < 0.5:
            return self.post()
        return self._change("withdraw", lambda item: "WithdrawnAt" in item, withdrawn_at=NOW)

    def _change(self, name: str, shows: Callable[[Item], bool], **changes: Any) -> Action:
        deal = self.dice.choice(list(self.deals.values()))
        return Action(
            name,
            lambda: deals.edit(self.table, deal.deal_id, changes, NOW),
            None,
            keys.deal(deal.deal_id),
            lambda: self.deals.update({deal.deal_id: replace(deal, **changes)}),
            lambda item: item is not None and shows(item),
        )

    def sign_up(self) -> Action:
        name = f"new{self.dice.randrange(2 * ACTIONS)}"
        email = f"{self.dice.randrange(2 * ACTIONS)}@mail.example"
        refused = UsernameTaken if name in self.users else EmailTaken if email in self.emails else None

        def done() -> None:
            self.users.add(name)
            self.emails.add(email)

        user = replace(a_user(name), email=email)
        taken = name in self.users
        return Action(
            "sign up",
            lambda: users.create(self.table, user),
            refused,
            keys.user(name),
            done,
            lambda item: item is not None and not taken,
        )

    def brand(self) -> Action:
        slug = f"brand-{self.dice.randrange(ACTIONS)}"
        refused = BrandExists if slug in self.brands else None
        key, when = keys.topic(Topic(APPLE.kind, slug)), self.moment()
        done = partial(self.brands.add, slug)
        return Action("brand", lambda: topics.create_brand(self.table, slug, slug, when), refused, key, done)


@pytest.mark.thorough
@on(MINISTACK)  # dynoxide keeps all that it streamed, and slows down
def test_nothing_drifts_whatever_happens_to_answers(table: Table) -> None:
    dice = random.Random(SEED)
    patient = replace(table, sleep=lambda _: None)
    for name in NAMES:
        users.create(patient, a_user(name))
    model, weather, outages = Model(patient, dice), Weather(dice), 0

    for number in range(ACTIONS):
        if number and number % SAID_EVERY == 0:
            print(f"{number} of {ACTIONS} actions, {outages} given up", flush=True)
        action = model.any_action()
        refused: type[DealsError] | None = None
        weather.storm = dice.random() < 0.02
        fair = weather.seen.total()
        with weather.over(patient):
            try:
                action.act()
            except Unavailable:
                outages += 1
                weather.storm = False
                refused = Unavailable
            except DealsError as error:
                refused = type(error)
        if refused is Unavailable:
            if action.refused is None and action.was_done(patient.get(action.about, consistent=True)):
                action.done()
            continue
        if refused is None and action.refused and action.leaves_nothing and weather.seen.total() - fair > 1:
            continue
        assert refused is action.refused, f"action {number} of seed {SEED}: {action.name}"
        if refused is None:
            action.done()

    assert set(weather.seen) >= {"reset", "throttled", "failed", "conflict", "lost", "halved"}
    print(f"{ACTIONS} actions, {outages} given up, {dict(weather.seen)}")
    holds(patient, model)


def holds(table: Table, model: Model) -> None:
    """The table is as the model says: counts, accounts, feeds; and feeds know when they are empty."""
    items = list(table.everything())
    types = Counter(item["Type"] for item in items)
    for topic in TOPICS:
        page = topics.get(table, topic, consistent=True)
        assert page.likes == sum(pair[0] == topic for pair in model.follows["like"])
        assert page.watchers == sum(pair[0] == topic for pair in model.follows["watch"])
    assert types["BrandLike"] + types["CategoryLike"] == len(model.follows["like"])
    assert types["BrandWatch"] + types["CategoryWatch"] == len(model.follows["watch"])
    assert types["User"] == types["UserEmail"] == len(model.users) + len(NAMES)
    assert {deal["DealId"] for deal in items if deal["Type"] == "Deal"} == set(model.deals)
    assert set(topics.brand_names(table)) == model.brands
    for feed in (*FEEDS, feed_of(ASICS)):
        stands = [deal for deal in model.deals.values() if deal.withdrawn_at is None and in_feed(deal, feed)]
        assert [(deal.deal_id, deal.title) for deal in stand_in(table, feed)] == [
            (deal.deal_id, deal.title) for deal in newest_first(stands)
        ]

    for deal_id in model.deals:
        deals.withdraw(table, deal_id, NOW)

    with watched(table) as wire:
        assert [stand_in(table, feed) for feed in (*FEEDS, feed_of(ASICS))] == [[]] * 4
    assert wire.partitions == []


def in_feed(deal: Deal, feed: Feed) -> bool:
    return feed.topic is None or feed.topic.slug in (deal.brand, deal.category)


def stand_in(table: Table, feed: Feed) -> list[Deal]:
    return [deal for page in walk(table, feed, limit=100) for deal in page.items]
