"""A table of the first release, brought over while it is read and written: right before, during and after."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from argon2 import PasswordHasher

from cli import migrations, segments
from shared.data import keys
from shared.data.catalog import deals, feed_counts, feeds, picks
from shared.data.members import accounts, sessions, users
from shared.dynamodb.table import Table
from shared.models.catalog import ALL_DEALS, CATEGORY, Deal, Feed, Topic, feed_of
from shared.values import passwords
from tests.support.engines import MOTO
from tests.support.factories import APPLE, NOW, SHOES, a_deal, ago, ahead, ids, open_brands, post
from tests.support.first_release import everything, take_back
from tests.support.wire import before

HERE = "192.0.2.1"
PASSWORD = "correct horse battery"
FEEDS = (ALL_DEALS, feed_of(APPLE), feed_of(SHOES))


@pytest.fixture
def table() -> Iterator[Table]:
    """One engine is enough here: ``tests/cli`` brings a table over on another."""
    with MOTO.table() as table:
        open_brands(table)
        yield table


@pytest.fixture
def posted(table: Table, monkeypatch: pytest.MonkeyPatch) -> list[Deal]:
    """A table of the first release: twelve deals of three months, picks, and a user; newest deals first."""
    monkeypatch.setattr(passwords, "HASHER", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    monkeypatch.setattr(segments, "PAGE", 6)
    created = post(table, [a_deal(ago(days=8 * n)) for n in range(12)])
    picks.set_category_featured(table, SHOES.slug, ids(created[:5]), NOW)
    names = {"username": "ana", "email": "ana@mail.example", "name": "Ana"}
    accounts.sign_up(table, **names, password=PASSWORD, address=HERE, now=NOW)
    take_back(table)
    return created


def sees(table: Table, posted: list[Deal]) -> None:
    """Hold what readers see: three feeds, picks, and an account that can be signed in to."""
    for feed in FEEDS:
        assert ids(feeds.read(table, feed, limit=25, now=NOW).items) == ids(posted)
    assert ids(picks.read(table, SHOES, NOW)) == ids(posted[:5])


def bring_over(table: Table, segments: int = 2) -> int:
    """Migrate the table; returns how many items were split."""
    split = sum(step.rewritten for n in range(segments) for step in migrations.run(table, n, segments))
    return split + migrations.finish(table)


def old_forms(table: Table) -> list[str]:
    """The types of items that hold what belongs elsewhere by now, or are there no more."""
    old = {"User": "PasswordHash", "Brand": "Periods", "Category": "Periods", "Deals": "PK", "CategoryPicks": "PK"}
    return [item["Type"] for item in everything(table) if old.get(item["Type"]) in item or _picked(item)]


def _picked(item: dict[str, object]) -> bool:
    return item["Type"] == "Category" and "Featured" in item


def test_the_table_is_right_before_during_and_after(table: Table, posted: list[Deal]) -> None:
    token, _ = sessions.start(table, users.get(table, "ana"), NOW, bytes(32))
    sees(table, posted)

    for segment in range(2):
        for _ in migrations.run(table, segment, 2):
            sees(table, posted)
    migrations.finish(table)

    sees(table, posted)
    assert old_forms(table) == []
    assert sessions.authenticate(table, token, NOW).username == "ana"
    assert accounts.sign_in(table, "ana", PASSWORD, HERE, NOW).username == "ana"


def test_what_is_counted_afterwards_is_what_this_release_would_have_counted(table: Table, posted: list[Deal]) -> None:
    bring_over(table)

    counted = {feed: feed_counts.counts(table, feed) for feed in FEEDS}

    for feed in FEEDS:
        periods = [feed_counts.places(deal)[feed] for deal in posted]
        assert counted[feed] == {period: periods.count(period) for period in periods}


def test_a_run_that_is_repeated_has_nothing_left_to_do(table: Table, posted: list[Deal]) -> None:
    first = bring_over(table)
    there = sorted(everything(table), key=str)

    again = bring_over(table)

    assert first > 0
    assert again == 0
    assert sorted(everything(table), key=str) == there


def test_a_run_that_was_interrupted_goes_on(table: Table, posted: list[Deal]) -> None:
    interrupted = migrations.run(table, 0, 1)
    next(interrupted)
    next(interrupted)
    sees(table, posted)

    bring_over(table, segments=1)

    sees(table, posted)
    assert old_forms(table) == []


def withdraw_newest(table: Table, posted: list[Deal]) -> list[Deal]:
    deals.withdraw(table, posted[0].deal_id, NOW)
    return posted[1:]


def post_another(table: Table, posted: list[Deal]) -> list[Deal]:
    return [*post(table, [a_deal(ahead(seconds=0))]), *posted]


@pytest.mark.parametrize("change", [withdraw_newest, post_another])
@pytest.mark.parametrize("number", range(3))
def test_deals_come_and_go_while_their_counts_move(
    table: Table, posted: list[Deal], change: Callable[[Table, list[Deal]], list[Deal]], number: int
) -> None:
    left: list[Deal] = []

    with before(table, "TransactWriteItems", lambda: left.extend(change(table, posted)), skip=number):
        for feed in FEEDS:
            feed_counts.bring_over(table, feed)

    for feed in FEEDS:
        assert sum(feed_counts.counts(table, feed).values()) == len(left)
    bring_over(table)
    assert old_forms(table) == []
    for deal in left:
        deals.withdraw(table, deal.deal_id, NOW)
    assert [feed_counts.counts(table, feed) for feed in FEEDS] == [{}, {}, {}]


def test_picks_that_editors_make_meanwhile_stand(table: Table, posted: list[Deal]) -> None:
    newest = ids(posted[5:10])

    with before(table, "TransactWriteItems", lambda: picks.set_category_featured(table, SHOES.slug, newest, NOW)):
        bring_over(table)

    assert ids(picks.read(table, SHOES, NOW)) == newest


def test_old_picks_stay_until_the_new_ones_are_there(table: Table, posted: list[Deal]) -> None:
    assert not picks.drop_old(table, SHOES.slug)

    picks.set_apart(table, SHOES.slug)

    old, new = table.get(keys.topic(SHOES)) or {}, table.get(keys.featured(SHOES)) or {}
    assert old["Featured"] == new["Featured"]
    assert picks.drop_old(table, SHOES.slug)
    assert not picks.set_apart(table, SHOES.slug)


def test_a_container_that_counts_nothing_goes(table: Table, posted: list[Deal]) -> None:
    bags: Feed = feed_of(Topic(CATEGORY, "bags"))

    moved = [feed_counts.bring_over(table, feed) for feed in (ALL_DEALS, bags, bags)]

    assert moved == [12, 0, 0]
    assert table.get(keys.deals()) is None
    assert "Periods" not in (table.get(keys.topic(Topic(CATEGORY, "bags"))) or {})
