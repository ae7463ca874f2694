"""Every lesson and exercise runs, and comes to what it says: the common version and a wrong answer go wrong."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from features.scratch import costs, running
from features.scratch.running import Done
from features.textbook import commands, exercises, lessons
from features.textbook.exercises import Exercise, Unusable
from features.textbook.lessons import Lesson
from features.workings.patterns import HELPERS, PATTERNS
from shared.data import keys
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import INDEXES, KEYS, PARTITION_KEY, TTL_ATTRIBUTE
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from shared.values import times
from tests.support.browsing import Browser
from tests.support.engines import DYNOXIDE_ENGINE, MINISTACK, Engine
from tools import documents

ROOT = Path(__file__).resolve().parents[3]
ROWS = "\n".join(documents.pattern_rows().values())
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
    rows = re.findall(r"^\| (\d+) \| (.+?) \| .+? \| (.+?) \| .+ \|$", ROWS, re.MULTILINE)
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
        places = (f"shared/data/**/{module}.py", f"features/*/data/{module}.py", f"features/{module}/data.py")
        (file,) = (file for place in places for file in ROOT.glob(place))

        assert f"def {function}(" in file.read_text(encoding="utf-8")


INDEX_AND_KEY = dict(re.findall(r"^\| (\d+) \| .+ \| (.+) \|$", ROWS, re.MULTILINE))
"""What the requests of each pattern name, as the documents say."""


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
    assert [request.operation for request in trace.requests].count("Query") == 3  # the refused one is not sent


def test_the_laptops_engine_refuses_the_same_requests_and_its_units_are_counted_by_the_rules_of_aws() -> None:
    """MiniStack's are counted from the items, filters, projections and refused writes included; dynoxide tells its own,
    and refuses what each lesson says."""
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
    assert [(one, two) for one, two in zip(told, counted, strict=True) if one != two] == []
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

    def ask(of: Table, operation: str, arguments: Mapping[str, Any], *, by_rules: bool = False) -> running.Reply:
        asked.append(arguments)
        if "FilterExpression" in arguments:
            values = {":partition": arguments["ExpressionAttributeValues"][":partition"]}
            whole = {name: content for name, content in arguments.items() if name != "FilterExpression"}
            read.append(really_ask(of, operation, {**whole, "ExpressionAttributeValues": values}).items)
        return really_ask(of, operation, arguments, by_rules=by_rules)

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


EXERCISES = [*exercises.by_slug().values()]


def _terms_of(*texts: str) -> list[str]:
    return [term for text in texts for term, _ in lessons.terms_in(text) if term]


def test_each_marked_term_is_in_the_glossary_and_each_of_its_terms_is_marked_somewhere_once_a_page() -> None:
    marked: set[str] = set()
    for lesson in ALL:
        texts = [*lesson.paragraphs, *(text for _, text, _ in lesson.points), lesson.often, lesson.here]
        found = _terms_of(*texts, *(why for _, why in (lesson.predict.answers if lesson.predict else ())))
        assert len(found) == len({*found}), lesson.slug
        marks_one = lesson.minutes or lesson.group == "basics" or lesson.number not in (0, 49, 54)
        assert found or not marks_one, lesson.slug
        marked |= {*found}
    for exercise in EXERCISES:
        found = _terms_of(*exercise.paragraphs, *exercise.hints, exercise.because)
        assert len(found) == len({*found}), exercise.slug
        marked |= {*found}

    assert marked == {*lessons.glossary()}
    assert all(sentence.endswith(".") for sentence in lessons.glossary().values())


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("A [[limit]]s end", ["limit"]),
        ("[[Cursors]] and [[WRU]]", ["cursor", "WRU"]),
        ("It is [[sparse|sparse index]].", ["sparse index"]),
        ("A limit that nobody marked", []),
    ],
)
def test_a_term_is_marked_where_its_author_marks_it(text: str, terms: list[str]) -> None:
    assert _terms_of(text) == terms


def test_a_term_that_the_glossary_does_not_have_is_an_error() -> None:
    with pytest.raises(LookupError, match="no boundary"):
        _terms_of("A [[boundary]]")


PREDICTED = [*lessons.path(), *lessons.groups()[0].lessons]


@pytest.mark.parametrize("lesson", PREDICTED, ids=lambda lesson: lesson.slug)
def test_a_question_has_three_or_four_answers_and_says_of_each_why_it_is_right_or_wrong(lesson: Lesson) -> None:
    assert lesson.predict
    answers, reasons = ({*each} for each in zip(*lesson.predict.answers, strict=True))
    assert 3 <= len(answers) == len(reasons) == len(lesson.predict.answers) <= 4
    assert 0 <= lesson.predict.right < len(answers)
    assert [why for why in reasons if len(why.split()) < 5 or not why.endswith(".")] == []
    assert _terms_of(lesson.predict.ask, *answers) == []  # a button has no other one in it


@pytest.mark.parametrize("lesson", PREDICTED, ids=lambda lesson: lesson.slug)
def test_no_text_of_the_page_says_why_an_answer_is_right(lesson: Lesson) -> None:
    """Of the first sentence of the reason, at most six words in ten stand in one sentence above the question."""
    assert lesson.predict
    reason = {*_words(lesson.predict.answers[lesson.predict.right][1].split(". ")[0])}
    for text in [*lesson.paragraphs, lesson.often, lesson.here]:
        for sentence in re.split(r"[.:;] ", text):
            assert len(reason & {*_words(sentence)}) <= 0.6 * len(reason), sentence


def _words(text: str) -> list[str]:
    return [word for word in re.findall(r"[a-z0-9]+", text.lower()) if len(word) > 3 or word.isdigit()]


EACH = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.slug)


def checks(table: Table, exercise: Exercise, text: str, run_id: str = "run") -> list[exercises.Found]:
    trace = Trace().attach(table)
    try:
        typed = exercises.lessons_of(exercise, text)
        return exercises.run(table, exercise, typed, "visitor-0001", run_id, times.now(), trace)[1]
    finally:
        trace.detach(table)


def marks(table: Table, exercise: Exercise) -> list[bool]:
    """Whether each of an exercise's three texts passes: the given one, the solution, and another wrong one."""
    texts = {"a": exercise.broken, "b": exercise.solution, "c": exercise.wrong}
    found = [checks(table, exercise, text, f"{exercise.slug}-{run_id}") for run_id, text in texts.items()]
    assert all(found)
    assert not [each for each in found[1] if not each.right], found[1]
    return [all(each.right for each in every) for every in found]


@EACH
def test_the_solution_alone_passes(table: Table, exercise: Exercise) -> None:
    before = table.scan()[0]

    assert marks(table, exercise) == [False, True, False]

    after = table.scan()[0]
    written = [item for item in after if item not in before]
    assert [item for item in after if item not in written] == before
    places = [place for item in written for name, place in item.items() if name in PARTITION_KEYS]
    assert [place for place in places if not place.startswith(keys.scratch("visitor-0001", ""))] == []
    assert [item for item in written if TTL_ATTRIBUTE not in item] == []


ANSWERS = [
    pytest.param(exercise, text, right, id=f"{exercise.slug}-{'right' if right else 'fitted'}-{n}")
    for exercise in EXERCISES
    for right, texts in ((True, exercise.rights), (False, exercise.fitted))
    for n, text in enumerate(texts)
]


@pytest.mark.parametrize(("exercise", "text", "right"), ANSWERS)
def test_an_answer_of_another_form_passes_and_one_that_fits_the_shown_data_alone_does_not(
    table: Table, exercise: Exercise, text: str, right: bool
) -> None:
    found = checks(table, exercise, text)

    assert [each for each in found[:-1] if not each.right] == []
    assert found[-1].right is right, found[-1]


def test_each_exercise_has_right_answers_of_another_form_and_fitted_ones_where_its_data_could_be_fitted() -> None:
    without = {exercise.slug for exercise in EXERCISES if not exercise.hidden or not exercise.fitted}

    assert without <= {
        "exercise-never-expires",
        "exercise-hot-key",
        "exercise-out-of-the-index",
    }
    assert [exercise.slug for exercise in EXERCISES if not exercise.rights] == []


@pytest.mark.thorough
def test_the_solution_alone_passes_on_the_local_cloud() -> None:
    with MINISTACK.table() as table:
        assert {exercise.slug: marks(table, exercise) for exercise in EXERCISES} == {
            exercise.slug: [False, True, False] for exercise in EXERCISES
        }


def test_there_are_fourteen_and_they_follow_groups_of_lessons() -> None:
    assert len(EXERCISES) >= 14
    assert {*exercises.of_groups()} <= {group.slug for group in lessons.groups()}
    assert {exercise.slug for exercise in EXERCISES} & lessons.by_slug().keys() == set()


@EACH
def test_an_exercise_has_two_hints_a_reason_and_something_to_check(exercise: Exercise) -> None:
    assert len(exercise.hints) == 2
    assert exercise.because.endswith(".")
    assert exercise.check.finds or exercise.check.left
    assert len({exercise.broken, exercise.wrong, exercise.solution}) == 3


def test_the_page_with_a_filter_takes_32_units_and_the_solution_3(table: Table) -> None:
    exercise = exercises.find("exercise-from-32-units-to-3")

    took = [
        next(each.came for each in checks(table, exercise, text, text[-9:-4]) if each.wanted.startswith("Takes"))
        for text in (exercise.broken, exercise.wrong, exercise.solution)
    ]

    assert took == ["32 RRU", "32 RRU", "3 RRU"]


QUERY = {"KeyConditionExpression": "PK = :partition", "ExpressionAttributeValues": {":partition": "{scratch}"}}
KEY = {"PK": "{scratch}", "SK": "DEAL"}


def a_set(expression: str, **names: Any) -> dict[str, Any]:
    return {
        "UpdateItem": {"Key": KEY, "UpdateExpression": expression, "ExpressionAttributeValues": {":v": "x"}, **names}
    }


def writes(*each: Any) -> dict[str, Any]:
    return {"TransactWriteItems": {"TransactItems": [*each]}}


def nested(levels: int) -> Any:
    """A list in a list, so many times."""
    made: Any = []
    for _ in range(levels - 1):
        made = [made]
    return made


LARGE = "{long}" * 500
PLACES = {f"{name}{part}": "{scratch}" for name in ("GSI1", "GSI2", "GSI3") for part in ("PK", "SK")}
COPIES = ", ".join(f"A{number} = :v" for number in range(200))

COSTLY: dict[str, Any] = {
    "a large item in three indexes": {"PutItem": {"Item": {**KEY, **PLACES, "Text": LARGE}}},
    "an update that copies a text": a_set(f"SET {COPIES}", ExpressionAttributeValues={":v": "{long}" * 100}),
    "an update that doubles a list": a_set(
        "SET " + ", ".join(f"A{number} = list_append(Text, Text)" for number in range(60)),
    ),
    "many small writes": writes(*({"Put": {"Item": {"SK": str(number), **PLACES}}} for number in range(20))),
}  # fmt: skip


UNUSABLE: dict[str, Any] = {
    "nothing": "",
    "no JSON": "Query(PK = 1)",
    "deep JSON": "[" * 3999,
    "JSON that is deep and whole": {"PutItem": {"Item": {**KEY, "A": nested(390)}}},
    "a condition in many parentheses": {"DeleteItem": {"Key": KEY, "ConditionExpression": "(" * 400}},
    "functions in one another": {"GetItem": {"Key": KEY, "ProjectionExpression": "size(" * 700}},
    "no and no and no": {"DeleteItem": {"Key": KEY, "ConditionExpression": "not " * 950}},
    "a line below the partition": {"GetItem": {"Key": {"PK": "{scratch}\n", "SK": "a"}}},
    "an update a line below the partition": {"UpdateItem": {"Key": {"PK": "{scratch}\n", "SK": "a"}}},
    **COSTLY,
    "a list": [1],
    "a number": 7,
    "two operations": {"Query": QUERY, "GetItem": {"Key": KEY}},
    "too long": '{"Query": {' + " " * 4000 + "}}",
    "a fraction": '{"PutItem": {"Item": {"SK": "a", "N": 1.5}}}',
    "not a number": '{"PutItem": {"Item": {"SK": "a", "N": NaN}}}',
    "a Scan": {"Scan": {}},
    "another operation": {"DeleteTable": {"TableName": "x"}},
    "arguments that are text": {"Query": "PK = 1"},
    "arguments that are a set": {"Query": {"set": ["a"]}},
    "another table": {"Query": {**QUERY, "TableName": "other"}},
    "another table in a transaction": writes({"Put": {"TableName": "x", "Item": KEY}}),
    "another partition": {"Query": {**QUERY, "ExpressionAttributeValues": {":partition": "USER#ana"}}},
    "another visitor's partition": {"Query": {**QUERY, "ExpressionAttributeValues": {":partition": "LEARN#other#run"}}},
    "a longer partition": {"Query": {**QUERY, "ExpressionAttributeValues": {":partition": "{scratch}2"}}},
    "two partitions": {"Query": {**QUERY, "KeyConditionExpression": "PK = :partition AND PK = :q"}},
    "no partition": {"Query": {"KeyConditionExpression": "SK = :p", "ExpressionAttributeValues": {":p": "{scratch}"}}},
    "a partition by another name": {
        "Query": {
            **QUERY,
            "KeyConditionExpression": "#k = :q AND SK = :partition",
            "ExpressionAttributeNames": {"#k": "PK"},
        }
    },
    "a condition that is a number": {"Query": {**QUERY, "KeyConditionExpression": 1}},
    "a limit that is text": {"Query": {**QUERY, "Limit": "3"}},
    "the index of all members": {"Query": {**QUERY, "IndexName": "UserIndex"}},
    "a start elsewhere": {"Query": {**QUERY, "ExclusiveStartKey": {"PK": "DEALS", "SK": "a"}}},
    "an item elsewhere": {"GetItem": {"Key": {"PK": "USER#ana", "SK": "USER#ana"}}},
    "one of many elsewhere": {"BatchGetItem": {"Keys": [KEY, {"PK": "USER#ana", "SK": "x"}]}},
    "a batch without keys": {"BatchGetItem": {"RequestItems": {"other": {"Keys": []}}}},
    "keys that are no objects": {"BatchGetItem": {"Keys": ["a"]}},
    "a put elsewhere": {"PutItem": {"Item": {"PK": "DEALS", "SK": "a"}}},
    "a place elsewhere": {"PutItem": {"Item": {**KEY, "GSI1PK": "DEALS#2026-06-04T00:00:00", "GSI1SK": "x"}}},
    "a place that is a number": {"PutItem": {"Item": {**KEY, "GSI1PK": 1}}},
    "a member": {"PutItem": {"Item": {**KEY, "UserIndex": "{scratch}"}}},
    "a type of the stream": {"PutItem": {"Item": {**KEY, "Type": "Deal"}}},
    "no end": {"PutItem": {"Item": {**KEY, "ExpiresAt": 9999999999}}},
    "an item that is text": {"PutItem": {"Item": "a"}},
    "an empty set": {"PutItem": {"Item": {**KEY, "Tags": {"set": []}}}},
    "a set of sets": {"PutItem": {"Item": {**KEY, "Tags": {"set": [{"set": ["a"]}]}}}},
    "a set of lists": {"PutItem": {"Item": {**KEY, "Tags": {"set": [["a"]]}}}},
    "half a character in a set": {"PutItem": {"Item": {**KEY, "Tags": {"set": ["\ud800"]}}}},
    "a set of two types": {"PutItem": {"Item": {**KEY, "Tags": {"set": ["a", 1]}}}},
    "a null in a list": {"PutItem": {"Item": {**KEY, "Tags": [None]}}},
    "half a character": {"PutItem": {"Item": {**KEY, "Title": "\ud800"}}},
    "an update elsewhere": {"UpdateItem": {"Key": {"PK": "DEALS", "SK": "a"}, "UpdateExpression": "REMOVE A"}},
    "an update of another shard": {
        "UpdateItem": {"Key": {"PK": "{scratch}#2", "SK": "a"}, "UpdateExpression": "REMOVE A"}
    },
    "an update into an index": a_set("SET GSI1PK = :v"),
    "an update into an index, small letters": a_set("set GSI1PK = :v"),
    "an update into an index, by another name": a_set("SET #g = :v", ExpressionAttributeNames={"#g": "GSI2PK"}),
    "an update into an index by ADD": a_set("REMOVE A ADD GSI1PK :v", ExpressionAttributeValues={":v": 1}),
    "an update of the type": a_set("SET A = :v, #t = :v", ExpressionAttributeNames={"#t": "Type"}),
    "an update without end": a_set("REMOVE ExpiresAt"),
    "an update that is a list": {"UpdateItem": {"Key": KEY, "UpdateExpression": ["SET A = :v"]}},
    "names that are no texts": a_set("SET #t = :v", ExpressionAttributeNames={"#t": ["Type"]}),
    "a transaction of one text": writes("Put"),
    "a transaction of a set": writes({"Put": {"set": ["Item"]}}),
    "a transaction elsewhere": writes({"Put": {"Item": KEY}}, {"Delete": {"Key": {"PK": "DEALS", "SK": "a"}}}),
    "a key condition of old": {
        "Query": {"KeyConditions": {"PK": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "DEALS"}]}}}
    },
    "an update of old": {
        "UpdateItem": {"Key": KEY, "AttributeUpdates": {"GSI1PK": {"Value": {"S": "DEALS"}, "Action": "PUT"}}}
    },
    "an update of another shard without an expression": {"UpdateItem": {"Key": {"PK": "{scratch}#2", "SK": "a"}}},
    "the same in a transaction": writes({"Update": {"Key": {"PK": "{scratch}#2", "SK": "a"}}}),
    "a value that is not there": {"GetItem": {"Key": {"PK": "{scratch}", "SK": "{DealId}"}}},
}  # fmt: skip


def test_what_cannot_be_used_gets_one_sentence_and_nothing_is_sent(reader: Browser, table: Table) -> None:
    before, trace = table.scan()[0], Trace().attach(table)

    for name, given in UNUSABLE.items():
        typed = given if isinstance(given, str) else json.dumps(given)

        seen = reader.post("/learn/exercise-first-page", {"request": typed})

        assert (seen.status, trace.requests) == (422, []), name
        (error,) = [each for each in seen.document.iter("p") if each.get("class") == "error"]
        sentence = "".join(error.itertext())
        assert sentence.endswith((". Nothing was sent.", "}. Nothing was sent.")), name
        assert len(sentence) < 160, name
        fields = list(seen.document.iter("textarea"))
        assert "".join(fields[0].itertext()).strip() == typed.strip(), name
    trace.detach(table)
    assert table.scan()[0] == before


@pytest.mark.parametrize("exercise", exercises.by_slug().values(), ids=lambda each: str(each.slug))
@pytest.mark.parametrize("more", [None, a_set("SET A = :v, B = if_not_exists(A, :v)"), {"PutItem": {"Item": PLACES}}])
def test_a_run_takes_no_more_units_than_are_counted_before(table: Table, exercise: Exercise, more: Any) -> None:
    """Of each solution, and of writes to the items of each exercise."""
    if more and (exercise.key or not exercise.items):
        return
    trace = Trace().attach(table)
    typed = exercise.solution
    if more:
        ((operation, arguments),) = json.loads(json.dumps(more)).items()
        at = arguments.setdefault("Key" if operation == "UpdateItem" else "Item", {})
        at |= {"PK": "{scratch}", "SK": str(exercise.items[0]["SK"]).format(n=1, nn="01")}
        typed = json.dumps({operation: arguments})
    scratch = keys.scratch("visitor-0001", "cost-b")
    both = exercises.lessons_of(exercise, typed)

    exercises.run(table, exercise, both, "visitor-0001", "cost", NOW, trace)

    took = sum(each.capacity.write for each in trace.requests if each.capacity)
    trace.detach(table)
    assert took <= sum(costs.of_run(each, running.names(each, "", scratch, NOW)) for each in both)


def test_a_network_runs_as_much_as_an_hours_units_allow(
    reader: Browser, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    exercise = exercises.find("exercise-out-of-the-index")
    both = exercises.lessons_of(exercise, exercise.solution)
    units = sum(costs.of_run(each, running.names(each, "", keys.scratch("you", "run"), NOW)) for each in both)
    monkeypatch.setattr(costs, "MOST_AN_HOUR", 2 * units)
    asked = [reader.post(f"/learn/{exercise.slug}", {"request": exercise.solution}).status for _ in range(2)]
    before = table.scan()[0]

    reader.cookies.clear()  # another visitor of the same network
    refused = reader.post(f"/learn/{exercise.slug}", {"request": exercise.solution})

    assert (asked, refused.status) == ([200, 200], 429)
    assert table.scan()[0] == before


TEMPLATES = ["", "PRICE#{Cost}", "PRICE#{Price.real}", "PRICE#{Price:x}", "{", "a'b", "é", "x" * 101]


@pytest.mark.parametrize("typed", TEMPLATES)
def test_a_key_that_cannot_be_made_gets_one_sentence(reader: Browser, table: Table, typed: str) -> None:
    seen = reader.post("/learn/exercise-nine-and-ten", {"request": typed})

    assert seen.status == 422
    assert "Nothing was sent." in seen.words
    assert not [item for item in table.scan()[0] if item[PARTITION_KEY].startswith(keys.scratches())]


@pytest.mark.parametrize("typed", ["DEALS", "{scratch}2", "{Shard}", "x{scratch}"])
def test_a_partition_key_that_is_not_ones_own_is_refused(typed: str) -> None:
    with pytest.raises(Unusable, match=r"begins with \{scratch\}"):
        exercises.lesson_of(exercises.find("exercise-hot-key"), typed)


def test_a_value_in_braces_makes_no_name_of_another_partition() -> None:
    """With ``{who}`` filled in, ``:p{who}`` is another placeholder than ``:p``."""
    values = {":p": "{scratch}", ":pANA": "USER#ana", ":pBOB": "USER#ana"}
    used = " AND ".join(f"Email <> {each}" for each in values)
    query = {"KeyConditionExpression": "PK = :p{who}", "FilterExpression": used, "ExpressionAttributeValues": values}

    with pytest.raises(Unusable, match="another partition"):
        exercises.lesson_of(exercises.find("exercise-at-most-three"), json.dumps({"Query": query}))


def test_what_came_back_names_no_other_partition(reader: Browser, table: Table) -> None:
    """An attribute called ``scratch`` is no name of a partition."""
    put = {"PutItem": {"Item": {**KEY, "scratch": "DEALS"}, "ReturnValues": "ALL_OLD"}}

    reader.post("/learn/exercise-second-like", {"request": json.dumps(put)})

    assert {item["SK"] for item in table.scan()[0] if item.get("scratch")} == {"DEAL"}
    assert not [item for item in table.scan()[0] if item[PARTITION_KEY] == "DEALS" and "scratch" in item]


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        (a_set("SET A = :v", ReturnValues="UPDATED_NEW"), "A: x"),
        ({"Query": {**QUERY, "ProjectionExpression": "Title", "Limit": 1}}, "Title: Deal 1"),
        ({"Query": {**QUERY, "Select": "COUNT"}}, "No items."),
        ({"Query": {**QUERY, "Colour": "red"}}, 'Unknown parameter in input: "Colour"'),
        ({"UpdateItem": {"Key": KEY, "UpdateExpression": "SET"}}, "ValidationException"),
        ({"PutItem": {}}, 'Missing required parameter in input: "Item"'),
        (a_set("SET A = :v, REMOVE B"), "Invalid UpdateExpression: "),
        (writes({"Put": {"Item": KEY}}, {"Delete": {"Key": KEY}}), "ValidationException"),
        ({"GetItem": {"Key": {"SK": ""}}}, "ValidationException"),
        ({"GetItem": {"Key": {"SK": 7}}}, "ValidationException"),
        ({"PutItem": {"Item": {**KEY, "N": 10**40 + 1}}}, "ValidationException"),
        ({"BatchGetItem": {"Keys": [KEY, KEY]}}, "ValidationException"),
        ({"PutItem": {"Item": {**KEY, "Map": {}, "Lists": nested(30)}, "ReturnValues": "NONE"}}, '"Map": {'),
    ],
)
def test_any_other_request_is_sent_and_its_answer_shown(reader: Browser, typed: Any, shown: str) -> None:
    seen = reader.post("/learn/exercise-first-page", {"request": json.dumps(typed)})

    assert seen.status == 200
    assert shown in seen.words


def test_a_token_that_another_transaction_had_is_refused_and_shown(reader: Browser) -> None:
    """The request is sent for Ana and for Bob, with the same token."""
    put = writes({"Put": {"Item": {"SK": "{who}"}}})["TransactWriteItems"]
    typed = json.dumps({"TransactWriteItems": {**put, "ClientRequestToken": secrets.token_hex(8)}})

    seen = reader.post("/learn/exercise-at-most-three", {"request": typed})

    assert seen.status == 200
    assert "IdempotentParameterMismatchException" in seen.words


@EACH
def test_the_page_shows_the_task_then_what_was_wrong_then_the_solution(reader: Browser, exercise: Exercise) -> None:
    opened = reader.get(f"/learn/{exercise.slug}")
    assert opened.status == 200
    assert "Nothing has been sent yet." in opened.words

    failed = reader.post(f"/learn/{exercise.slug}", {"request": exercise.broken})
    assert (failed.status, "Not yet" in failed.words, "Solved" in failed.words) == (200, True, False)
    assert f"{exercise.slug}" not in reader.cookies["__Host-btd-learn"]

    solved = reader.post(f"/learn/{exercise.slug}", {"request": exercise.solution})
    assert (solved.status, "Not yet" in solved.words, "Solved" in solved.words) == (200, False, True)
    assert f"{exercise.slug}" in reader.cookies["__Host-btd-learn"]


def test_the_contents_link_each_exercise_after_its_group(reader: Browser) -> None:
    seen = reader.get("/learn")

    links = [each.get("href", "") for each in seen.document.iter("a")]
    assert [link for link in links if link.startswith("/learn/exercise-")] == [
        f"/learn/{each.slug}" for each in EXERCISES
    ]


def test_an_exercise_that_is_not_there_is_not_found(reader: Browser) -> None:
    assert reader.get("/learn/exercise-nothing").status == 404
    assert reader.post("/learn/exercise-nothing", {"request": "{}"}).status == 404


def test_an_item_that_an_update_makes_has_an_end(table: Table) -> None:
    new = {"PK": "{scratch}", "SK": "NEW"}
    update = {"UpdateItem": {**a_set("SET A = :v")["UpdateItem"], "Key": new}}

    checks(table, exercises.find("exercise-from-nothing"), json.dumps(update))

    (made,) = [item for item in table.scan()[0] if item["SK"] == "NEW"]
    assert made[TTL_ATTRIBUTE] <= int((times.now() + running.KEPT).timestamp())


def test_a_lesson_runs_on_the_table_with_its_units_and_refusals(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "open_table", lambda: table)

    found = commands.run_lesson("uniqueness")

    assert [(each["version"], each["refused"], each["returned"]) for each in found["requests"]] == [
        ("here", "TransactionCanceledException", 0), ("here", "", 2),
    ]  # fmt: skip
    assert found["requests"][1]["units"] == "0.5 RRU"
    assert "uniqueness" in commands.run_lesson("nothing")["lessons"]
