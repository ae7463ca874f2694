"""What a page took: shown where a stage shows its work, and nowhere else."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from functions.pages import collections
from shared.data import keys
from shared.data.catalog import products, words
from shared.data.members import follows, messages
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Request
from shared.html import took, views
from shared.http import copies
from shared.models.catalog import BRAND, FRONT_PAGE, Deal, Topic
from shared.values import times
from tests.signed_in.conftest import FUNCTIONS, entered
from tests.support.browsing import Browser
from tests.support.making import a_message, send

ROOT = Path(__file__).resolve().parents[2]

PostDeal = Callable[..., Deal]


@pytest.fixture
def shown(table: Table, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A stage that shows its work."""
    monkeypatch.setenv("SHOWS_WORK", "true")
    monkeypatch.setattr(took, "table", lambda: table)
    monkeypatch.setattr(collections, "table", lambda: table)
    took.trace.cache_clear()
    yield
    events = table.client.meta.events
    trace = took.trace()
    events.unregister("before-parameter-build.dynamodb", trace._before)
    events.unregister("after-call.dynamodb", trace._after)
    took.trace.cache_clear()


@pytest.fixture
def reader(table: Table) -> Browser:
    """An editor's browser, for the table's pages too."""
    browser = entered(table, "tabea", "editor")
    browser.functions = {**FUNCTIONS, "/table": collections.handler}
    return browser


def test_a_page_tells_each_request_it_made(shown: None, ana: Browser, table: Table, post_deal: PostDeal) -> None:
    send(table, a_message(post_deal(), "ana", now=times.now()))

    seen = ana.get("/my/inbox")

    told = seen.words.partition("What this page took")[2]
    assert "5 requests to DynamoDB" in told
    assert all(operation in told for operation in ("GetItem", "Query", "GSI1", "BatchGetItem"))
    assert all(function in told for function in ("sessions.authenticate", "messages.latest", "deals.get_many"))
    assert "/table/code/shared.data.members.messages#l" in seen.text
    assert re.fullmatch(
        r'dynamodb;dur=[\d.]+;desc="5 requests, \d round trips, [\d.]+ RRU"', seen.headers["Server-Timing"][0]
    )


def test_a_page_tells_only_its_own_requests(shown: None, ana: Browser) -> None:
    first, second = ana.get("/my/saved"), ana.get("/my/saved")

    assert first.words.partition("took")[2][:30] == second.words.partition("took")[2][:30]


def test_a_sessions_key_is_not_shown(shown: None, ana: Browser) -> None:
    seen = ana.get("/my/saved")

    (session,) = re.findall(r">(SESSION#[^<]*)<", seen.text)
    assert session == "SESSION#…"


def test_a_stage_that_does_not_show_its_work_has_nothing_of_it(ana: Browser) -> None:
    sys.modules.pop("shared.html.took", None)

    seen = ana.get("/my/saved")

    assert "What this page took" not in seen.text
    assert "took.css" not in seen.text
    assert "Server-Timing" not in seen.headers
    assert "shared.html.took" not in sys.modules


def a_request(began: float, seconds: float) -> Request:
    return Request("Query", None, (), began, seconds)


def test_requests_that_were_under_way_at_once_share_a_round_trip() -> None:
    requests = [a_request(0, 1), a_request(0.5, 1), a_request(1.2, 0.1), a_request(1.5, 1), a_request(9, 1)]

    assert took.waves(requests) == [1, 1, 1, 2, 3]


def test_requests_that_went_out_at_once_share_one_however_fast_the_answers_were() -> None:
    requests = [
        a_request(0, 1),
        *(replace(a_request(n, 0.5), pool="ThreadPoolExecutor-1") for n in (1, 2)),
        a_request(3, 1),
    ]

    assert took.waves(requests) == [1, 2, 2, 3]


def test_each_pattern_is_numbered_as_the_readme_numbers_it() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \|.*\|.*\|(.*)\|.*\|$", readme, re.MULTILINE)
    numbered: dict[str, set[str]] = {}
    for number, functions in rows:
        for function in re.findall(r"`(\w+\.\w+)`", functions):
            numbered.setdefault(function, set()).add(number)

    ours = {function: set(numbers.split(", ")) for function, numbers in took.PATTERNS.items()}

    assert {function: numbers for function, numbers in ours.items() if function in numbered} == {
        function: numbers for function, numbers in numbered.items() if function in ours
    }
    assert set(numbered) <= set(ours)


def test_an_item_collection_is_drawn(shown: None, reader: Browser, post_deal: PostDeal) -> None:
    deal = post_deal()

    seen = reader.get(f"/table?partition={keys.deal(deal.deal_id)['PK'].replace('#', '%23')}")

    assert "The table, 1 item" in seen.words
    assert "Trail runner" in seen.words
    assert "In GSI1" in seen.words


def test_an_index_is_drawn(shown: None, reader: Browser, post_deal: PostDeal) -> None:
    deal = post_deal()
    month = f"{deal.created_at:%Y-%m}-01T00:00:00"

    seen = reader.get(f"/table?partition=BRAND%23apple%23{month}&index=GSI2")

    assert "The index GSI2, 1 item" in seen.words
    assert "Partition: GSI2PK" in seen.words


@pytest.mark.parametrize(
    "query",
    ["USER%23tabea", "SESSION%23abc", "USEREMAIL%23tabea@mail.example", "SESSIONS%23tabea&index=GSI1",
     "USER%23tabea&index=UserIndex", "ATTEMPTS%23USER%23tabea%231", "DEAL%231&index=GSI9"],
)  # fmt: skip
def test_accounts_and_sessions_are_not_drawn(shown: None, reader: Browser, query: str) -> None:
    assert reader.get(f"/table?partition={query}").status == 403


@pytest.mark.parametrize(
    "path", ["/table", "/table?partition=DEALS", "/table/code/shared.data.keys", "/table/followed/1"]
)
def test_the_table_is_for_editors(shown: None, table: Table, path: str) -> None:
    member, nobody = entered(table, "bo"), Browser({})
    member.functions = nobody.functions = {"/table": collections.handler}

    assert member.get(path).status == 403
    assert nobody.get(path).status == 303


def test_the_code_of_the_data_layer_is_shown(shown: None, reader: Browser) -> None:
    seen = reader.get("/table/code/shared.data.catalog.feeds")

    assert "def read(" in seen.words
    assert 'id="l1"' in seen.text


@pytest.mark.parametrize(
    "module", ["os", "shared.settings", "shared.data..keys", "shared.data.nothing", "shared.data.a.b"]
)
def test_no_other_code_is_shown(shown: None, reader: Browser, module: str) -> None:
    assert reader.get(f"/table/code/{module}").status == 404


def test_what_followed_from_posting_a_deal_is_told(
    shown: None, reader: Browser, table: Table, post_deal: PostDeal
) -> None:
    entered(table, "ana")
    follows.watch(table, Topic(BRAND, "apple"), "ana", times.now())
    deal = post_deal()
    before = reader.get(f"/table/followed/{deal.number}")

    products.follow(table, None, deal)
    words.follow(table, None, deal)
    send(table, messages.compose(messages.of_deal(deal, "brand"), "ana", times.now()))
    after = reader.get(f"/table/followed/{deal.number}")

    assert "Written in one transaction" in before.words
    assert "0 of 1 watcher have their message." in before.words
    assert "1 of 1 watcher have their message." in after.words
    assert "4 of 4 items" in after.words
