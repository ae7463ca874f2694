"""The demo's site in CPython: the gateway, the stream, the clock and what is kept."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from demo.site import fits
from local.settings import ROOT


@pytest.fixture(scope="module")
def seen() -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "tests.demo.probe"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def test_pages_answer_below_the_demos_address(seen: Any) -> None:
    assert seen["front"]["status"] == 200
    assert 'href="/demo/site/deals' in seen["front"]["text"]
    assert seen["nothing"] == 404
    assert seen["signed out"].startswith("/demo/site/account/sign-in")


def test_a_page_tells_its_requests_and_units(seen: Any) -> None:
    assert "requests" in seen["front"]["timing"]
    assert "round trips" in seen["front"]["timing"]


def test_a_deal_comes_to_readers_and_into_the_search_though_the_tab_was_closed_right_after_it(seen: Any) -> None:
    assert seen["posted"]["status"] == 303
    assert "Tab runner" in seen["inbox"]
    assert "Tab runner" in seen["search"]


def test_a_lesson_can_be_run(seen: Any) -> None:
    assert seen["lesson"]


def test_a_lesson_asks_a_table_of_its_own(seen: Any) -> None:
    assert "A table of its own has just answered so." in seen["own table"]


def test_an_exercise_is_checked(seen: Any) -> None:
    assert [">Solved<" in seen[name] for name in ("mended", "broken")] == [True, False]
    assert [">Not yet<" in seen[name] for name in ("mended", "broken")] == [False, True]


def test_what_was_kept_and_the_changes_since_are_the_whole_table(seen: Any) -> None:
    assert seen["kept"]
    assert 0 < seen["changes"] < seen["items"]
    assert seen["session after"] == 200


RECORD = {"eventName": "INSERT", "dynamodb": {"NewImage": {"Type": {"S": "Deal"}, "Title": {"S": "Shoe"}}}}


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ({"dynamodb": {"NewImage": {"Type": {"S": ["Deal", "Score"]}}}}, True),
        ({"dynamodb": {"NewImage": {"Type": {"S": ["Score"]}}}}, False),
        ({"dynamodb": {"OldImage": {"Type": {"S": ["Deal"]}}}}, False),
        ({"eventName": ["REMOVE"], "dynamodb": {"NewImage": {"Type": {"S": ["Deal"]}}}}, False),
        ({"eventName": ["INSERT"]}, True),
    ],
)
def test_a_reader_gets_the_records_that_match_its_filters(pattern: Any, expected: bool) -> None:
    assert fits(RECORD, [pattern]) is expected
    assert fits(RECORD, [{"eventName": ["NONE"]}, pattern]) is expected
