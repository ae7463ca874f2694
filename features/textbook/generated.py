"""The lessons and exercises as pages of the documents' site, made of the same descriptions as those below ``/learn``.

Their answers are recorded as the documents are built, by sending the requests to an engine with the laptop's sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from features.scratch import drawing, running
from features.scratch.running import Done
from features.textbook import exercises, lessons
from features.textbook.exercises import Exercise
from features.textbook.lessons import Group, Lesson, unmarked
from local import sample
from shared.data import keys
from shared.data.members import users
from shared.dynamodb.schema import PARTITION_KEY, SORT_KEY, TTL_ATTRIBUTE
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from shared.models.members import User
from shared.values import times
from tests.support.engines import FAST_SERVER

CONTENTS = "docs/learn.md"
MENU = {"Learn": CONTENTS}

MOST = 5
"""Items of an answer that are shown."""

_INTRODUCTION = """# The textbook that runs

Single-table design, one strategy per page. A stage that shows its work has these pages below `/learn`, where
their requests are sent to the table of the site (`make run`, then `http://bigtimedeals.localhost:4566/learn`).
Each page that runs links to itself in the [demo](demo.md), which sends the same requests to a table in your
browser.
"""


def pages() -> Iterator[tuple[str, str]]:
    """The path that each document would have in the repository, and its text."""
    yield CONTENTS, _contents()
    with _table() as table:
        now, trace = times.now(), Trace().attach(table)
        for group in lessons.groups():
            for number, lesson in enumerate(each for each in group.lessons if not each.runs):
                value, run_id = lesson.value.default if lesson.value else "", f"{group.slug[:3]}{number}"
                made = running.run(table, lesson, value, "you", run_id, now, trace)
                yield f"docs/learn-{lesson.slug}.md", "\n\n".join(_parts(lesson, group.name, made, now)) + "\n"
            for exercise in exercises.of_groups().get(group.slug, ()):
                yield f"docs/learn-{exercise.slug}.md", "\n\n".join(_of_exercise(exercise, group.name)) + "\n"


@contextmanager
def _table() -> Iterator[Table]:
    """A table of an engine's with the sample, as ``make run`` leaves it."""
    now = times.now()
    with FAST_SERVER.table() as table:
        users.create(table, User("member", "member@example.com", "Member", "none", "member", now))
        sample.plant(table, now, "member")
        yield table


def _contents() -> str:
    path, (basics, *groups) = lessons.path(), lessons.groups()
    parts = [
        _INTRODUCTION,
        _listed(basics),
        f"## In an hour\n\nThese {len(path)} pages take {sum(each.minutes for each in path)} minutes.\n",
    ]
    parts += ["\n".join(f"1. {_link(each)}" for each in path) + "\n"]
    return "\n".join([*parts, *map(_listed, groups)])


def _listed(group: Group) -> str:
    listed = [f"- {f'{each.number}. ' if each.number else ''}{_link(each)}" for each in group.lessons]
    listed += [
        f"- Exercise: [{each.title}](learn-{each.slug}.md)" for each in exercises.of_groups().get(group.slug, ())
    ]
    return "\n".join([f"## {group.name}\n\n{group.about}.\n", *listed, ""])


def _link(lesson: Lesson) -> str:
    return f"[{lesson.title}](learn-{lesson.page}.md)"


def _parts(lesson: Lesson, group: str, made: running.Run, now: datetime) -> Iterator[str]:
    yield f"# {f'{lesson.number}. ' if lesson.number else ''}{lesson.title}"
    yield f"[Learn](learn.md): {group}"
    if lesson.can_run or lesson.figure:
        yield f'<a href="demo/#/learn/{lesson.slug}">Run it here</a>, in this browser. You install nothing.'
    if lesson.can_run:
        yield (
            f"The answers on this page were recorded when it was built, on {now:%d %B %Y}, from {FAST_SERVER.name}, an "
            "engine of this project's tests. `LEARN#you#run` stands for the partition of the run."
        )
    yield f"**The question.** {lesson.question}"
    yield from map(unmarked, lesson.paragraphs)
    if lesson.points:
        yield "\n".join(
            f"- **{name}.** {unmarked(text)}{f' [Source]({source})' if source else ''}"
            for name, text, source in lesson.points
        )
    if lesson.often:
        yield f"**Often seen:** {unmarked(lesson.often)}"
        yield from map(_request, made.common)
    if lesson.here or lesson.common:
        yield f"**Here:** {unmarked(lesson.here)}"
    yield from map(_request, made.ours)
    if lesson.code:
        yield "The code: " + ", ".join(f"[`{each.shown}`](../{each.path}#L{each.line})" for each in lesson.code)


def _request(done: Done) -> str:
    """A request as it was sent, and what came of it, with a name that says whose the scratch partition is."""
    reply, capacity = done.reply, done.took.capacity if done.took else None
    units = f", {capacity}" if capacity and capacity.dollars else ""
    if reply.code:
        came = f"Refused{units}: `{reply.code}`, {' '.join(reply.message.split()).rstrip('.')}."
    elif done.step.operation in running.READS:
        examined = f", {reply.examined} read" if reply.examined > len(reply.items) else ""
        came = f"{len(reply.items)} {'item' if len(reply.items) == 1 else 'items'}{examined}{units}."
    else:
        came = f"Written{units}."
    lines = [_line(item) for item in reply.items[:MOST]]
    more = [f"… {len(reply.items) - MOST} more"] if len(reply.items) > MOST else []
    answer = "\n".join(["", "```text", *lines, *more, "```"]) if lines else ""
    text = f"```python\n{running.as_sent(done.step, done.arguments)}\n```\n\n{came}\n{answer}"
    return text.replace(done.scratch, keys.scratch("you", "run")).rstrip()


def _line(item: Mapping[str, Any]) -> str:
    names = sorted(item.keys() - {PARTITION_KEY, TTL_ATTRIBUTE}, key=lambda name: (name != SORT_KEY, name))
    return " · ".join(f"{name} {drawing.text_of(item[name])}" for name in names)


def _of_exercise(exercise: Exercise, group: str) -> Iterator[str]:
    """An exercise, its hints and its solution folded."""
    yield f"# Exercise: {exercise.title}"
    yield f"[Learn](learn.md): {group}"
    yield f'<a href="demo/#/learn/{exercise.slug}">Solve it here</a>, in this browser. You install nothing.'
    yield from map(unmarked, exercise.paragraphs)
    yield f"{f'The `{exercise.key}` of each item' if exercise.key else 'The request'}:"
    yield f"```json\n{exercise.broken}\n```"
    for name, text in (("A hint", exercise.hints[0]), ("Another hint", exercise.hints[1])):
        yield f'<details markdown="1"><summary>{name}</summary>\n\n{unmarked(text)}\n\n</details>'
    solution = f"```json\n{exercise.solution}\n```\n\n{unmarked(exercise.because)}"
    yield f'<details markdown="1"><summary>The solution</summary>\n\n{solution}\n\n</details>'
