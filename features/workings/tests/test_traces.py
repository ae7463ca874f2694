"""What a page took, and what it does with a fault."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from features.workings import collections, items, page_cost, patterns
from features.workings import data as workings
from features.workings import faults as made
from functions.background import refresher
from functions.pages import site
from infra.bundling import module_of
from infra.functions import FUNCTIONS as ROWS
from shared import features, hooks
from shared.data.catalog import offers, page_cache, search, topics
from shared.data.members import follows
from shared.dynamodb.capacity import Basis, Capacity
from shared.dynamodb.table import Table
from shared.http import cached_pages
from shared.values import identifiers, times
from tests.signed_in.conftest import FUNCTIONS, PASSWORD, PostDeal, entered, found_by_functions, two_brands
from tests.support.browsing import ORIGIN, Browser, Seen
from tests.support.cases import cases, cases_by_name
from tests.support.engines import DYNOXIDE_ENGINE
from tests.support.factories import APPLE, a_message, send
from tests.support.rights import within_rights
from tests.support.surroundings import hand_over
from tests.support.wire import Answer, answered, compared, error

pytestmark = pytest.mark.usefixtures("shown")

COUNTS = features.merged(hooks.Head, lambda each: each.COUNTS)
"""What features count at the head of a member's page, beside the unread messages: a request each."""

ZOE = {"username": "zoe", "name": "Zoe", "email": "zoe@mail.example", "password": PASSWORD}


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Iterator[Table]:
    """A table of an engine that bears several requests at once, so that they come from threads, as deployed."""
    with DYNOXIDE_ENGINE.table(two_brands) as own, found_by_functions(monkeypatch, own) as table:
        yield table


def test_a_page_shows_each_request_it_made(ana: Browser, table: Table, post_deal: PostDeal) -> None:
    send(table, a_message(post_deal(), "ana", now=times.now()))

    seen = ana.get("/my/inbox")

    told = seen.words.partition("Cost of this page")[2]
    requests = 6 + len(COUNTS)  # with what she watches
    assert f"{requests} requests to DynamoDB" in told
    assert all(operation in told for operation in ("GetItem", "Query", "GSI1", "BatchGetItem"))
    assert all(function in told for function in ("sessions.authenticate", "messages.latest", "deals.get_many"))
    assert "/table/code/shared.data.members.messages#l" in seen.text
    assert re.fullmatch(
        rf'dynamodb;dur=[\d.]+;desc="{requests} requests, \d round trips, [\d.]+ RRU"', seen.headers["Server-Timing"][0]
    )


def test_a_page_shows_only_its_own_requests(ana: Browser) -> None:
    first, second = ana.get("/my/watches"), ana.get("/my/watches")

    assert first.words.partition("took")[2][:30] == second.words.partition("took")[2][:30]


@pytest.mark.parametrize("path", ["/account", "/account/remove", *cases("ONE_READ")])
def test_each_count_at_the_head_takes_a_request_and_no_round_trip(ana: Browser, path: str) -> None:
    """The session and its account are read first, one after the other; then what the page shows, and the counts."""
    seen = ana.get(path)

    requests = (5 if path == "/account" else 4) + len(COUNTS)  # it lists sessions
    assert f"{requests} requests, 3 round trips" in seen.headers["Server-Timing"][0]
    assert "messages.unread_rows" in seen.words
    for count in COUNTS.values():
        assert f"{count.__module__.rpartition('.')[2]}.{count.__name__}" in seen.words


def test_a_stage_that_does_not_show_its_work_has_nothing_of_it(ana: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHOWS_WORK")
    of_work = {f"shared.html.{name}" for name in ("page_cost", "form_cost", "drawings")}
    of_work |= {"features.workings.data", "features.workings.entry"}
    for name in of_work:
        monkeypatch.delitem(sys.modules, name, raising=False)

    seen = ana.get("/my/watches?fault=throttle&trace=AAAAAAAAAAAAAAAA")
    sent = ana.post("/my/likes/brand/apple", {"on": "1"})

    assert "trace=" not in sent.location
    assert "What this" not in seen.text
    assert 'href="/table' not in seen.text
    assert "page-cost" not in seen.text
    assert "Server-Timing" not in seen.headers
    assert not of_work & sys.modules.keys()


PUBLIC = {
    row.pages or "/": import_module(module_of(row.name))
    for row in ROWS
    if row.pages is not None and row.access and row.pages not in FUNCTIONS
}
"""The other functions that answer with pages."""


@pytest.fixture
def visitor(table: Table, monkeypatch: pytest.MonkeyPatch) -> Browser:
    """An editor's browser, for the public pages and the table's, too."""
    hand_over(monkeypatch, table, *PUBLIC.values())
    monkeypatch.setattr(cached_pages, "table", lambda: table)
    browser = entered(table, "vera", "editor")
    browser.functions = FUNCTIONS | {prefix: within_rights(function) for prefix, function in PUBLIC.items()}
    return browser


def test_a_stage_other_than_the_laptop_has_no_walk(visitor: Browser) -> None:
    seen = visitor.get("/table")

    assert "New here?" not in seen.text
    assert "/table/walk" not in seen.text
    assert visitor.get("/table/walk").status == 404


@pytest.fixture
def member(visitor: Browser, ana: Browser) -> Browser:
    """Ana's browser, for the public pages too."""
    ana.functions = visitor.functions
    return ana


PAGES = [
    "/", "/deals", "/deals?cursor={cursor}", "/deals/{number}", "/deals/{deal_id}", "/ending", "/editors-choice",
    "/categories/shoes?sort=cheapest", "/brands/apple?sort=discount", "/categories/shoes?to=99&brand=apple",
    "/search?q=trail&sort=cheapest",
    "/categories/shoes", "/categories/home", "/categories/shoes?cursor={cursor_of_shoes}", "/brands", "/brands/apple",
    "/brands/aple", "/search?q=trail", "/search?q=trail+runner", "/search?q=runnner",
    "/my/inbox", "/my/watches", "/my/status?deal={number}", "/my/status?topic=brand/apple",
    "/account", *cases("TRACED"),
]  # fmt: skip


@pytest.mark.parametrize("built", [False, True], ids=["from the indexes", "from copies"])
def test_each_request_of_each_page_has_a_pattern_and_a_function(
    visitor: Browser, table: Table, post_deal: PostDeal, built: bool
) -> None:
    found = [post_deal(n, link=f"https://shop.example/{n}", ends_at=times.now() + timedelta(days=2)) for n in range(3)]
    for deal in found:
        offers.file(table, None, deal)
        search.file(table, None, deal)
    for give in cases("OWNS"):
        give(table, found[0], "vera", times.now())
    send(table, a_message(found[0], "vera", now=times.now()))
    if built:
        refresher.refresh(page_cache.PARTS, set(), set())
    known = {
        "number": found[0].number, "deal_id": found[0].deal_id, "month": f"{found[0].created_at:%Y-%m}",
        "link": found[0].link, "cursor": identifiers.cursor_after("deals", found[0].deal_id),
        "cursor_of_shoes": identifiers.cursor_after("category/shoes", found[0].deal_id),
    }  # fmt: skip
    unknown: dict[str, set[str]] = {}
    asked = 0

    with compared(table) as wrong:
        for path in PAGES:
            page_cost.begin()
            assert visitor.get(path.format_map(known), User_Agent="Firefox").status < 405, path
            for row in page_cost.summary()["rows"]:
                asked += 1
                if not row["patterns"] or not row["function"] or "<" in row["function"]:
                    unknown.setdefault(f"{row['function']} of {row['index']}", set()).add(path)

    assert unknown == {}
    assert wrong == []
    assert asked > 2 * len(PAGES)


def row_of(function: str, operation: str = "Query") -> dict[str, Any]:
    """The first row of a page's requests by a function."""
    rows = page_cost.summary()["rows"]
    return next(row for row in rows if (row["function"], row["operation"]) == (function, operation))


def test_a_page_shows_how_it_asked_for_which_patterns_and_the_cost_of_a_million(ana: Browser) -> None:
    seen = ana.get("/my/watches")

    session, unread = row_of("sessions.authenticate", "GetItem"), row_of("messages.unread_rows")
    assert (session["how"], session["projection"]) == (["consistent"], ())
    assert unread["how"] == ["eventual", "limit 100"]
    assert "Query GSI1 eventual · limit 100" in seen.words
    assert '<div id="pattern-25"><dt><b>25</b> ' in seen.text
    assert "25 A member's likes and watches" in seen.words
    assert patterns.PATTERNS["25"].sentence in seen.words
    assert patterns.PATTERNS["36"].sentence not in seen.words
    (units,) = re.findall(r"([\d.]+) RRU\"", seen.headers["Server-Timing"][0])
    assert f"A million such pages cost ${float(units) * 0.125 + 1e-9:.2f}" in seen.words


def test_all_keys_of_a_batch_are_there_and_lead_somewhere(ana: Browser, table: Table, post_deal: PostDeal) -> None:
    for minutes in range(10):
        send(table, a_message(post_deal(minutes), "ana", now=times.now()))

    seen = ana.get("/my/inbox")

    assert [len(row_of("deals.get_many", "BatchGetItem")[part]) for part in ("keys", "more")] == [8, 2]
    assert "and 2 more" in seen.words
    assert len(re.findall(r'class="key" href="/table\?partition=DEAL%23', seen.text)) == 10


def test_a_key_whose_collection_is_not_shown_leads_to_the_page_that_says_so_and_a_sessions_is_hidden(
    ana: Browser,
) -> None:
    seen = ana.get("/account")

    assert '/table?partition=USER%23ana"' in seen.text
    assert re.findall(r">(SESSION#[^<]*)<", seen.text) == ["SESSION#…"]
    assert "partition=SESSION%23" not in seen.text


def test_copies_from_memory_are_said_to_be(
    visitor: Browser, post_deal: PostDeal, monkeypatch: pytest.MonkeyPatch
) -> None:
    post_deal()
    now = times.now()
    monkeypatch.setattr(times, "now", lambda: now)  # they are kept for a second
    refresher.refresh(page_cache.PARTS, set(), set())

    first, second = visitor.get("/"), visitor.get("/")

    assert "page_cache.read" in first.words
    assert "From memory" not in first.words
    told = second.words.partition("Cost of this page")[2]
    assert "0 requests to DynamoDB" in told
    assert "From memory, without a request: the copies of front page, HTML; newest deals, HTML." in told
    assert "A million such pages cost $0.00" in told


def test_forms_take_the_capacity_that_is_counted_for_them(
    anyone: Browser, ana: Browser, editor: Browser, table: Table, post_deal: PostDeal
) -> None:
    deal = post_deal()
    taken: dict[str, list[float]] = {}
    drawn: dict[str, str] = {}

    def fill_in(form: str, browser: Browser, path: str, fields: dict[str, str]) -> Seen:
        page_cost.begin()
        seen = browser.post(path, fields)
        assert seen.status == 303, form
        transactions = [each for each in page_cost.trace().requests if each.operation == "TransactWriteItems"]
        taken[form] = [each.capacity.write for each in transactions if each.capacity is not None]
        kept = kept_of(table, seen)
        drawn[form] = " ".join(write["verb"] for group in together(kept) for write in group["writes"])
        assert [units_of(group) for group in together(kept)] == taken[form], form
        told.append(json.dumps(kept, ensure_ascii=False))
        return seen

    told: list[str] = []
    more, of_editors = cases_by_name("TRACED_FORMS"), cases_by_name("TRACED_OF_EDITORS")
    with compared(table) as wrong:
        fill_in("sign-up", anyone, "/account/sign-up", ZOE)
        for form, path in (("like", "/my/likes/brand/apple"), ("watch", "/my/watches/brand/apple")):
            fill_in(form, ana, path, {"on": "1"})
        for form, (prepare, _, _) in of_editors.items():
            fill_in(form, editor, *prepare(editor, table, deal))
        for form, (prepare, _, _) in more.items():
            fill_in(form, ana, *prepare(ana, table, deal))

    assert wrong == []
    # By hand, of items below 1 KB: two units for each write and check of a transaction, one for each index entry.
    assert taken == {
        "sign-up": [4 * 2 + 1, 3 * 2 + 1],  # the four items of an account, UserIndex; a session, two checks, GSI1
        "like": [3 * 2 + 1],  # the like, the brand's count, the account's check; GSI1
        "watch": [3 * 2 + 1],
        **{form: units for form, (_, units, _) in (more | of_editors).items()},
    }
    assert drawn == {
        "sign-up": "put put put put check check put",
        "like": "put update check",
        "watch": "put update check",
        **{form: verbs for form, (_, _, verbs) in (more | of_editors).items()},
    }
    # What the browser of the table does not show is in no drawing: hashes, tokens, addresses, people's names.
    assert not re.search(
        r"argon2|mail\.example|Zoe|Harbour|SESSION#[^…]|USEREMAIL#[^…]|IDEMPOTENCY#[^…]", "".join(told)
    )


def kept_of(table: Table, seen: Seen) -> dict[str, Any]:
    """The drawing that is kept under the id in the address that a form leads to."""
    (trace_id,) = re.findall(r"[?&]trace=([\w-]{16})$", seen.location)
    return dict(workings.find(table, trace_id, times.now()) or {})


def together(kept: dict[str, Any]) -> list[dict[str, Any]]:
    """The transactions of a drawing."""
    return [group for group in kept["groups"] if group["together"]]


def units_of(group: dict[str, Any]) -> float:
    """The units of a transaction's writes and of its index entries, as they are drawn."""
    units = [each["units"] for each in (*group["writes"], *group["indexes"])]
    return sum(float(each.removesuffix(" WRU")) for each in units)


def test_the_page_that_a_form_leads_to_draws_its_writes(member: Browser) -> None:
    liked = member.post("/my/likes/brand/apple", {"on": "1"}).location

    seen, without = member.get(liked), member.get("/brands/apple")

    told = drawn_in(seen)
    assert "1 transaction of 3 writes 2 RRU + 7 WRU" in told
    assert "All 3 writes, or none: follows.like , pattern 14" in told
    assert (
        "put BRANDLIKE#apple#ana a BrandLike item of 7 attributes, 125 B only if the brand like does not exist yet "
        "attribute_not_exists(PK) If refused: The user likes this already; nothing was counted. 2 WRU" in told
    )
    assert "update BRAND#apple ADD LikesCount 1 only if the brand exists attribute_exists(PK)" in told
    assert "stream 2 records: BRANDLIKE#apple#ana inserted, BRAND#apple changed" in told
    assert "publisher not invoked: its filter matches only deals 0 WRU" in told
    # The page itself is as ever: its own requests, its notice, and stored nowhere this once.
    assert re.search(r"(Cost of this page.*?) [\d.]+ ms", seen.words)[1] in without.words  # type: ignore[index]  # found
    assert (seen.headers["Cache-Control"], "ETag" in seen.headers) == (["no-store"], False)
    assert "no-store" not in without.headers["Cache-Control"][0]


def test_a_form_that_is_refused_shows_by_which_write(member: Browser) -> None:
    member.post("/my/likes/brand/apple", {"on": "1"})

    seen = member.get(member.post("/my/likes/brand/apple", {"on": "1"}).location)

    told = drawn_in(seen)
    assert (
        "Refused: BRANDLIKE#apple#ana The user likes this already; nothing was counted. The transaction wrote" in told
    )
    assert "What followed" not in told


def test_a_form_that_fails_draws_what_it_did_on_the_page_that_says_so(anyone: Browser) -> None:
    anyone.post("/account/sign-up", ZOE)

    seen = Browser(FUNCTIONS).post("/account/sign-up", ZOE | {"email": "zoe2@mail.example"})

    told = drawn_in(seen)
    assert seen.status == 422
    assert "put USER#zoe a User item of 11 attributes, 195 B only if the user does not exist yet" in told
    assert "Refused: The username 'zoe' is taken." in told
    assert "10 WRU" in told  # two for each of the four writes refused, and two by themselves


def test_a_trace_is_shown_by_its_id_and_for_ten_minutes(
    anyone: Browser, ana: Browser, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    anyone.functions = {"/table": within_rights(collections)}
    (trace_id,) = re.findall("trace=(.*)", ana.post("/my/likes/brand/apple", {"on": "1"}).location)

    before = anyone.get(f"/table/took/{trace_id}")
    later = times.now() + workings.KEPT
    monkeypatch.setattr(times, "now", lambda: later)
    after = anyone.get(f"/table/took/{trace_id}")

    assert "follows.like" in drawn_in(before)
    assert (after.status, anyone.get("/table/took/..%2f").status) == (404, 404)
    assert "the cost of a form is stored for ten minutes" in after.words


def test_a_page_is_whole_where_the_trace_cannot_be_read(member: Browser, table: Table) -> None:
    liked = member.post("/my/likes/brand/apple", {"on": "1"}).location

    def away(asked: dict[str, Any]) -> Answer | None:
        is_trace = items.trace("")["PK"] in asked["ExpressionAttributeValues"][":partition"]["S"]
        return error("ResourceNotFoundException") if is_trace else None

    with answered(table, "Query", away):
        seen = member.get(liked)

    assert (seen.status, "Apple" in seen.words, drawn_in(seen)) == (200, True, "")


def drawn_in(seen: Seen) -> str:
    """The part of a page that tells of a form."""
    _, took, rest = seen.words.rpartition("Cost of this form")
    return rest.partition("Cost of this page")[0] if took else ""


def test_a_figure_that_is_counted_stands_in_the_header_in_plain_letters(ana: Browser) -> None:
    ana.get("/my/watches")
    page_cost.begin()
    page_cost.trace().capacity = Capacity(3.5, basis=Basis.AT_LEAST)

    assert "at least 3.5 RRU" in page_cost.server_timing()
    assert page_cost.server_timing().isascii()
    assert page_cost.summary()["million"] == "at least $0.44"


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


@pytest.mark.parametrize("path", ["/brands/apple", "/my/watches", "/search?q=runner"])
@pytest.mark.parametrize(
    ("fault", "told", "met"),
    [
        ("throttle", r"A throttle: (\w+) was refused with ThrottlingException", "ThrottlingException"),
        ("lost", r"A lost answer: (\w+) was carried out, but its answer was lost\.", "no answer"),
    ],
)
def test_a_page_that_meets_a_fault_is_whole_and_shows_it(
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
        ("lost", "no answer, because it was lost; the next try sends the same token"),
    ],
)
def test_a_form_that_meets_a_fault_is_carried_out_once(laptop: Browser, table: Table, fault: str, met: str) -> None:
    sent = laptop.post("/my/likes/brand/apple", {"on": "1"}, Referer=f"{ORIGIN}/brands/apple?fault={fault}")
    (refused,) = [each.refused for each in page_cost.trace().requests if each.refused]
    told = laptop.get(sent.location).words.rpartition("Cost of this form")[2]

    assert topics.get(table, APPLE).likes == 1
    assert follows.is_liked(table, APPLE, "ana")
    assert refused in {"ThrottlingException", "TransactionCanceledException", "no answer"}
    assert "1 transaction of 3 writes 1 retry" in told
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


def test_only_the_panel_can_make_faults() -> None:
    folder = Path(made.__file__).parent
    importing = [file.stem for file in folder.glob("*.py") if "import Faults" in file.read_text(encoding="utf-8")]

    assert importing == ["page_cost"]


def test_a_stage_that_makes_no_faults_says_so_and_does_nothing(ana: Browser) -> None:
    tried, calm = ana.get("/my/watches?fault=throttle"), ana.get("/my/watches")

    assert "Faults work only on the laptop. Nothing was done." in tried.words
    assert "tried again" not in tried.headers["Server-Timing"][0]
    assert "Try it with" not in calm.words
    assert not page_cost._faults.cache_info().currsize
