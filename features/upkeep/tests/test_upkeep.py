"""Upkeep beside other writes: whatever an editor and the stream do during a command, the table is right afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from typing import Any

import pytest

from features.upkeep import backfills, runs
from features.upkeep.checking import check_all
from features.upkeep.runs import Run, Step
from features.upkeep.survey import survey
from shared.data import invariants, keys
from shared.data.catalog import deals, offers, search
from shared.data.catalog.deals import from_item, has_ended, is_listed
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import without_places
from shared.dynamodb.table import Table
from shared.dynamodb.writes import forget, put, update
from shared.models.catalog import Deal
from shared.values import links
from tests.support.engines import FAST, MOTO
from tests.support.factories import NOW, a_deal, ago, open_brands, post
from tests.support.wire import before, hooked, watched

LINK, OTHER = "https://shop.example/view.php?id=1", "https://shop.example/other"


class Stream:
    """The stream's reader, which has followed some states of deals."""

    def __init__(self, table: Table, *known: Deal) -> None:
        self._table = table
        self._last = {deal.deal_id: deals.get_item(table, deal.deal_id) for deal in known}

    def follow(self, *some: Deal) -> None:
        """Do what the reader does with all changes since its last time, and with those that this leads to."""
        behind = True
        while behind:
            behind = False
            for deal in some:
                old, new = self._last.get(deal.deal_id), deals.get_item(self._table, deal.deal_id)
                if old != new:
                    behind = True
                    self._last[deal.deal_id] = new
                    self._file(old, new)

    def _file(self, old: Item | None, new: Item) -> None:
        before, after = from_item(old) if old else None, from_item(new)
        offers.file(self._table, before, after, has_ended=has_ended(new))
        listed = before if old and is_listed(old) else None
        search.file(self._table, listed, after if is_listed(new) else None)
        offers.judge_anew(self._table, before, after)


def an_old_table(table: Table, *, for_offers: bool) -> tuple[Deal, Deal, Stream]:
    """Two deals of a product, and the stream, which hasn't filed the first one.

    If ``for_offers``, both are filed, the second one also as 1.1.0 did: under the address without its query, in no
    index.
    """
    bare, filed = post(table, [a_deal(ago(hours=2), link=LINK), a_deal(ago(hours=1), link=LINK, price="12.00")])
    stream = Stream(table, *([] if for_offers else [bare]))
    stream.follow(bare, filed)
    if for_offers:
        copy = without_places(offers.to_item(filed, has_ended=False))
        page = keys.product(links.product_hash("https://shop.example/view.php"))
        table.write(put({**copy, "PK": page}, because="1.1.0 wrote it"))
    return bare, filed, stream


CHANGES: dict[str, Callable[[Table, Deal], object]] = {
    "another product": lambda table, deal: deals.edit(table, deal.deal_id, {"link": OTHER}, NOW),
    "withdrawn": lambda table, deal: deals.withdraw(table, deal.deal_id, NOW),
    "cheaper": lambda table, deal: deals.edit(table, deal.deal_id, {"price": "9.00"}, NOW),
    "other words": lambda table, deal: deals.edit(table, deal.deal_id, {"title": "Desk lamp"}, NOW),
}

COMMANDS: dict[str, Callable[[Table], Iterator[Step]]] = {
    "index": lambda table: backfills.index_steps(table, Run("Words", 1, NOW), 0),
    "backfill": lambda table: backfills.run_backfill(
        table, Run(keys.PRODUCT_OFFER, 1, NOW), 0, item_type=keys.PRODUCT_OFFER
    ),
}


@contextmanager
def before_request(table: Table, number: int, action: Callable[[], object]) -> Iterator[list[bool]]:
    """Do something just before the request of a number; the list says afterwards whether there was one."""
    numbers, done = count(), list[bool]()

    def act(**_: Any) -> None:
        if not done and next(numbers) == number:
            done.append(True)
            action()

    with hooked(table, "before-call.dynamodb", act):
        yield done


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("change", "is_late"),
    [
        ("another product", False),
        *(pytest.param(change, False, marks=pytest.mark.thorough) for change in CHANGES if change != "another product"),
        pytest.param("another product", True, marks=pytest.mark.thorough),
    ],
)
def test_a_deal_that_changes_at_any_moment_of_a_command_is_listed_once_and_as_it_is(
    command: str, change: str, is_late: bool
) -> None:
    for number in count():
        with FAST.table(open_brands) as table:
            bare, filed, stream = an_old_table(table, for_offers=command == "backfill")

            def edit(table: Table = table, some: tuple[Deal, Deal] = (bare, filed), stream: Stream = stream) -> None:
                stream.follow(*some)  # it follows each change in turn
                CHANGES[change](table, some[1])
                if not is_late:
                    stream.follow(*some)

            with before_request(table, number, edit) as came:
                list(COMMANDS[command](table))
            if not came:
                break
            stream.follow(bare, filed)

            assert problems(table) == [], f"before request {number}"
    assert number > 5


def problems(table: Table) -> list[invariants.Fault]:
    """The faults of the deals' own items."""
    kinds = (invariants.WORDS, invariants.WORD_COUNTS, invariants.OFFERS, invariants.VERDICTS)
    return [fault for fault in survey(table.everything(), NOW) if fault.rule in kinds]


def test_a_check_says_that_a_wrong_count_changed_between_its_scans_and_finds_it_the_next_time(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with FAST.table(open_brands) as table:
        lamp, other = post(table, [a_deal(title="Desk lamp"), a_deal(title="Desk chair")])
        stream = Stream(table)
        stream.follow(lamp)
        table.write(update(keys.word_count("desk"), "SET Deals = :seven", values={":seven": 7}, refused=None))

        with before(table, "Scan", lambda: stream.follow(other), skip=1):
            check_all(table, NOW, 1)
        (count,) = (fault for fault in check_all(table, NOW, 1) if fault.rule == invariants.WORD_COUNTS)

    assert "1 item changed while the table was read" in capsys.readouterr().err
    assert (count.found or {})["Deals"] == 8


@pytest.mark.thorough
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_is_killed_at_any_moment_is_run_again_and_then_all_is_right(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "PAGE", 10)  # several pages, from which it goes on

    class Killed(BaseException):
        pass

    def kill() -> None:
        raise Killed

    for number in count():
        with MOTO.table(open_brands) as table:  # on dynoxide, a scan ends where its last item is gone
            bare, filed, stream = an_old_table(table, for_offers=command == "backfill")
            with before_request(table, number, kill) as came, suppress(Killed):
                list(COMMANDS[command](table))
            if not came:
                break
            stream.follow(bare, filed)  # a verdict that the command has written
            deals.edit(table, filed.deal_id, {"link": OTHER}, NOW)
            stream.follow(bare, filed)

            list(COMMANDS[command](table))
            stream.follow(bare, filed)

            assert problems(table) == [], f"before request {number}"


def test_an_index_of_deals_that_are_filed_already_writes_nothing(table: Table) -> None:
    an_old_table(table, for_offers=False)
    list(COMMANDS["index"](table))

    with watched(table) as wire:
        list(COMMANDS["index"](table))

    assert wire.operations.keys() <= {"Scan", "GetItem", "BatchGetItem", "Query", "DeleteItem"}


def test_each_offer_has_its_deals_verdict_after_an_index(table: Table) -> None:
    posted = post(table, [a_deal(ago(days=day), link=LINK, price=f"{20 + day}.00") for day in range(5)])

    list(COMMANDS["index"](table))

    found = {deal.deal_id: deal.verdict for deal in offers.offers(table, LINK, consistent=True)}
    assert found == {deal.deal_id: deals.get(table, deal.deal_id).verdict for deal in posted}
    assert [deal_id for deal_id, verdict in found.items() if not verdict] == [posted[-1].deal_id]


def test_an_offer_without_a_deal_is_deleted(table: Table) -> None:
    (deal,) = post(table, [a_deal(link=LINK)])
    Stream(table).follow(deal)
    table.write(forget(keys.deal(deal.deal_id), because="a test"))

    list(COMMANDS["backfill"](table))

    assert offers.offers(table, LINK) == []


def interrupted(table: Table, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run whose process has ended after two pages of three deals."""
    monkeypatch.setattr(runs, "PAGE", 3)
    post(table, [a_deal(ago(hours=hour)) for hour in range(9)])
    run = Run("Words", 1, ago(days=1))
    steps = backfills.index_steps(table, run, 0)
    for _ in range(3):
        next(steps)
    return run


@pytest.mark.parametrize("is_other", [False, True])
def test_a_run_of_another_release_is_not_continued(
    table: Table, monkeypatch: pytest.MonkeyPatch, is_other: bool
) -> None:
    run = interrupted(table, monkeypatch)
    if is_other:
        monkeypatch.setattr(runs, "release", lambda: "9.9.9 (another)")

    with watched(table) as wire:
        list(backfills.index_steps(table, run, 0))

    (first, *_) = (each for each in wire.requests if each.operation == "Scan")
    assert ("ExclusiveStartKey" in first.body) is not is_other
    assert problems(table) == []


def test_a_run_says_what_it_continues(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    run = interrupted(table, monkeypatch)

    (own,) = runs.continued(run.remembered(table), 1)
    monkeypatch.setattr(runs, "release", lambda: "9.9.9 (another)")
    (other,) = runs.continued(run.remembered(table), 1)
    run.forget(table)

    assert "began at 2050-06-14T12:00:00Z" in own
    assert "isn't continued" in other
    assert list(runs.continued(run.remembered(table), 1)) == []
