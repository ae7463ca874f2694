"""The pages of the textbook: lessons, glossary, the figures of Part 0, and who may ask for what."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from features.textbook import figures, learn, lessons
from features.textbook.rights import LEARN
from features.textbook.tests.conftest import runa
from features.workings import page_cost
from features.workings.collections import SHOWN
from features.workings.patterns import PATTERNS
from features.workings.tests.conftest import stage
from infra.functions import of_stage
from infra.rights import Right
from infra.settings import STAGES
from shared.data import keys
from shared.data.partitions import SCRATCH, VISIBLE
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import INDEXES, key_names
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from tests.support.browsing import Browser, Seen
from tests.support.commands import printed_by
from tests.support.engines import DYNOXIDE_ENGINE, MINISTACK, MOTO, Engine, on
from tests.support.rights import Ask, policy_of

READS = {"GetItem", "BatchGetItem", "Query"}


def _links(seen: Seen) -> list[str]:
    """The links of a page to the table's browser and to code."""
    links = [each.get("href", "") for each in seen.document.iter("a")]
    return [link for link in links if link.startswith(("/table?", "/table/code/"))]


def _leads_somewhere(link: str, items: list[Item]) -> bool:
    """Whether a link leads to a collection that has items, or to a module whose code is shown."""
    address = urlsplit(link)
    module = address.path.rpartition("/")[2]
    if address.path != "/table":
        return SHOWN.match(module) is not None and importlib.util.find_spec(module) is not None
    query = parse_qs(address.query)
    index = next((each for each in INDEXES if [each.name] == query.get("index")), None)
    return any(item.get(key_names(index)[0]) == query["partition"][0] for item in items)


@pytest.mark.parametrize("slug", [*lessons.by_slug()])
def test_each_page_opens_and_runs_within_its_rights(reader: Browser, table: Table, slug: str) -> None:
    lesson = lessons.find(slug)
    opened = reader.get(f"/learn/{slug}")
    value = opened.values().get("value", "")

    ran = reader.get(f"/learn/{slug}?value={value}") if lesson.live else reader.post(f"/learn/{slug}", {"value": value})

    assert (opened.status, ran.status) == (200, 200)
    assert lesson.question in opened.words
    assert ("Marked items were read" in ran.words) == lesson.can_run
    assert ("Nothing has been sent yet." in opened.words) == lesson.can_run
    versions = [each.text for each in ran.document.iter("h2") if each.text in ("Often seen", "Here")]
    assert versions == ["Often seen"] * bool(lesson.common) + ["Here"] * lesson.can_run
    assert len([*opened.document.iter("pre")]) == len(lesson.common) + len(lesson.ours)
    items = table.scan()[0]
    dead = [link for link in _links(ran) if not _leads_somewhere(link, items)]
    assert [
        link for link in dead if link.startswith("/table/code/") or not lesson.live
    ] == []  # this table has one deal


def test_the_common_version_is_shown_beside_ours(reader: Browser) -> None:
    seen = reader.post("/learn/hierarchy", {"value": "NEW YORK"}).words.partition("Cost of this page")[0]

    often, _, here = seen.partition("Often seen Query")[2].partition("Here Query")
    assert "3 items" in often
    assert "NEW YORK MILLS" in often
    assert "2 items" in here
    assert "NEW YORK MILLS" not in here


def test_a_refusal_is_shown_as_it_came(reader: Browser) -> None:
    seen = reader.post("/learn/index-of-one-type").words

    assert 'ParamValidationError Parameter validation failed: Unknown parameter in input: "Index"' in seen


def test_a_value_of_ones_own_is_what_is_asked_for(reader: Browser) -> None:
    assert "Runa" in reader.get("/learn/by-partition?value=runa").words
    assert "No items." in reader.get("/learn/by-partition?value=nobody").words


@pytest.mark.parametrize("value", ["", "Ana#1", "a" * 61, "../x"])
def test_a_value_that_is_none_gets_one_sentence_and_nothing_is_sent(reader: Browser, table: Table, value: str) -> None:
    seen = reader.post("/learn/reference-counts", {"value": value})

    assert seen.status == 422
    assert "Use small letters, digits and hyphens." in seen.words
    assert "Nothing has been sent yet." in seen.words
    assert not [item for item in table.scan()[0] if item["PK"].startswith(keys.scratches())]


def test_a_lesson_that_is_live_writes_nothing_when_it_is_posted(reader: Browser, table: Table) -> None:
    before = table.scan()

    reader.post("/learn/by-partition", {"value": "runa"})

    assert table.scan() == before


def test_a_form_from_another_site_runs_nothing(reader: Browser, table: Table) -> None:
    reader.fetch_site = "cross-site"

    assert reader.post("/learn/hierarchy", {"value": "NEW YORK"}).status == 403
    assert not [item for item in table.scan()[0] if item["PK"].startswith(keys.scratches())]


def test_a_pattern_without_a_page_of_its_own_leads_to_the_strategy_that_runs_it(reader: Browser) -> None:
    assert len(lessons.moved()) + len([each for each in lessons.by_slug().values() if each.number]) == len(PATTERNS)

    for slug, strategy in lessons.moved().items():
        assert reader.get(f"/learn/{slug}").headers["Location"] == [f"/learn/{strategy}"]


def test_the_table_of_patterns_links_each_to_its_page_and_its_code(reader: Browser) -> None:
    seen = reader.get("/learn")

    rows = [[each.get("href") for each in row.iter("a")] for row in seen.document.iter("tr")][1:]
    patterns = [lesson for group in lessons.groups() for lesson in group.lessons if lesson.number]
    for links, lesson in zip(rows, patterns, strict=True):
        code = [f"/table/code/{each.module}#l{each.line}" for each in lesson.code]
        assert sorted(links) == sorted([f"/learn/{lesson.page}", *code])


def test_an_unknown_lesson_is_not_there(reader: Browser) -> None:
    assert reader.get("/learn/no-such-lesson").status == 404


def test_a_lesson_is_done_when_it_was_run_or_answered_and_not_when_it_was_opened(reader: Browser) -> None:
    first, second, third = lessons.path()[:3]

    seen = reader.get(f"/learn/{first.slug}")

    assert seen.headers["Cache-Control"] == ["no-store"]
    assert f'href="/learn/{first.slug}">Begin' in reader.get("/learn").text
    reader.post(f"/learn/{first.slug}", {"value": "0"})
    assert f'href="/learn/{first.slug}">Begin' in reader.get("/learn").text
    reader.post(f"/learn/{first.slug}", {"value": "4"})
    assert f'href="/learn/{second.slug}">Continue' in reader.get("/learn").text
    reader.post(f"/learn/{second.slug}", {"answer": "0"})
    assert f'href="/learn/{third.slug}">Continue' in reader.get("/learn").text
    assert f"2 of {len(lessons.path())} done" in reader.get("/learn").words


def test_each_answer_opens_the_explanation_and_runs_nothing(reader: Browser, table: Table) -> None:
    before = table.scan()

    for slug, lesson in lessons.by_slug().items():
        if (predict := lesson.predict) is None:
            continue
        reasons = [_shown(why) for _, why in predict.answers]
        assert _explained(reader.get(f"/learn/{slug}")) == [], slug

        for number, why in enumerate(reasons):
            seen = reader.post(f"/learn/{slug}", {"answer": str(number)})

            assert _explained(seen) == ([why] if number == predict.right else [why, reasons[predict.right]]), slug
            assert ("✗ wrong" in seen.words) == (number != predict.right), slug
            (right,) = [each for each in seen.document.iter("button") if "✓ right" in "".join(each.itertext())]
            assert right.get("value") == str(predict.right), slug
    assert table.scan() == before


def _explained(seen: Seen) -> list[str]:
    """The explanations of a page."""
    return [_text(each) for each in seen.document.iter("p") if each.get("class") == "because"]


def _shown(text: str) -> str:
    """A text of a lesson as the page shows it."""
    return lessons.unmarked(text).replace("`", "")


def test_part_0_comes_first_and_leads_on_to_the_hour(reader: Browser) -> None:
    basics = lessons.groups()[0].lessons
    assert [each.title for each in basics] == [
        "Items, attributes, types", "Keys and collections", "Partitions", "How a write and a read travel", "Units",
        "The item operations and their three rules", "Query and Scan", "Expressions", "Batches and transactions",
        "Indexes and projections",
    ]  # fmt: skip
    seen = reader.get("/learn")
    assert seen.text.index(f'href="/learn/{basics[0].slug}">Start here') < seen.text.index(">Begin<")

    reader.post(f"/learn/{basics[0].slug}", {"answer": "0"})

    seen = reader.get("/learn")
    assert f'href="/learn/{basics[1].slug}">Go on' in seen.text
    assert "1 of 10 done" in seen.words
    assert (
        f'rel="next" accesskey="n" href="/learn/{lessons.path()[0].slug}"'
        in reader.get(f"/learn/{basics[-1].slug}").text
    )


def test_each_page_of_part_0_has_something_to_run_or_to_move_and_names_its_source(reader: Browser) -> None:
    for lesson in lessons.groups()[0].lessons:
        assert lesson.can_run or lesson.figure, lesson.slug
        assert any("docs.aws.amazon.com" in source for *_, source in lesson.points), lesson.slug


def test_an_answer_stays_open_when_the_lesson_is_run(reader: Browser) -> None:
    answered = reader.post("/learn/locking", {"answer": "1"})

    ran = reader.post("/learn/locking", {**answered.values(), "value": "1500"})

    assert "✗ wrong" in ran.words
    assert "Marked items were read" in ran.words


def _rows(seen: Seen, number: int = 0) -> list[list[str]]:
    """The rows of a drawn partition, each as the words of its cells."""
    (*drawn,) = [each for each in seen.document.iter("section") if each.get("class") == "lying"]
    return [["".join(cell.itertext()).strip() for cell in row] for row in drawn[number].iter("tr")][1:]


def test_the_partition_is_drawn_before_and_its_reads_are_marked_after(reader: Browser) -> None:
    before, after = reader.get("/learn/item-collection"), reader.post("/learn/item-collection", {"value": "2"})

    names = [*(f"#ORDER#{number:02d}" for number in range(1, 13)), "USER#ana"]
    assert [row[0] for row in _rows(before)] == [row[0] for row in _rows(after)] == names
    marks = {row[0]: (row[-2], row[-1]) for row in _rows(after) if row[-2] or row[-1]}
    assert marks == {
        "#ORDER#01": ("1", ""), "#ORDER#02": ("2", ""), "USER#ana": ("", "1"), "#ORDER#12": ("", "2"),
    }  # fmt: skip


def test_what_a_filter_dropped_is_marked_as_read(reader: Browser) -> None:
    marks = [row[-2] for row in _rows(reader.post("/learn/filter-expression", {"value": "10"}))]

    assert sorted(marks[:10]) == ["1", *["read"] * 9]
    assert marks[10:] == [""] * 20


def test_where_a_lesson_writes_each_version_is_drawn_as_it_left_the_partition(reader: Browser) -> None:
    seen = reader.post("/learn/locking", {"value": "1500"})

    assert [_rows(seen, number)[0][1:] for number in (0, 1)] == [
        ["2000", "Wool Runners, blue", "2", "1"],
        ["1500", "Wool Runners", "2", "1"],
    ]


def test_the_lines_that_differ_are_marked_before_the_run_and_after_it(reader: Browser) -> None:
    for seen in (reader.get("/learn/item-collection"), reader.post("/learn/item-collection", {"value": "4"})):
        marked = [
            "".join(each.itertext()).strip() for each in seen.document.iter("span") if each.get("class") == "differs"
        ]

        assert marked == ["ScanIndexForward=False,"]


def test_after_the_run_the_requests_are_those_that_were_sent(reader: Browser, table: Table) -> None:
    before, after = reader.get("/learn/item-collection"), reader.post("/learn/item-collection", {"value": "4"})

    lie = {item["PK"] for item in table.scan()[0] if item["PK"].startswith(keys.scratches())}
    named = [{place for place in lie if f'"{place}"' in _text(each)} for each in after.document.iter("pre")]
    assert [len(each) for each in named] == [1, 1]
    assert named[0] | named[1] == lie
    stand_in = keys.scratch("you", "run")
    assert [stand_in in _text(each) for each in before.document.iter("pre")] == [True, True]
    assert [stand_in in _text(each) for each in after.document.iter("pre")] == [False, False]
    assert f"{stand_in} stands for" in before.words
    assert f"{stand_in} stands for" in after.words


def _text(element: Any) -> str:
    return "".join(element.itertext())


@pytest.mark.parametrize("answer", ["", "-1", "9", "x", "1" * 5000])
def test_an_answer_that_is_none_is_no_answer(reader: Browser, answer: str) -> None:
    seen = reader.post("/learn/when-not", {"answer": answer})

    assert seen.status == 200
    assert "✓ right" not in seen.words
    assert "0 of 15 done" in reader.get("/learn").words


@pytest.mark.parametrize(
    ("slug", "marked"),
    [
        ("item-collection", {
            "item collection": "item collection", "sort key": "sort keys", "Query": "Query", "limit": "limit",
        }),
        ("partitions", {
            "physical partition": "partitions", "hot partition": "hot partition",
            "adaptive capacity": "adaptive capacity", "shard": "shards",
        }),
        ("exercise-from-32-units-to-3", {
            "RRU": "RRU", "partition": "partition", "filter": "filter", "projection": "projection",
        }),
    ],
)  # fmt: skip
def test_terms_are_explained_where_their_author_marks_them(reader: Browser, slug: str, marked: dict[str, str]) -> None:
    seen = reader.get(f"/learn/{slug}")

    buttons = [(each.get("popovertarget"), each.text or "") for each in seen.document.iter("button")]
    targets = {target: text for target, text in buttons if target}
    sentences = {each.get("id"): _text(each) for each in seen.document.iter("span") if each.get("popover") is not None}
    assert targets == {f"term-{name.replace(' ', '-')}": text for name, text in marked.items()}
    assert targets.keys() == sentences.keys()
    for target, sentence in sentences.items():
        name = str(target).removeprefix("term-").replace("-", " ")
        assert sentence == f"{name} {lessons.glossary()[name]}"


def test_a_page_explains_each_term_once_and_each_word_of_it_stays(reader: Browser) -> None:
    for slug, lesson in lessons.by_slug().items():
        seen = reader.get(f"/learn/{slug}")

        ids = [each.get("id") for each in seen.document.iter() if each.get("id")]
        assert len(ids) == len({*ids}), slug
        text = " ".join(_text(seen.document).split())
        assert [each for each in lesson.paragraphs if " ".join(_shown(each).split()) not in text] == [], slug


@pytest.mark.parametrize("cookie", ["", "x", "visitor-0001.no-such-lesson", "a#b.hierarchy", "." * 3000])
def test_a_cookie_that_says_nothing_useful_is_a_new_visitors(reader: Browser, cookie: str) -> None:
    reader.cookies["__Host-btd-learn"] = cookie

    seen = reader.post("/learn/hierarchy", {"value": "NEW YORK"})

    assert seen.status == 200
    assert re.fullmatch(r"[A-Za-z0-9_-]{12}\.hierarchy|[A-Za-z0-9_-]{12}", reader.cookies["__Host-btd-learn"])


def test_the_path_takes_an_hour() -> None:
    assert 45 <= sum(lesson.minutes for lesson in lessons.path()) <= 60


def test_its_role_writes_scratch_partitions_and_reads_the_catalog() -> None:
    policy = policy_of(LEARN)
    deal, scratch = keys.deal("1")["PK"], keys.scratch("visitor-0001", "run")

    for operation in ("PutItem", "UpdateItem", "DeleteItem", "PartiQLInsert"):
        assert policy.allows(Ask(operation, (scratch,)))
        assert not policy.allows(Ask(operation, (deal,)))
        assert not policy.allows(Ask(operation, (scratch, deal)))
    assert policy.allows(Ask("GetItem", (deal,)))
    # Of attempts it counts those of its own kind, and resets no one's.
    units, sign_ins = (keys.attempts(kind, "192.0.2.7", 1)["PK"] for kind in ("UNITS", "ADDRESS"))
    counts = ("PK", "SK", "Attempts", "ExpiresAt", "Type")
    assert policy.allows(Ask("UpdateItem", (units,), "", counts))
    assert not policy.allows(Ask("UpdateItem", (sign_ins,), "", counts))
    for private in (keys.user("ana"), keys.session("x"), keys.alert("ana", "price-1"), keys.message("ana", "1")):
        assert not policy.allows(Ask("GetItem", (private["PK"],)))
        assert not policy.allows(Ask("Query", (private["PK"],)))


def test_it_reads_nothing_that_the_browser_of_the_table_does_not_show() -> None:
    for right in LEARN:
        if isinstance(right, Right) and right.operation in READS:
            assert set(right.partitions) <= {SCRATCH, *VISIBLE[right.index.name if right.index else None]}


def test_prod_has_nothing_of_it() -> None:
    assert "learn" not in {row.name for row in of_stage(STAGES["prod"])}
    assert "learn" in {row.name for row in of_stage(STAGES["dev"])}


@pytest.fixture(scope="module")
def in_demo() -> Any:
    return printed_by("features.textbook.tests.demo_probe", "learner")


def test_the_demo_runs_lessons_and_one_that_asks_a_table_of_its_own(in_demo: Any) -> None:
    assert "Run" in in_demo["lesson"]
    assert "A separate table has just given these answers." in in_demo["own table"]


def test_the_demo_checks_exercises(in_demo: Any) -> None:
    assert [">Solved<" in in_demo[name] for name in ("mended", "broken")] == [True, False]
    assert [">Not yet<" in in_demo[name] for name in ("mended", "broken")] == [False, True]


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
    assert {kind.partition(",")[0] for _, kind, *_ in rows} == {*figures.TYPES}


def _drawn(**query: str) -> list[dict[str, Any]]:
    lesson = lessons.find("partitions")
    drawn: list[dict[str, Any]] = figures.FIGURES["partitions"](query, lesson, {})["drawn"]
    return drawn


@pytest.mark.parametrize("rate", ["0", "500", "8000", "20000"])
@pytest.mark.parametrize("share", ["0", "55", "100"])
@pytest.mark.parametrize("shards", ["1", "10"])
@pytest.mark.parametrize("kind", ["reads", "writes"])
def test_no_request_is_lost_between_partitions(rate: str, share: str, shards: str, kind: str) -> None:
    for each in _drawn(rate=rate, share=share, shards=shards, kind=kind):
        asked = sum(int(bar["asked"].replace(",", "")) for bar in each["bars"])

        assert abs(asked - int(rate)) <= len(each["bars"])  # each is rounded
        assert all(bar["hot"] + bar["others"] <= figures.TALL + 0.2 for bar in each["bars"])


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
        assert figures.of_its_own_table(own, lessons.recorded(), Trace()) == lessons.recorded()["queries"]


def test_a_run_asks_the_table_of_its_own_and_shows_no_request_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with stage(MINISTACK, monkeypatch, learn, runa) as table, several(table) as own:
        monkeypatch.setenv("TEXTBOOK_TABLE", own.name)
        browser = Browser({"/learn": learn.handler})

        before, after = browser.get(PAGE), browser.post(PAGE, {"run": "1"})

        assert "recorded from" in before.words
        assert "A separate table has just given these answers." in after.words
        assert _cells(after, "Queries of the index") == _cells(before, "Queries of the index")
        assert lessons.recorded()["index"] not in {request.index for request in page_cost.trace().requests}


def test_an_engine_that_answers_otherwise_leaves_what_was_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """dynoxide makes the table, and refuses each Query of it."""
    with stage(DYNOXIDE_ENGINE, monkeypatch, learn, runa) as table, several(table) as own:
        monkeypatch.setenv("TEXTBOOK_TABLE", own.name)
        seen = Browser({"/learn": learn.handler}).post(PAGE, {"run": "1"})

    assert "recorded from MiniStack on a separate table. The engine here gives other answers." in seen.words


def test_the_recorded_answer_is_shown_and_says_where_it_is_from(reader: Browser) -> None:
    seen = reader.get(PAGE)

    assert f"recorded from {lessons.recorded()['engine']}" in seen.words
    rows = _cells(seen, "Queries of the index")
    assert [found for _, found in rows] == ["ORDER#1, ORDER#2, ORDER#3", "ORDER#2", "refused", "refused"]
    assert re.findall(r"ORDER#\d", " ".join(" ".join(row) for row in _cells(seen, "The index ByCustomer"))) == [
        "ORDER#1", "ORDER#2", "ORDER#3", "ORDER#4",
    ]  # fmt: skip
