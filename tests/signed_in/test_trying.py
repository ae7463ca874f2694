"""A page or a form that is tried with a fault on the laptop is as it would be, and the panel tells how it was met."""

from __future__ import annotations

import re

import pytest

from functions.pages import site
from shared.data.catalog import topics
from shared.data.members import follows
from shared.dynamodb import faults as made
from shared.dynamodb.table import Table
from shared.html import page_cost
from tests.signed_in.conftest import FUNCTIONS, PostDeal
from tests.support.browsing import ORIGIN, Browser, Seen
from tests.support.factories import APPLE
from tests.support.rights import within_rights


@pytest.fixture
def laptop(shown: None, ana: Browser, monkeypatch: pytest.MonkeyPatch) -> Browser:
    """Ana's browser, where faults are made."""
    monkeypatch.setenv("STAGE", "local")
    ana.cookies = {name.removeprefix("__Host-"): value for name, value in ana.cookies.items()}
    ana.functions = {**FUNCTIONS, "/": within_rights(site)}
    return ana


def parts(seen: Seen) -> tuple[str, str]:
    """The words of a page, and those of the panel that tells what it took."""
    page, _, panel = seen.words.partition("Cost of this page")
    return page, panel


@pytest.mark.parametrize("path", ["/brands/apple", "/my/saved", "/search?q=runner"])
@pytest.mark.parametrize(
    ("fault", "told", "met"),
    [
        ("throttle", r"A throttle: (\w+) was refused with ThrottlingException", "ThrottlingException"),
        ("lost", r"A lost answer: (\w+) was carried out, but its answer was lost\.", "no answer"),
    ],
)
def test_a_page_that_meets_a_fault_is_whole_and_tells_of_it(
    laptop: Browser, post_deal: PostDeal, path: str, fault: str, told: str, met: str
) -> None:
    post_deal()
    calm = laptop.get(path)

    tried = laptop.get(f"{path}{'&' if '?' in path else '?'}fault={fault}")

    page, panel = parts(tried)
    assert page == parts(calm)[0]
    (operation,) = re.findall(told, panel)
    assert re.search(rf"{operation} met {met}: waited [\d.]+ ms, then sent it again", panel)
    assert "1 tried again" in tried.headers["Server-Timing"][0]
    assert tried.headers["Cache-Control"] == ["no-store"]


def test_a_stale_index_leaves_out_what_was_written_last_once(laptop: Browser, post_deal: PostDeal) -> None:
    post_deal(9, title="The older one")
    newer = post_deal(1, title="The newer one")

    stale, after = laptop.get("/brands/apple?fault=stale"), laptop.get("/brands/apple")

    assert "The older one" in stale.words
    assert "The newer one" not in stale.words
    assert f"A stale index: the index did not show DEAL#{newer.deal_id} yet" in parts(stale)[1]
    assert "The newer one" in after.words


@pytest.mark.parametrize(
    ("fault", "met"),
    [
        ("throttle", "ThrottlingException, because the table received more requests than it can take at once."),
        ("conflict", "TransactionConflict on BRANDLIKE#apple#ana , because another request wrote the same item"),
        ("lost", "no answer, because it was lost; the next try has the same token"),
    ],
)
def test_a_form_that_meets_a_fault_is_carried_out_once(laptop: Browser, table: Table, fault: str, met: str) -> None:
    sent = laptop.post("/my/likes/brand/apple", {"on": "1"}, Referer=f"{ORIGIN}/brands/apple?fault={fault}")
    (refused,) = [each.refused for each in page_cost.trace().requests if each.refused]
    told = laptop.get(sent.location).words.rpartition("Cost of this form")[2]

    assert topics.get(table, APPLE).likes == 1
    assert follows.is_liked(table, APPLE, "ana")
    assert refused in {"ThrottlingException", "TransactionCanceledException", "no answer"}
    assert f"First try: {met}" in told
    assert re.search(r"Waited \d+ ms, then all of it was written\.", told)
    assert told.count("2 WRU") == 3  # each write, whichever try has written


def test_each_panel_on_the_laptop_ends_with_the_faults_to_try_and_another_is_named(laptop: Browser) -> None:
    seen, unknown = laptop.get("/search?q=runner"), laptop.get("/brands/apple?fault=flood")

    links = [each.get("href") for each in seen.document.iter("a") if "fault=" in each.get("href", "")]
    assert links == [f"?q=runner&fault={fault}#took" for fault in page_cost.CHOICES]
    assert set(page_cost.CHOICES) == set(made.FAULTS)
    assert "There is no such fault, so nothing was done." in unknown.words
    assert "Choose one of: throttle, conflict, lost, stale." in unknown.words
    assert "tried again" not in unknown.headers["Server-Timing"][0]
    assert "A conflict: this page writes nothing" in parts(laptop.get("/brands/apple?fault=conflict"))[1]


def test_a_stage_that_makes_no_faults_says_so_and_does_nothing(shown: None, ana: Browser) -> None:
    tried, calm = ana.get("/my/saved?fault=throttle"), ana.get("/my/saved")

    assert "Faults work on the laptop only. Nothing was done." in tried.words
    assert "tried again" not in tried.headers["Server-Timing"][0]
    assert "Try it with" not in calm.words
    assert not page_cost._faults.cache_info().currsize
