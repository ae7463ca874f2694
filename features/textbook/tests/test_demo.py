"""The textbook in the demo: lessons and exercises come to what they say by the engine of the tab."""

from __future__ import annotations

import json
from typing import Any

import pytest

from features.scratch import running
from features.scratch.steps import Step
from features.textbook import exercises, lessons
from features.textbook.tests.test_lessons import _wrong, marks
from shared.data import keys
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from shared.values import times
from tests.demo.test_site import corrected  # noqa: F401  # a fixture


@pytest.mark.parametrize("lesson", [each for each in lessons.by_slug().values() if each.can_run and not each.live])
def test_each_lesson_comes_to_what_it_says(corrected: Table, lesson: Any) -> None:
    value = lesson.value.default if lesson.value else ""

    made = running.run(corrected, lesson, value, "visitor-0001", "run", times.now(), Trace())

    assert (_wrong(made.common), _wrong(made.ours)) == ([], [])


def test_each_exercise_is_solved_by_its_solution_alone(corrected: Table) -> None:
    found = {slug: marks(corrected, each) for slug, each in exercises.by_slug().items()}

    assert found == {slug: [False, True, False] for slug in exercises.by_slug()}


ITEM = {"PK": "{scratch}", "SK": "a"}


UNREADABLE: Any = {
    "a function that is none": {"PutItem": {"Item": ITEM, "ConditionExpression": "not_exists(PK)"}},
    "half a condition": {"PutItem": {"Item": ITEM, "ConditionExpression": "PK ="}},
    "half an update": {"UpdateItem": {"Key": ITEM, "UpdateExpression": "SET"}},
    "an update that is none": {"UpdateItem": {"Key": ITEM, "UpdateExpression": "Likes + 1"}},
    "a value that is not given": {"UpdateItem": {"Key": ITEM, "UpdateExpression": "SET A = :b"}},
    "a sum of a text": {
        "UpdateItem": {"Key": ITEM, "UpdateExpression": "SET A = SK + :b", "ExpressionAttributeValues": {":b": 1}}
    },
    "an empty key": {"GetItem": {"Key": {"SK": ""}}},
    "no sort key": {"PutItem": {"Item": {"PK": "{scratch}"}}},
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_request_that_cannot_be_read_is_refused(corrected: Table, name: str) -> None:
    operation, arguments = exercises.request_of(json.dumps(UNREADABLE[name]), {})
    given = running.names(lessons.find("hierarchy"), "", keys.scratch("visitor-0001", "run"), times.now())

    reply = running.ask(corrected, operation, running.arguments_of(Step(operation, arguments), given))

    assert reply.code == "ValidationException"
