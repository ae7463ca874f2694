"""Each exercise: as it is given it fails its check, its solution passes, and another wrong answer fails, too."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shared.data import keys
from shared.dynamodb.schema import PARTITION_KEY, TTL_ATTRIBUTE
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from shared.learn import exercises, lessons, running
from shared.learn.exercises import Exercise, Unusable
from shared.values import times
from tests.learn.test_lessons import PARTITION_KEYS
from tests.support.browsing import Browser
from tests.support.engines import MINISTACK

ALL = [*exercises.by_slug().values()]
EACH = pytest.mark.parametrize("exercise", ALL, ids=lambda exercise: exercise.slug)


def checks(table: Table, exercise: Exercise, text: str, run_id: str = "run") -> list[exercises.Found]:
    trace = Trace().attach(table)
    lesson = exercises.lesson_of(exercise, text)
    try:
        return exercises.run(table, exercise, lesson, "visitor-0001", run_id, times.now(), trace)[1]
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


@pytest.mark.thorough
def test_the_solution_alone_passes_on_the_local_cloud() -> None:
    with MINISTACK.table() as table:
        assert {exercise.slug: marks(table, exercise) for exercise in ALL} == {
            exercise.slug: [False, True, False] for exercise in ALL
        }


def test_there_are_fourteen_and_they_follow_groups_of_lessons() -> None:
    assert len(ALL) >= 14
    assert {*exercises.of_groups()} <= {group.slug for group in lessons.groups()}
    assert {exercise.slug for exercise in ALL} & lessons.by_slug().keys() == set()


@EACH
def test_an_exercise_has_two_hints_a_reason_and_something_to_check(exercise: Exercise) -> None:
    assert len(exercise.hints) == 2
    assert exercise.because.endswith(".")
    assert exercise.check.finds or exercise.check.left
    assert len({exercise.broken, exercise.wrong, exercise.solution}) == 3


def test_the_page_with_a_filter_takes_32_units_and_the_solution_3(table: Table) -> None:
    exercise = exercises.find("exercise-from-32-units-to-3")

    took = [
        checks(table, exercise, text, text[-9:-4])[-1].came
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


UNUSABLE: dict[str, Any] = {
    "nothing": "",
    "no JSON": "Query(PK = 1)",
    "deep JSON": "[" * 3999,
    "a list": [1],
    "a number": 7,
    "two operations": {"Query": QUERY, "GetItem": {"Key": KEY}},
    "too long": '{"Query": {}}' + " " * 4000,
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
    "an update into an index by ADD": a_set("REMOVE A ADD GSI1PK :v"),
    "an update of the type": a_set("SET A = :v, #t = :v", ExpressionAttributeNames={"#t": "Type"}),
    "an update without end": a_set("REMOVE ExpiresAt"),
    "a comma that the local cloud lets pass": a_set("SET A = :v, REMOVE B"),
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


KEYS = ["", "PRICE#{Cost}", "PRICE#{Price.real}", "PRICE#{Price:x}", "{", "a'b", "é", "x" * 101]


@pytest.mark.parametrize("typed", KEYS)
def test_a_key_that_cannot_be_made_gets_one_sentence(reader: Browser, table: Table, typed: str) -> None:
    seen = reader.post("/learn/exercise-nine-and-ten", {"request": typed})

    assert seen.status == 422
    assert "Nothing was sent." in seen.words
    assert not [item for item in table.scan()[0] if item[PARTITION_KEY].startswith(keys.scratches())]


@pytest.mark.parametrize("typed", ["DEALS", "{scratch}2", "{Shard}", "x{scratch}"])
def test_a_partition_key_that_is_not_ones_own_is_refused(typed: str) -> None:
    with pytest.raises(Unusable, match=r"begins with \{scratch\}"):
        exercises.lesson_of(exercises.find("exercise-hot-key"), typed)


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
        (writes({"Put": {"Item": KEY}}, {"Delete": {"Key": KEY}}), "ValidationException"),
        ({"GetItem": {"Key": {"SK": ""}}}, "ValidationException"),
        ({"GetItem": {"Key": {"SK": 7}}}, "ValidationException"),
        ({"PutItem": {"Item": {**KEY, "N": 10**40 + 1}}}, "ValidationException"),
        ({"BatchGetItem": {"Keys": [KEY, KEY]}}, "ValidationException"),
    ],
)
def test_any_other_request_is_sent_and_its_answer_shown(reader: Browser, typed: Any, shown: str) -> None:
    seen = reader.post("/learn/exercise-first-page", {"request": json.dumps(typed)})

    assert seen.status == 200
    assert shown in seen.words


@EACH
def test_the_page_shows_the_task_then_what_was_wrong_then_the_solution(reader: Browser, exercise: Exercise) -> None:
    opened = reader.get(f"/learn/{exercise.slug}")
    assert opened.status == 200
    assert "Nothing was sent yet." in opened.words

    failed = reader.post(f"/learn/{exercise.slug}", {"request": exercise.broken})
    assert (failed.status, "Not yet" in failed.words, "Solved" in failed.words) == (200, True, False)
    assert f"{exercise.slug}" not in reader.cookies["__Host-btd-learn"]

    solved = reader.post(f"/learn/{exercise.slug}", {"request": exercise.solution})
    assert (solved.status, "Not yet" in solved.words, "Solved" in solved.words) == (200, False, True)
    assert f"{exercise.slug}" in reader.cookies["__Host-btd-learn"]


def test_the_contents_link_each_exercise_after_its_group(reader: Browser) -> None:
    seen = reader.get("/learn")

    links = [each.get("href", "") for each in seen.document.iter("a")]
    assert [link for link in links if link.startswith("/learn/exercise-")] == [f"/learn/{each.slug}" for each in ALL]


def test_an_exercise_that_is_not_there_is_not_found(reader: Browser) -> None:
    assert reader.get("/learn/exercise-nothing").status == 404
    assert reader.post("/learn/exercise-nothing", {"request": "{}"}).status == 404


def test_an_item_that_an_update_makes_has_an_end(table: Table) -> None:
    new = {"PK": "{scratch}", "SK": "NEW"}
    update = {"UpdateItem": {**a_set("SET A = :v")["UpdateItem"], "Key": new}}

    checks(table, exercises.find("exercise-from-nothing"), json.dumps(update))

    (made,) = [item for item in table.scan()[0] if item["SK"] == "NEW"]
    assert made[TTL_ATTRIBUTE] <= int((times.now() + running.KEPT).timestamp())
