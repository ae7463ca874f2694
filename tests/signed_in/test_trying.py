"""A page or a form that is tried with a fault on the laptop is as it would be, and the panel tells how it was met."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest

from functions.pages import site
from shared.data.catalog import topics
from shared.data.members import follows
from shared.dynamodb import faults as made
from shared.dynamodb.table import Table
from shared.html import faults, form_cost, page_cost
from shared.http import cached_pages
from shared.models.catalog import BRAND, Deal, Topic
from tests.signed_in.conftest import FUNCTIONS
from tests.support.browsing import ORIGIN, Browser
from tests.support.rights import within_rights
from tests.support.surroundings import hand_over

APPLE = Topic(BRAND, "apple")

PostDeal = Callable[..., Deal]


@pytest.fixture
def shown(table: Table, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A stage that shows its work, and makes no faults."""
    monkeypatch.setenv("SHOWS_WORK", "true")
    for module in (page_cost, form_cost, faults, cached_pages):
        monkeypatch.setattr(module, "table", lambda: table)
    hand_over(monkeypatch, table, site)
    page_cost.trace.cache_clear()
    faults._faults.cache_clear()
    yield
    page_cost.trace().detach(table)
    if faults._faults.cache_info().currsize:
        faults._faults().detach(table)
    page_cost.trace.cache_clear()
    faults._faults.cache_clear()


@pytest.fixture
def laptop(shown: None, ana: Browser, monkeypatch: pytest.MonkeyPatch) -> Browser:
    """Ana's browser, where faults are made."""
    monkeypatch.setenv("STAGE", "local")
    ana.cookies = {name.removeprefix("__Host-"): value for name, value in ana.cookies.items()}
    ana.functions = {**FUNCTIONS, "/": within_rights(site)}
    return ana


def panel(words: str) -> str:
    return words.partition("What this page took")[2]


@pytest.mark.parametrize("path", ["/brands/apple", "/my/saved", "/search?q=runner"])
def test_a_throttled_page_is_whole_and_tells_what_it_met(laptop: Browser, post_deal: PostDeal, path: str) -> None:
    post_deal()
    calm = laptop.get(path)

    tried = laptop.get(f"{path}{'&' if '?' in path else '?'}fault=throttle")

    assert tried.words.partition("What this page took")[0] == calm.words.partition("What this page took")[0]
    assert re.search(r"A throttle: \w+ was refused with ThrottlingException", panel(tried.words))
    assert re.search(r"\w+ met ThrottlingException: waited [\d.]+ ms, then asked again", panel(tried.words))
    assert "1 tried again" in tried.headers["Server-Timing"][0]
    assert tried.headers["Cache-Control"] == ["no-store"]


def test_a_page_whose_answer_was_lost_is_whole(laptop: Browser) -> None:
    calm, tried = laptop.get("/brands/apple"), laptop.get("/brands/apple?fault=lost")

    assert tried.words.partition("What this page took")[0] == calm.words.partition("What this page took")[0]
    (operation,) = re.findall(r"A lost answer: (\w+) was carried out, and its answer was lost\.", panel(tried.words))
    assert f"{operation} met no answer: waited" in panel(tried.words)


def test_a_stale_index_leaves_out_what_was_written_last_once(laptop: Browser, post_deal: PostDeal) -> None:
    post_deal(9, title="The older one")
    newer = post_deal(1, title="The newer one")

    stale, after = laptop.get("/brands/apple?fault=stale"), laptop.get("/brands/apple")

    assert "The older one" in stale.words
    assert "The newer one" not in stale.words
    assert f"A stale index: the index did not show DEAL#{newer.deal_id} yet" in panel(stale.words)
    assert "The newer one" in after.words


def test_a_page_that_writes_nothing_says_that_its_forms_meet_the_conflict(laptop: Browser) -> None:
    tried = laptop.get("/brands/apple?fault=conflict")

    assert "A conflict: this page writes nothing" in panel(tried.words)


@pytest.mark.parametrize(
    ("fault", "met"),
    [
        ("throttle", "ThrottlingException, because more was asked of the table than it takes at once."),
        ("conflict", "TransactionConflict on BRANDLIKE#apple#ana , because somebody else wrote the same item"),
        ("lost", "no answer, because it was lost on its way; the next try has the same token"),
    ],
)
def test_a_form_that_meets_a_fault_is_carried_out_once(laptop: Browser, table: Table, fault: str, met: str) -> None:
    sent = laptop.post("/my/likes/brand/apple", {"on": "1"}, Referer=f"{ORIGIN}/brands/apple?fault={fault}")
    (refused,) = [each.refused for each in page_cost.trace().requests if each.refused]
    told = laptop.get(sent.location).words.rpartition("What this form took")[2]

    assert topics.get(table, APPLE).likes == 1
    assert follows.is_liked(table, APPLE, "ana")
    assert refused in {"ThrottlingException", "TransactionCanceledException", "no answer"}
    assert f"First try: {met}" in told
    assert re.search(r"Waited \d+ ms, then all of it was written\.", told)
    assert told.count("2 WRU") == 3  # each write, whichever try has written


def test_each_panel_on_the_laptop_ends_with_the_faults_to_try(laptop: Browser) -> None:
    seen = laptop.get("/search?q=runner")

    links = [each.get("href") for each in seen.document.iter("a") if "fault=" in each.get("href", "")]
    assert links == [f"?q=runner&fault={fault}#took" for fault in faults.CHOICES]
    assert set(faults.CHOICES) == set(made.FAULTS)


def test_a_fault_that_nobody_knows_is_named_and_nothing_is_done(laptop: Browser) -> None:
    tried = laptop.get("/brands/apple?fault=flood")

    assert "There is no such fault, so nothing was done. There are: throttle, conflict, lost, stale." in tried.words
    assert "tried again" not in tried.headers["Server-Timing"][0]


def test_a_stage_that_makes_no_faults_says_so_and_does_nothing(shown: None, ana: Browser) -> None:
    tried, calm = ana.get("/my/saved?fault=throttle"), ana.get("/my/saved")

    assert "Faults are made on the laptop alone: nothing was done." in tried.words
    assert "tried again" not in tried.headers["Server-Timing"][0]
    assert "Try it with" not in calm.words
    assert not faults._faults.cache_info().currsize
