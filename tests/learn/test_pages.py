"""The textbook as a visitor has it: run without script, a bad value, what was read, and nothing of it in prod."""

from __future__ import annotations

import importlib.util
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from functions.pages.collections import SHOWN
from infra.functions import of_stage
from infra.rights import Right
from infra.rows.textbook import LEARN
from infra.settings import STAGES
from shared.data import keys
from shared.data.partitions import SCRATCH, VISIBLE
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import INDEXES, key_names
from shared.dynamodb.table import Table
from shared.learn import lessons
from tests.learn.conftest import a_reader, stage
from tests.support.browsing import Browser, Seen
from tests.support.commands import printed_by
from tests.support.engines import MINISTACK
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
        return module.startswith(SHOWN) and importlib.util.find_spec(module) is not None
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
    assert ("In the partition: what was read" in ran.words) == lesson.can_run
    assert ("Nothing was sent yet." in opened.words) == lesson.can_run
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


@pytest.mark.thorough
def test_what_the_local_cloud_does_not_refuse_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with stage(MINISTACK, monkeypatch):
        seen = a_reader().post("/learn/sparse-index").words

    assert "Amazon’s DynamoDB refuses this with ValidationException . The local cloud lets it pass." in seen


def test_a_value_of_ones_own_is_what_is_asked_for(reader: Browser) -> None:
    assert "Runa" in reader.get("/learn/by-partition?value=runa").words
    assert "No items." in reader.get("/learn/by-partition?value=nobody").words


@pytest.mark.parametrize("value", ["", "Ana#1", "a" * 61, "../x"])
def test_a_value_that_is_none_gets_one_sentence_and_nothing_is_sent(reader: Browser, table: Table, value: str) -> None:
    seen = reader.post("/learn/reference-counts", {"value": value})

    assert seen.status == 422
    assert "Use small letters, digits and hyphens." in seen.words
    assert "Nothing was sent yet." in seen.words
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
    assert len(lessons.moved()) + len([each for each in lessons.by_slug().values() if each.number]) == 58

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
        explanation = " ".join(predict.because.replace("`", "").split(". ")[0].split()[-3:])
        assert explanation not in _spaced(reader.get(f"/learn/{slug}")), slug

        for number, _ in enumerate(predict.answers):
            seen = reader.post(f"/learn/{slug}", {"answer": str(number)})

            assert explanation in _spaced(seen), slug
            assert ("✗ not so" in seen.words) == (number != predict.right), slug
            (right,) = [each for each in seen.document.iter("button") if "✓ right" in "".join(each.itertext())]
            assert right.get("value") == str(predict.right), slug
    assert table.scan() == before


def _spaced(seen: Seen) -> str:
    """The words of a page's explanation as one text, or nothing where there is no explanation."""
    return " ".join("".join(each.itertext()) for each in seen.document.iter("p") if each.get("class") == "because")


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

    assert "✗ not so" in ran.words
    assert "In the partition: what was read" in ran.words


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


@pytest.mark.parametrize("slug", ["item-collection", "sparse-index", "exercise-from-32-units-to-3"])
def test_terms_are_explained_where_they_first_stand(reader: Browser, slug: str) -> None:
    seen = reader.get(f"/learn/{slug}")

    buttons = [(each.get("popovertarget"), each.text or "") for each in seen.document.iter("button")]
    targets = {target: text for target, text in buttons if target}
    sentences = {each.get("id"): _text(each) for each in seen.document.iter("span") if each.get("popover") is not None}
    declared = lessons.by_slug()[slug].terms if slug in lessons.by_slug() else ["RRU", "partition"]
    assert {f"term-{name.replace(' ', '-')}" for name in declared} <= targets.keys()
    assert targets.keys() == sentences.keys()
    for target, text in targets.items():
        name = target.removeprefix("term-").replace("-", " ")
        assert text.lower() in {name.lower(), f"{name.lower()}s"}
        assert sentences[target] == f"{name} {lessons.glossary()[name]}"


def test_a_page_explains_each_term_once_and_each_word_of_it_stays(reader: Browser) -> None:
    for slug, lesson in lessons.by_slug().items():
        seen = reader.get(f"/learn/{slug}")

        ids = [each.get("id") for each in seen.document.iter() if each.get("id")]
        assert len(ids) == len({*ids}), slug
        text = " ".join(_text(seen.document).split())
        assert [each for each in lesson.paragraphs if " ".join(each.replace("`", "").split()) not in text] == [], slug


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
    for private in (keys.user("ana"), keys.session("x"), keys.saved("ana", "1"), keys.message("ana", "1")):
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
    return printed_by("tests.learn.demo_probe")


def test_the_demo_runs_lessons_and_one_that_asks_a_table_of_its_own(in_demo: Any) -> None:
    assert "Run" in in_demo["lesson"]
    assert "A table of its own has just answered so." in in_demo["own table"]


def test_the_demo_checks_exercises(in_demo: Any) -> None:
    assert [">Solved<" in in_demo[name] for name in ("mended", "broken")] == [True, False]
    assert [">Not yet<" in in_demo[name] for name in ("mended", "broken")] == [False, True]
