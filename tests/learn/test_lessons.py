"""Every lesson runs, and comes to what it says: the common version goes wrong as told, ours does not."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from shared.data import keys
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import INDEXES, KEYS, PARTITION_KEY, TTL_ATTRIBUTE
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from shared.html.patterns import HELPERS, PATTERNS
from shared.learn import lessons, running
from shared.learn.lessons import Lesson
from shared.learn.running import Done
from shared.values import times
from tests.support.engines import DYNOXIDE_ENGINE, MINISTACK, Engine

ROOT = Path(__file__).resolve().parents[2]
ALL = [lesson for group in lessons.groups() for lesson in group.lessons]
PARTITION_KEYS = {PARTITION_KEY, *(index.partition_key for index in INDEXES)}
THAT_RUN = [lesson for lesson in ALL if lesson.can_run]
NOW = times.now()


def _differs(done: Done) -> str:
    """How a request came out otherwise than its lesson says; nothing where it did not."""
    came = {
        "refused": done.reply.code or None,
        "finds": len(done.reply.items),
        "examined": done.reply.examined,
        "first": done.reply.items[0].get(_sort_key(done)) if done.reply.items else None,
    }
    said = {name: getattr(done.step, name) for name in came}
    told = {name: each for name, each in said.items() if each is not None or name == "refused"}
    differing = {name: (each, came[name]) for name, each in told.items() if each != came[name]}
    return f"{done.step.operation} {differing} {done.reply.message}" if differing else ""


def _sort_key(done: Done) -> str:
    index = done.arguments.get("IndexName")
    return f"{index}SK" if index else "SK"


def _wrong(made: Sequence[Done]) -> list[str]:
    return [difference for done in made if (difference := _differs(done))]


OTHERS = {"slug": ["a", "import-1"], "word": ["zz"], "number": ["999999999"], "few": ["1", "30"], "text": ["SAN DIEGO"]}


@pytest.mark.parametrize("lesson", [each for each in THAT_RUN if each.value], ids=lambda each: each.slug)
def test_a_value_of_ones_own_changes_what_is_found_and_not_what_is_refused(table: Table, lesson: Lesson) -> None:
    assert lesson.value
    for other in OTHERS[lesson.value.kind]:
        made = running.run(table, lesson, other, "visitor-0001", f"run-{other}", times.now(), Trace())

        for done in [*made.common, *made.ours]:
            assert (done.reply.code or None) == done.step.refused, done.reply.message


def test_the_patterns_are_those_of_the_documents() -> None:
    rows = re.findall(
        r"^\| (\d+) \| (.+?) \| .+? \| (.+?) \| .+ \|$",
        (ROOT / "docs" / "patterns.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    named = [(int(number), name, re.findall(r"\[`(.+?)`\]", code)) for number, name, code in rows]

    patterns = [lesson for lesson in ALL if lesson.number]

    assert [(each.number, each.title, [code.shown for code in each.code]) for each in patterns] == named
    known = {function for _, _, functions in named for function in functions}
    served = {number: {*pattern.functions.split()} & known for number, pattern in PATTERNS.items()}
    assert served == {str(number): {*functions} for number, _, functions in named}


def test_each_function_that_serves_a_pattern_is_there() -> None:
    served = [name for each in PATTERNS.values() for name in each.functions.split()]
    for name in (*served, *HELPERS):
        module, _, function = name.partition(".")
        (file,) = (ROOT / "shared" / "data").rglob(f"{module}.py")

        assert f"def {function}(" in file.read_text(encoding="utf-8")


INDEX_AND_KEY = dict(
    re.findall(
        r"^\| (\d+) \| .+ \| (.+) \|$", (ROOT / "docs" / "patterns.md").read_text(encoding="utf-8"), re.MULTILINE
    )
)
"""What the requests of each pattern name, as docs/patterns.md says."""


def _kinds(content: Any) -> set[str]:
    """The words in capitals of the keys that items and requests name: MESSAGE of ``{"SK": "MESSAGE#1"}``."""
    match content:
        case str():
            return {*re.findall(r"(?<![A-Za-z])[A-Z]{3,}(?![A-Za-z])", content)}
        case Mapping():
            named = [inner for name, inner in content.items() if _is_key(name) or not isinstance(inner, str)]
            return {kind for inner in named for kind in _kinds(inner)}
        case [*members]:
            return {kind for member in members for kind in _kinds(member)}
    return set()


def _is_key(name: str) -> bool:
    return name in KEYS or name.startswith(":")


@pytest.mark.parametrize("pattern", [each for each in ALL if each.number], ids=lambda each: each.slug)
def test_a_pattern_runs_on_items_of_the_types_that_its_code_reads(pattern: Lesson) -> None:
    shown = lessons.by_slug()[pattern.page]

    own = _kinds([*shown.items, *(step.arguments for step in shown.ours)])

    named = {*re.findall("[A-Z]{3,}", INDEX_AND_KEY[str(pattern.number)])}
    assert shown.can_run
    assert [kind for kind in own if any(each.startswith(kind) for each in named)] != [], (own, named)


@pytest.mark.parametrize("lesson", THAT_RUN, ids=lambda lesson: lesson.slug)
def test_a_lesson_comes_to_what_it_says_and_writes_scratch_partitions_alone(table: Table, lesson: Lesson) -> None:
    value, now = lesson.value.default if lesson.value else "", times.now()
    before, _ = table.scan()

    made = running.run(table, lesson, value, "visitor-0001", "run", now, Trace())

    assert (_wrong(made.common), _wrong(made.ours)) == ([], [])
    after, _ = table.scan()
    written = [item for item in after if item["PK"].startswith(keys.scratches())]
    assert [item for item in after if item not in written] == before
    assert bool(written) != lesson.live
    places = [place for item in written for name, place in item.items() if name in PARTITION_KEYS]
    assert [place for place in places if not place.startswith(keys.scratch("visitor-0001", "run"))] == []
    assert {item[TTL_ATTRIBUTE] for item in written} <= {int((now + running.KEPT).timestamp())}


@pytest.mark.parametrize("lesson", [each for each in THAT_RUN if each.agree_at], ids=lambda each: each.slug)
def test_both_versions_answer_the_same_question_where_they_should_agree(table: Table, lesson: Lesson) -> None:
    made = running.run(table, lesson, lesson.agree_at, "visitor-0001", "run", times.now(), Trace())

    common, ours = ([item["Title"] for done in each for item in done.reply.items] for each in (made.common, made.ours))
    assert common == ours != []


def test_a_query_is_charged_for_what_its_filter_hides() -> None:
    with MINISTACK.table() as table:
        trace = Trace().attach(table)
        made = running.run(table, lessons.find("sparse-index"), "", "visitor-0001", "run", times.now(), trace)

    assert [str(done.took.capacity) for done in (made.common[0], made.ours[0]) if done.took] == ["~2 RRU", "~0.5 RRU"]
    assert [request.operation for request in trace.requests].count("Query") == 4


def test_units_that_an_engine_reports_are_those_that_are_counted_by_the_rules_of_aws() -> None:
    """MiniStack's are counted from the items, filters, projections and refused writes included; dynoxide tells its own.

    What only one of them refuses is left out: a page says so.
    """
    taken: list[list[tuple[str, str, str, str]]] = []
    for engine in (DYNOXIDE_ENGINE, MINISTACK):
        with engine.table() as table:
            trace = Trace().attach(table)
            taken.append([])
            for lesson in (each for each in THAT_RUN if not each.live):
                value, run_id = lesson.value.default if lesson.value else "", lesson.slug[:9]
                made = running.run(table, lesson, value, "visitor-0001", run_id, NOW, trace)
                for done in [*made.common, *made.ours]:
                    units = str(done.took.capacity).lstrip("~≥") if done.took else "not sent"
                    taken[-1].append((lesson.slug, done.step.operation, done.reply.code, units))
            trace.detach(table)

    told, counted = taken
    assert [(one, two) for one, two in zip(told, counted, strict=True) if one != two and one[2] == two[2]] == []
    assert not [units for *_, units in [*told, *counted] if units == "None"]


def test_each_read_of_a_lesson_that_is_not_live_says_what_it_finds_and_in_which_order() -> None:
    for lesson in (each for each in THAT_RUN if not each.live):
        for step in [*lesson.common, *lesson.ours]:
            if step.operation in running.READS and not step.refused:
                assert step.finds is not None, lesson.slug
                assert step.first or not step.finds or step.operation != "Query", lesson.slug


SAID_UNITS = [each for each in THAT_RUN if any(step.takes for step in [*each.common, *each.ours])]


@pytest.mark.parametrize("engine", [DYNOXIDE_ENGINE, MINISTACK], ids=lambda engine: engine.name)
@pytest.mark.parametrize("lesson", SAID_UNITS, ids=lambda lesson: lesson.slug)
def test_a_request_takes_the_units_that_its_lesson_says(engine: Engine, lesson: Lesson) -> None:
    with engine.table() as table:
        trace = Trace().attach(table)
        made = running.run(table, lesson, lesson.value.default if lesson.value else "", "visitor-0001", "r", NOW, trace)
        trace.detach(table)

    told = [done for done in [*made.common, *made.ours] if done.step.takes]
    took = [str(done.took and done.took.capacity).lstrip("~") for done in told]
    assert took == [done.step.takes for done in told]


@pytest.mark.parametrize("slug", ["sparse-index", "query-and-scan", "filter-expression", "ttl"])
def test_what_a_filter_reads_is_known_without_another_request(
    table: Table, monkeypatch: pytest.MonkeyPatch, slug: str
) -> None:
    asked: list[Mapping[str, Any]] = []
    read: list[Sequence[Item]] = []
    really_ask = running.ask

    def ask(of: Table, operation: str, arguments: Mapping[str, Any]) -> running.Reply:
        asked.append(arguments)
        if "FilterExpression" in arguments:
            values = {":partition": arguments["ExpressionAttributeValues"][":partition"]}
            whole = {name: content for name, content in arguments.items() if name != "FilterExpression"}
            read.append(really_ask(of, operation, {**whole, "ExpressionAttributeValues": values}).items)
        return really_ask(of, operation, arguments)

    monkeypatch.setattr(running, "ask", ask)
    monkeypatch.setattr(running, "_left", lambda *_: [])
    lesson = lessons.find(slug)
    value = lesson.value.default if lesson.value else ""

    made = running.run(table, lesson, value, "visitor-0001", "run", times.now(), Trace())

    steps = [*made.common, *made.ours]
    assert [each for each in asked if each not in [done.arguments for done in steps]] == []
    assert [done.read for done in steps if "FilterExpression" in done.arguments] == read != []


def test_a_query_with_a_filter_names_its_partition_alone_and_no_write_comes_before_it() -> None:
    for lesson in ALL:
        for steps in (lesson.common, lesson.ours):
            for at, step in enumerate(steps):
                if "FilterExpression" in step.arguments:
                    assert not lesson.live, lesson.slug
                    assert {each.operation for each in steps[:at]} <= running.READS, lesson.slug
                    assert step.operation == "Query", lesson.slug
                    assert step.arguments["KeyConditionExpression"] == "PK = :partition", lesson.slug
                    assert step.arguments["ExpressionAttributeValues"][":partition"] == "{scratch}", lesson.slug
                    assert not {"IndexName", "ProjectionExpression", "ExclusiveStartKey"} & step.arguments.keys()


def test_each_term_of_a_lesson_has_its_sentence_and_each_sentence_is_used() -> None:
    used = {term for lesson in ALL for term in lesson.terms}

    assert used == {*lessons.glossary()}
    assert all(sentence.endswith(".") for sentence in lessons.glossary().values())


def test_each_lesson_of_the_path_and_of_part_0_has_terms_and_a_question_with_one_right_answer() -> None:
    for lesson in [*lessons.path(), *lessons.groups()[0].lessons]:
        assert lesson.terms, lesson.slug
        assert lesson.predict, lesson.slug
        assert 2 <= len({*lesson.predict.answers}) == len(lesson.predict.answers) <= 4, lesson.slug
        assert 0 <= lesson.predict.right < len(lesson.predict.answers), lesson.slug
