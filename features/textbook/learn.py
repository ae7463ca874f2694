"""The interactive textbook: a page for each strategy and access pattern, whose requests a visitor can run.

Only stages that show their work have this function. It has no accounts: a cookie remembers the lessons done and names
the scratch partitions. Of live data it reads only the catalog.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from http import HTTPStatus
from itertools import zip_longest
from typing import Any

from features.scratch import costs, drawing, running
from features.scratch.running import Done
from features.textbook import exercises, figures, lessons
from features.textbook.exercises import Exercise
from features.textbook.lessons import Lesson
from features.workings import drawings, page_cost
from shared.data import keys
from shared.dynamodb.schema import INDEXES, PARTITION_KEY, SORT_KEY
from shared.html import forms, pages
from shared.html.pages import Answer, Request, Routes, serve
from shared.http import requests
from shared.runtime.environment import table

Prose = list[tuple[str, str]]
"""A text in parts, each with its kind: nothing, ``code``, or a term of the glossary."""

MOST = 10
"""Items of an answer that are drawn."""

COOKIE = "btd-learn"
A_YEAR = 31_536_000
_VISITOR = re.compile("[A-Za-z0-9_-]{12}")

routes = Routes()


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader: a random name, and the lessons that were run or answered."""

    visitor: str
    done: frozenset[str]

    def cookie(self) -> str:
        """The ``Set-Cookie`` value that remembers both for a year."""
        remembered = ".".join([self.visitor, *sorted(self.done)])
        return f"{requests.name(COOKIE)}={remembered}; {requests.attributes()}; HttpOnly; Max-Age={A_YEAR}"


@routes.get("/learn")
def contents(request: Request) -> Answer:
    """All lessons by group, and the one-hour path through them."""
    reader, path = _reader(request), lessons.path()
    return pages.page(
        "textbook/templates/contents.html",
        here=request.path,
        path=path,
        minutes=sum(lesson.minutes for lesson in path),
        onward=next((lesson for lesson in path if lesson.slug not in reader.done), None),
        basics=lessons.groups()[0],
        groups=lessons.groups()[1:],
        titles={lesson.slug: lesson.title for lesson in lessons.by_slug().values()},
        exercises=exercises.of_groups(),
        done=sorted(reader.done),
    )


@routes.get("/learn/<slug>")
def lesson(request: Request, slug: str) -> Answer:
    """A lesson (a live one with a value from the query), or an exercise.

    Some patterns are on a strategy's page.
    """
    if slug in lessons.moved():
        return pages.redirect(f"/learn/{lessons.moved()[slug]}")
    if slug.startswith(exercises.PREFIX):
        return _exercise(request, exercises.find(slug), None)
    found = lessons.find(slug)
    asked = request.query.get("value")
    return _lesson(request, found, asked, runs=found.live and asked is not None)


@routes.post("/learn/<slug>")
def run(request: Request, slug: str) -> Answer:
    """Run a lesson's requests in a new scratch partition and show the results, or answer its question.

    For an exercise, run and check the typed request or key.
    """
    if slug.startswith(exercises.PREFIX):
        return _exercise(request, exercises.find(slug), forms.read(request.event).get("request", ""))
    found, fields = lessons.find(slug), forms.read(request.event)
    answer = _answer(found, fields.get("answer", ""))
    runs = found.can_run and (answer is None or "run" in fields)
    return _lesson(request, found, fields.get("value"), runs=runs, answer=answer)


def _answer(found: Lesson, text: str) -> int | None:
    """The number of an answer to a lesson's question; None for any other text."""
    numbers = [str(number) for number, _ in enumerate(found.predict.answers)] if found.predict else []
    return numbers.index(text) if text in numbers else None


def _lesson(request: Request, found: Lesson, asked: str | None, *, runs: bool, answer: int | None = None) -> Answer:
    reader = _reader(request)
    value = asked.strip() if asked is not None else found.value.default if found.value else ""
    wrong = found.value.wrong(value) if found.value else None
    came = None
    if runs and not wrong:
        run_id = secrets.token_hex(4)
        _spend(request, found, value)
        came = running.run(table(), found, value, reader.visitor, run_id, request.now, page_cost.trace())
    if came or answer is not None:
        reader = Reader(reader.visitor, reader.done | {found.slug})
    place = keys.scratch("you", "run")
    given = running.names(found, found.value.default if wrong and found.value else value, place, request.now)
    group = next(each for each in lessons.groups() if each.slug == found.group)
    path = lessons.path()
    around = path if found in path else [each for each in group.lessons if not each.runs]
    at = around.index(found)
    versions = _versions(found, given, came, request.now)
    paragraphs = [_prose(text) for text in found.paragraphs]
    points = [(name, _prose(text), source) for name, text, source in found.points]
    often, ours = _prose(found.often), _prose(found.here)
    predict = found.predict
    explained = [*dict.fromkeys((answer, predict.right))] if predict and answer is not None else []
    because = [_prose(predict.answers[each][1]) for each in explained] if predict else []
    return pages.page(
        "textbook/templates/lesson.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if wrong else HTTPStatus.OK,
        here=request.path,
        cookies=(reader.cookie(),),
        lesson=found,
        paragraphs=paragraphs,
        terms=_terms([*paragraphs, *(text for _, text, _ in points), often, ours, *because]),
        answers=[_prose(text) for text, _ in predict.answers] if predict else [],
        ask=_prose(predict.ask) if predict else None,
        because=because,
        answer=answer,
        often=often,
        ours=ours,
        points=points,
        group=group,
        on_path=found in path,
        around=around,
        place=at + 1,
        value=value,
        wrong=wrong,
        scratch=place,
        figure=_figure(request, found, given, came=came is not None),
        partitions=drawing.partitions(found, given, came),
        versions=versions,
        came=came is not None,
        code=[
            {"name": each.shown, "link": f"/table/code/{each.module}", "line": f"l{each.line}"} for each in found.code
        ],
        earlier=around[at - 1] if at else None,
        onward=next(iter(around[at + 1 :]), path[0] if group.slug == "basics" else None),
    )


def _spend(request: Request, found: Lesson, value: str) -> None:
    """Count the most that a run may write for the networks of the request. Raises SlowDown."""
    if units := costs.of_run(found, running.names(found, value, keys.scratch("you", "run"), request.now)):
        costs.spend(table(), requests.address(request.event), units, request.now, page_cost.trace())


def _figure(request: Request, found: Lesson, given: running.Given, *, came: bool) -> Mapping[str, Any] | None:
    """The values of a lesson's figure, with what a table of its own (``TEXTBOOK_TABLE``) ``answered`` to a run."""
    if not found.figure:
        return None
    drawn, own = figures.FIGURES[found.figure](request.query, found, given), os.environ.get("TEXTBOOK_TABLE")
    if not came or not own or found.figure != "multi":
        return drawn
    return {**drawn, "answered": figures.of_its_own_table(replace(table(), name=own), drawn, page_cost.trace())}


def _exercise(request: Request, found: Exercise, sent: str | None) -> Answer:
    reader = _reader(request)
    text = found.broken if sent is None else sent.replace("\r\n", "\n").strip()
    place, wrong, came = keys.scratch("you", "run"), None, None
    checked: list[exercises.Found] = []
    typed = [exercises.lesson_of(found, found.broken)]
    try:
        typed = exercises.lessons_of(found, text)
    except exercises.Unusable as error:
        wrong = str(error)
    if sent is not None and not wrong:
        run_id = secrets.token_hex(4)
        for each in typed:
            _spend(request, each, "")
        came, checked = exercises.run(table(), found, typed, reader.visitor, run_id, request.now, page_cost.trace())
    solved = bool(checked) and all(each.right for each in checked)
    if solved:
        reader = Reader(reader.visitor, reader.done | {found.slug})
    given = running.names(typed[0], "", place, request.now)
    paragraphs = [_prose(part) for part in found.paragraphs]
    hints, because = [_prose(hint) for hint in found.hints], _prose(found.because)
    around = [*exercises.by_slug().values()]
    at = around.index(found)
    return pages.page(
        "textbook/templates/exercise.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if wrong else HTTPStatus.OK,
        here=request.path,
        cookies=(reader.cookie(),),
        exercise=found,
        group=next(each for each in lessons.groups() if each.slug == found.group),
        terms=_terms([*paragraphs, *hints, because]),
        paragraphs=paragraphs,
        hints=hints,
        because=because,
        text=text,
        longest=exercises.LONGEST,
        wrong=wrong,
        checked=checked,
        solved=solved,
        scratch=place,
        partitions=drawing.partitions(typed[0], given, came),
        versions=_versions(typed[0], given, came, request.now),
        came=came is not None,
        around=around,
        place=at + 1,
        earlier=around[at - 1] if at else None,
        onward=next(iter(around[at + 1 :]), None),
    )


def _versions(found: Lesson, given: running.Given, came: running.Run | None, now: datetime) -> list[dict[str, Any]]:
    """Both versions side by side: each request's lines, with differences marked, and its result.

    After a run, they show the requests as sent, with the run's partition.
    """
    made = (came.common, came.ours) if came else ((), ())
    shown, alike = [], []
    for steps, done_of in zip((found.common, found.ours), made, strict=True):
        own = done_of[0].scratch if done_of else str(given["scratch"])
        sent = [running.as_sent(done.step, done.arguments) for done in done_of]
        text = "\n\n".join(sent or [running.as_sent(step, running.arguments_of(step, given)) for step in steps])
        shown.append(text.split("\n"))
        alike.append(text.replace(own, str(given["scratch"])))  # each version has its own partition
    differing = drawing.differing(alike[0], alike[1])
    missing = [differs for lines in differing for differs, _ in lines]
    marks = bool(found.common) and 2 * sum(missing) <= len(missing)  # if most lines differ, marks don't help
    return [
        {
            "name": name,
            "requests": [
                ([(differs and marks, line) for differs, line in request], done and _done(done, now))
                for request, done in zip_longest(_requests(each, lines), done_of)
            ],
        }
        for name, each, lines, done_of, steps in zip(
            ("often", "here"), differing, shown, made, (found.common, found.ours), strict=True
        )
        if steps
    ]


def _requests(compared: Sequence[tuple[bool, str]], lines: Sequence[str]) -> list[list[tuple[bool, str]]]:
    """Split lines into requests at empty lines."""
    requests: list[list[tuple[bool, str]]] = [[]]
    for (differs, _), line in zip(compared, lines, strict=True):
        if line:
            requests[-1].append((differs, line))
        else:
            requests.append([])
    return requests


def _reader(request: Request) -> Reader:
    """The reader in the cookie, or a new one."""
    own = requests.name(COOKIE)
    visitor, *done = next((value for name, value in requests.brought(request.event) if name == own), "").split(".")
    if not _VISITOR.fullmatch(visitor):
        return Reader(secrets.token_urlsafe(9), frozenset())
    return Reader(visitor, frozenset(done) & (lessons.by_slug().keys() | exercises.by_slug().keys()))


def _prose(text: str) -> Prose:
    """Split a text into parts of a kind. Backquotes mark code, and double brackets terms of the glossary."""
    parts = [
        part
        for number, each in enumerate(text.split("`"))
        for part in ([("code", each)] if number % 2 else lessons.terms_in(each))
    ]
    return [(kind, part) for kind, part in parts if part]


def _terms(texts: Sequence[Prose]) -> dict[str, str]:
    """The terms of the glossary in texts, with their sentences."""
    names = [kind for text in texts for kind, _ in text if kind not in ("", "code")]
    return {name: lessons.glossary()[name] for name in names}


def _done(done: Done, now: datetime) -> dict[str, Any]:
    """A request for the page: its description, its cost, and its answer as a collection."""
    reply, took = done.reply, done.took
    capacity = took.capacity if took else None
    index = next((each for each in INDEXES if each.name == done.arguments.get("IndexName")), None)
    shown = reply.items[:MOST]
    whole = bool(shown) and all(PARTITION_KEY in item and SORT_KEY in item for item in shown)
    return {
        "operation": done.step.operation,
        "index": index.name if index else "",
        "capacity": str(capacity) if capacity else "",
        "cost": page_cost.million(capacity) if capacity else "",
        "ms": f"{took.seconds * 1000:.1f}" if took else "",
        "code": reply.code,
        "message": reply.message,
        "reads": done.step.operation in running.READS,
        "found": len(reply.items),
        "filtered": reply.examined - len(reply.items),
        "more": reply.more,
        "drawn": drawings.drawn(shown, now, index=index) if whole else None,
        "parts": [] if whole else [drawing.text_of(item) for item in shown],
    }


handler = serve(routes, guards=[forms.ours_only])
