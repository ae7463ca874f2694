"""Copies follow the deals: one that is edited, ends or is withdrawn changes in each place that shows it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import pytest

from functions.background import expiry, refresher
from shared import settings
from shared.data import keys
from shared.data.catalog import bargains, deals, feeds, page_cache, picks
from shared.data.catalog.page_cache import CATEGORY_PAGES, EDITORS_CHOICE_PICKS, NEWEST, PARTS, Cached
from shared.dynamodb.aws_errors import MAX_ATTEMPTS, Budget
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put, update
from shared.errors import Busy, NotFound
from shared.html import fragments
from shared.models.catalog import EDITORS_CHOICE, FRONT_PAGE, CuratedPage, Deal, Topic
from shared.runtime import environment
from shared.values import times
from tests.caches.conftest import CONTEXT, Get, Refresh
from tests.support import factories
from tests.support.engines import DYNOXIDE_ENGINE, Engine, on
from tests.support.factories import SHOES, a_deal, ids, post
from tests.support.surroundings import Record, of_deal, record
from tests.support.wire import error, failing, taken_by, watched

NOW = times.now()

PLACES = ("/front-page", "/editors-choice", "/categories/shoes")


@pytest.fixture
def picked(table: Table, refresh: Refresh) -> list[Deal]:
    """Six deals among the shoes, featured everywhere, and in every copy."""
    shoes = [
        a_deal(NOW - timedelta(seconds=60 + n), title=f"Shoe {n}", correlation_id=f"request-{n}") for n in range(6)
    ]
    posted = post(table, shoes, NOW)
    picks.set_featured(table, FRONT_PAGE, ids(posted), NOW)
    picks.set_featured(table, EDITORS_CHOICE, ids(posted), NOW)
    picks.set_category_featured(table, "shoes", ids(posted), NOW)
    refresh()
    return posted


def featured_on(get: Get, path: str) -> dict[str, str]:
    """The titles that a page features, by deal."""
    return {deal["dealId"]: deal["title"] for deal in get(path)["featured"]}


def latest(get: Get, path: str) -> dict[str, str]:
    page = get(path)
    return {deal["dealId"]: deal["title"] for deal in page.get("latest", page)["items"]}


def stored(table: Table, picks_of: CuratedPage | Topic) -> list[str]:
    """The titles of the copies that a page's own item holds."""
    item = table.get(keys.featured(picks_of))
    assert item is not None
    return [copy["Title"] for copy in item["Featured"]]


def test_an_edited_deal_changes_wherever_it_is_shown(
    table: Table, picked: list[Deal], refresh: Refresh, get: Get
) -> None:
    edited = deals.edit(table, picked[2].deal_id, {"title": "Better shoe"}, NOW)

    refresh(of_deal(picked[2], edited))

    for path in PLACES:
        assert featured_on(get, path) == {deal.deal_id: deal.title for deal in picked} | {edited.deal_id: "Better shoe"}
    for path in ("/front-page", "/deals", "/categories/shoes", "/categories/shoes/deals"):
        assert latest(get, path)[edited.deal_id] == "Better shoe"
    for page in (FRONT_PAGE, EDITORS_CHOICE, SHOES):
        assert "Better shoe" in stored(table, page)


@pytest.fixture
def many(table: Table, refresh: Refresh) -> list[Deal]:
    """More deals of the shoes' than a page is made of, from some days, the newest first, in every copy."""
    made = [
        a_deal(times.now() - timedelta(hours=n), title=f"Shoe {n}", link=f"https://shop.example/{n}")
        for n in range(settings.READ_FOR_CARDS + 40)
    ]
    posted = post(table, made, times.now())
    refresh()
    return posted


def rebuilt(functions_of: Table, refresh: Refresh, *records: Record) -> list[str]:
    """The partitions of the copies that some records of the stream have rebuilt, without their shards."""
    with watched(functions_of) as wire:
        refresh(*records)
    puts = [request.body["Item"]["PK"]["S"] for request in wire.requests if request.operation == "PutItem"]
    copies = Counter(put.rpartition("#")[0] for put in puts)
    assert set(copies.values()) <= {2 * settings.CACHE_SHARDS}
    return sorted(copies)


def copies_of(*parts: Cached) -> list[str]:
    return sorted(part.key(1)["PK"].rpartition("#")[0] for part in parts)


def test_an_edit_rebuilds_the_copies_that_show_the_deal_and_no_others(
    table: Table, many: list[Deal], functions_of: Table, refresh: Refresh
) -> None:
    shoes = CATEGORY_PAGES["shoes"]
    top, last, below = many[0], many[settings.READ_FOR_CARDS - 1], many[settings.READ_FOR_CARDS]

    def edit(deal: Deal, **changes: Any) -> list[str]:
        before = deals.get(table, deal.deal_id, consistent=True)
        return rebuilt(functions_of, refresh, of_deal(before, deals.edit(table, deal.deal_id, changes, NOW)))

    assert edit(top, price="9.00") == edit(last, price="9.00") == copies_of(NEWEST, shoes)
    assert edit(below, price="9.00") == edit(many[-1], price="9.00") == []
    picks.set_featured(table, EDITORS_CHOICE, [many[-1].deal_id], NOW)
    assert edit(many[-1], price="8.00") == copies_of(EDITORS_CHOICE_PICKS)
    assert edit(top, category="home") == copies_of(NEWEST, shoes, CATEGORY_PAGES["home"])
    assert edit(many[-1], category="home") == copies_of(EDITORS_CHOICE_PICKS, CATEGORY_PAGES["home"])


def test_a_deal_that_comes_or_goes_below_what_is_shown_is_counted_above_its_day(
    table: Table, many: list[Deal], functions_of: Table, refresh: Refresh
) -> None:
    last = many[settings.READ_FOR_CARDS - 1]
    start = last.created_at.replace(hour=0, minute=0, second=0)
    same_day = a_deal(start, title="Of that day", category="home")
    earlier = a_deal(start - timedelta(seconds=1), title="Of the day before", category="home")

    for deal, parts in ((same_day, [NEWEST]), (earlier, [])):
        (posted,) = post(table, [deal], NOW)
        home = CATEGORY_PAGES["home"]
        assert rebuilt(functions_of, refresh, of_deal(None, posted)) == copies_of(*parts, home)
        withdrawn = deals.withdraw(table, posted.deal_id, NOW)
        assert rebuilt(functions_of, refresh, of_deal(posted, withdrawn)) == copies_of(*parts, home)


def test_what_a_rebuild_writes_into_picks_rebuilds_nothing_again(
    table: Table, picked: list[Deal], functions_of: Table, refresh: Refresh
) -> None:
    key = keys.featured(EDITORS_CHOICE)
    chosen = table.get(key)
    refresh(of_deal(picked[0], deals.edit(table, picked[0].deal_id, {"price": "9.00"}, NOW)))
    followed = table.get(key)
    picks.set_featured(table, EDITORS_CHOICE, ids(reversed(picked)), NOW)

    again = rebuilt(functions_of, refresh, record(chosen, followed))
    anew = rebuilt(functions_of, refresh, record(followed, table.get(key)))

    assert chosen != followed
    assert (again, anew) == ([], copies_of(EDITORS_CHOICE_PICKS))


def test_copies_and_picks_that_cannot_be_read_are_rebuilt(
    table: Table, many: list[Deal], functions_of: Table, refresh: Refresh
) -> None:
    picks.set_featured(table, EDITORS_CHOICE, [many[0].deal_id], NOW)
    damaged = {":damaged": "what"}
    for key, name in ((keys.featured(EDITORS_CHOICE), "Featured"), (NEWEST.key(1), "LastDealId")):
        remove = f"SET {name} = :damaged" if name == "Featured" else f"REMOVE {name}"
        table.write(update(key, remove, values=damaged if name == "Featured" else {}, refused=NotFound()))

    edited = deals.edit(table, many[-1].deal_id, {"price": "9.00"}, NOW)

    assert rebuilt(functions_of, refresh, of_deal(many[-1], edited)) == copies_of(NEWEST, EDITORS_CHOICE_PICKS)


@pytest.fixture
def no_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """The copies without the lists and marks of features: their documents say what those cost."""
    for module in (page_cache, fragments):
        monkeypatch.setattr(module, "features", SimpleNamespace(roles=lambda _: []))


@pytest.fixture
def noon(monkeypatch: pytest.MonkeyPatch) -> datetime:
    """A clock that stands at noon: the hour decides over how many days, each a partition, the newest deals are."""
    monkeypatch.setattr(times, "now", lambda: factories.NOW)
    return factories.NOW


@on(DYNOXIDE_ENGINE)  # the others' capacity figures are not DynamoDB's
@pytest.mark.usefixtures("no_lists")
def test_what_a_price_edit_rebuilds_costs_what_the_document_says(
    noon: datetime, table: Table, many: list[Deal], functions_of: Table, refresh: Refresh, engine: Engine
) -> None:
    picks.set_featured(table, FRONT_PAGE, ids(many[:10]), noon)
    picks.set_category_featured(table, "shoes", ids(many[-5:]), noon)
    refresh(of_deal(None, many[0]), record(None, table.get(keys.featured(FRONT_PAGE))))

    def edit(deal: Deal) -> Callable[[], object]:
        after = deals.edit(table, deal.deal_id, {"price": "9.00"}, noon)
        return lambda: refresh(of_deal(deal, after))

    refresher.refresh(PARTS, set(), set())
    steps = {
        "count the front page's bargains, each hour": lambda: bargains.count(functions_of, noon),
        "edit the price of an old deal": edit(many[80]),
        "edit the price of one of the newest deals": edit(many[20]),
        "edit the price of one that the front page also features": edit(many[1]),
        "rebuild all copies, as the clock does": lambda: refresher.refresh(PARTS, set(), set()),
    }

    page = (Path(__file__).parents[2] / "docs" / "cost.md").read_text(encoding="utf-8")
    took = taken_by(functions_of, steps)
    for name, of in took.items():
        read, write = map(float, re.findall(rf"^\| {name} \| ([\d.]+) \| ([\d.]+) \| ", page, re.MULTILINE)[0])
        assert of.read == read, name
        # The newest deals' page has almost a whole KB, and compresses differently with other ids: each of its three
        # copies takes a unit less then. Copies are also smaller where fewer features add to cards.
        assert write - 9 <= of.write <= write, name


def test_a_minutes_tasks_do_not_wait_for_each_other(
    table: Table, picked: list[Deal], functions_of: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    budget = Budget(clock=lambda: clock[0])
    budget.start(30)
    monkeypatch.setattr(environment, "budget", lambda: budget)
    allowed = []

    def endings_sweep(*_: object, **__: object) -> int:
        allowed.append(budget.left())
        clock[0] += 20  # it takes longer than its share
        raise RuntimeError("a bug")

    def later(_failures: object) -> None:
        allowed.append(budget.left())

    monkeypatch.setattr(feeds, "sweep", endings_sweep)
    monkeypatch.setattr(expiry, "_OF_FEATURES", (later, later))

    with pytest.raises(RuntimeError, match="a bug"):
        expiry.handler({}, CONTEXT)

    assert allowed == [10, 5, 10]
    assert budget.left() == 10


def test_a_withdrawn_deal_is_shown_nowhere_and_back_in_its_place_when_it_is_restored(
    table: Table, picked: list[Deal], refresh: Refresh, get: Get
) -> None:
    withdrawn = deals.withdraw(table, picked[2].deal_id, NOW)
    refresh(of_deal(picked[2], withdrawn))

    for path in PLACES:
        assert list(featured_on(get, path)) == [deal_id for deal_id in ids(picked) if deal_id != withdrawn.deal_id]
    for path in ("/front-page", "/deals", "/categories/shoes", "/categories/shoes/deals"):
        assert withdrawn.deal_id not in latest(get, path)

    restored = deals.edit(table, picked[2].deal_id, {"withdrawn_at": None}, NOW)
    refresh(of_deal(withdrawn, restored))

    for path in PLACES:
        assert list(featured_on(get, path)) == ids(picked)
    assert list(latest(get, "/front-page")) == ids(picked)


def test_a_deal_that_ended_is_shown_nowhere_also_before_the_copies_are_rebuilt(
    table: Table, picked: list[Deal], refresh: Refresh, get: Get, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweeps_from = {**keys.endings(), "Type": "Endings", "SweptBefore": NOW.date().isoformat()}
    table.write(put(sweeps_from, because="the tests' tables were seeded in the future"))
    ends = times.now() + settings.CACHE_LIFETIME / 2  # sooner than the copies grow too old by themselves
    ending = deals.edit(table, picked[0].deal_id, {"ends_at": ends}, NOW)
    refresh(of_deal(picked[0], ending))
    assert ending.deal_id in latest(get, "/front-page")
    stop_the_clocks(monkeypatch, ends)

    before = {path: list(featured_on(get, path)) for path in PLACES}
    swept = expiry.handler({}, CONTEXT)
    refresh(of_deal(ending, deals.get(table, ending.deal_id, consistent=True)))

    assert swept["swept"] == 1
    assert before == dict.fromkeys(PLACES, ids(picked[1:]))
    assert {path: list(featured_on(get, path)) for path in PLACES} == before
    for path in ("/front-page", "/deals", "/categories/shoes", "/categories/shoes/deals"):
        assert list(latest(get, path)) == ids(picked[1:])


def test_who_keeps_picking_makes_the_follow_up_give_up(table: Table, picked: list[Deal]) -> None:
    deals.edit(table, picked[0].deal_id, {"title": "Better shoe"}, NOW)
    patient = replace(table, sleep=lambda _: None)
    repicked = error("ConditionalCheckFailedException")

    with failing(patient, "UpdateItem", 1000, repicked) as refused, pytest.raises(Busy):
        picks.refresh(patient, FRONT_PAGE, NOW)

    assert len(refused) == MAX_ATTEMPTS


def stop_the_clocks(monkeypatch: pytest.MonkeyPatch, at: datetime) -> None:
    """Let the functions find that it is some time, and stays that."""

    class Stopped(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return cls.fromtimestamp(at.timestamp(), tz)

    monkeypatch.setattr(times, "now", lambda: at)
    monkeypatch.setattr(refresher, "datetime", Stopped)
