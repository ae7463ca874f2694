"""The figures of Part 0: sizes byte by byte, a calculator, partitions under load, keys of several attributes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from functions.pages import learn
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from shared.html import page_cost
from shared.learn import drawing, lessons, running
from tests.learn.conftest import stage
from tests.support.browsing import Browser, Seen
from tests.support.engines import DYNOXIDE_ENGINE, MINISTACK, MOTO, Engine, on

PAGE = "/learn/indexes-and-projections"
PLAIN = {"size": "2000", "number": "1000000"}


def _cells(seen: Seen, label: str) -> list[list[str]]:
    """The rows of a table on a page, below its head."""
    (section,) = [each for each in seen.document.iter("section") if each.get("aria-label") == label]
    return [["".join(cell.itertext()) for cell in row] for row in section.iter("tr")][1:]


@pytest.mark.parametrize(
    ("form", "read", "write"),
    [
        (PLAIN, ["0.5 RRU", "500,000", "$0.06"], ["2 WRU", "2,000,000", "$1.25"]),
        (PLAIN | {"consistent": "1"}, ["1 RRU", "1,000,000", "$0.13"], ["2 WRU", "2,000,000", "$1.25"]),
        (PLAIN | {"transaction": "1"}, ["2 RRU", "2,000,000", "$0.25"], ["4 WRU", "4,000,000", "$2.50"]),
        ({"size": "1024", "number": "1"}, ["0.5 RRU", "0", "less than $0.01"], ["1 WRU", "1", "less than $0.01"]),
        ({"size": "1025", "number": "10"}, ["0.5 RRU", "5", "less than $0.01"], ["2 WRU", "20", "less than $0.01"]),
        ({"size": "4097", "number": "1000000"}, ["1 RRU", "1,000,000", "$0.13"], ["5 WRU", "5,000,000", "$3.13"]),
        (
            {"size": "409600", "number": "1000000"},
            ["50 RRU", "50,000,000", "$6.25"],
            ["400 WRU", "400,000,000", "$250.00"],
        ),
    ],
)
def test_the_calculator_counts_by_the_rules_of_aws(
    reader: Browser, form: dict[str, str], read: list[str], write: list[str]
) -> None:
    query = "&".join(f"{name}={value}" for name, value in form.items())

    rows = _cells(reader.get(f"/learn/units?{query}"), "Units and dollars")

    assert rows == [["Read", *read], ["Write", *write]]


@pytest.mark.parametrize("text", ["0", "1", "409601", "-5", "4 KB", "1e3", "9" * 400, "１２", "<b>"])
def test_a_size_that_is_none_gets_one_sentence(reader: Browser, text: str) -> None:
    seen = reader.get(f"/learn/units?size={text.replace(' ', '%20')}")

    assert seen.status == 200
    assert "Use a whole number from 2 to 409,600." in seen.words
    assert _cells(seen, "Units and dollars")[1][1] == "2 WRU"  # of the size that it begins with


def test_an_item_is_shown_byte_by_byte(reader: Browser) -> None:
    seen = reader.post("/learn/items", {"value": "Wool"})

    rows = _cells(seen, "The item, byte by byte")
    assert ["Title", "S, text", "5", "4"] in rows
    assert ["Sizes", "NS, set of numbers", "5", "4"] in rows
    total = sum(int(own) + int(value) for *_, own, value in rows)
    assert f"{total} bytes" in seen.words
    assert {kind.partition(",")[0] for _, kind, *_ in rows} == {*drawing.TYPES}


def _drawn(**query: str) -> list[dict[str, Any]]:
    lesson = lessons.find("partitions")
    drawn: list[dict[str, Any]] = drawing.FIGURES["partitions"](query, lesson, {})["drawn"]
    return drawn


@pytest.mark.parametrize("rate", ["0", "500", "8000", "20000"])
@pytest.mark.parametrize("share", ["0", "55", "100"])
@pytest.mark.parametrize("shards", ["1", "10"])
@pytest.mark.parametrize("kind", ["reads", "writes"])
def test_no_request_is_lost_between_partitions(rate: str, share: str, shards: str, kind: str) -> None:
    for each in _drawn(rate=rate, share=share, shards=shards, kind=kind):
        asked = sum(int(bar["asked"].replace(",", "")) for bar in each["bars"])

        assert abs(asked - int(rate)) <= len(each["bars"])  # each is rounded
        assert all(bar["hot"] + bar["others"] <= drawing.TALL + 0.2 for bar in each["bars"])


def test_a_hot_item_stays_at_the_limit_of_one_partition_until_it_is_shared() -> None:
    alone, shared = (_drawn(rate="8000", share="60", shards=shards) for shards in ("1", "2"))

    assert [each["refused"] for each in alone] == ["2,333", "1,800"]  # 4,800 of one item, of which 3,000 are served
    assert shared[1]["refused"] == ""


def test_many_keys_are_served_after_a_split_without_a_hot_one() -> None:
    before, after = _drawn(rate="8000", share="0", kind="writes")

    assert before["refused"] != ""
    assert (len(before["bars"]), after["refused"]) == (4, "")
    assert len(after["bars"]) >= 8


@pytest.mark.parametrize("query", ["rate=x", "rate=-1", "rate=20001", "share=101", "shards=0", "shards=11", "kind=x"])
def test_a_slider_that_is_none_stays_where_it_begins(reader: Browser, query: str) -> None:
    assert reader.get(f"/learn/partitions?{query}").text == reader.get("/learn/partitions").text


def test_sliders_are_drawn_by_the_server(reader: Browser) -> None:
    seen = reader.get("/learn/partitions?rate=500&share=0&shards=1&kind=reads")

    assert seen.words.count("All are served.") == 2
    assert len([each for each in seen.document.iter() if str(each.tag).endswith("svg")]) >= 2


@contextmanager
def several(table: Table) -> Iterator[Table]:
    """A table beside another, whose index has keys of several attributes."""
    own = replace(table, name="several")
    own.client.create_table(**lessons.table_request(own.name))
    try:
        yield own
    finally:
        own.client.delete_table(TableName=own.name)


@on(MOTO, MINISTACK)
def test_what_was_recorded_of_keys_of_several_attributes_is_what_engines_answer(engine: Engine) -> None:
    with engine.around(), several(engine.reach()) as own:
        assert running.of_its_own_table(own, lessons.recorded(), Trace()) == lessons.recorded()["queries"]


def test_a_run_asks_the_table_of_its_own_and_shows_no_request_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with stage(MINISTACK, monkeypatch) as table, several(table) as own:
        monkeypatch.setenv("TEXTBOOK_TABLE", own.name)
        browser = Browser({"/learn": learn.handler})

        before, after = browser.get(PAGE), browser.post(PAGE, {"run": "1"})

        assert "recorded from" in before.words
        assert "A table of its own has just answered so." in after.words
        assert _cells(after, "Queries of the index") == _cells(before, "Queries of the index")
        assert lessons.recorded()["index"] not in {request.index for request in page_cost.trace().requests}


def test_an_engine_that_answers_otherwise_leaves_what_was_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """dynoxide makes the table, and refuses each Query of it."""
    with stage(DYNOXIDE_ENGINE, monkeypatch) as table, several(table) as own:
        monkeypatch.setenv("TEXTBOOK_TABLE", own.name)
        seen = Browser({"/learn": learn.handler}).post(PAGE, {"run": "1"})

    assert "recorded from MiniStack on a table of its own. The engine here answers otherwise." in seen.words


def test_the_recorded_answer_is_shown_and_says_where_it_is_from(reader: Browser) -> None:
    seen = reader.get(PAGE)

    assert f"recorded from {lessons.recorded()['engine']}" in seen.words
    rows = _cells(seen, "Queries of the index")
    assert [found for _, found in rows] == ["ORDER#1, ORDER#2, ORDER#3", "ORDER#2", "refused", "refused"]
    assert re.findall(r"ORDER#\d", " ".join(" ".join(row) for row in _cells(seen, "The index ByCustomer"))) == [
        "ORDER#1", "ORDER#2", "ORDER#3", "ORDER#4",
    ]  # fmt: skip
