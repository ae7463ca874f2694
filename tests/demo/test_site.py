"""The demo's site in CPython: the gateway, the stream, the clock and what is kept."""

from __future__ import annotations

from typing import Any

import pytest

from demo.site import fits
from tests.support.commands import printed_by


@pytest.fixture(scope="module")
def seen() -> Any:
    return printed_by("tests.demo.probe")


def test_pages_answer_below_the_demos_address(seen: Any) -> None:
    assert seen["front"]["status"] == 200
    assert 'href="/demo/site/deals' in seen["front"]["text"]
    assert seen["nothing"] == 404
    assert seen["signed out"].startswith("/demo/site/account/sign-in")


def test_a_page_tells_its_requests_and_units(seen: Any) -> None:
    assert "requests" in seen["front"]["timing"]
    assert "round trips" in seen["front"]["timing"]


def test_a_deal_comes_to_readers_and_into_the_search_though_the_tab_was_closed_right_after_it(seen: Any) -> None:
    assert (seen["form"], seen["posted"]["status"]) == (200, 303)
    assert "Tab runner" in seen["inbox"]
    assert "Tab runner" in seen["search"]


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
