"""The textbook's lessons as documents, of the same descriptions as the pages of the site below ``/learn``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from shared.data import keys
from shared.learn import lessons, running
from shared.learn.lessons import Group, Lesson, Step

CONTENTS = "docs/learn.md"

SHOWN = datetime(2026, 6, 4, tzinfo=UTC)
"""The day that requests for a day name."""

_INTRODUCTION = """# The textbook that runs

Single-table design, one strategy a page. On a stage that shows its work these pages are below `/learn`, where their
requests are sent to the table of the site (`make run`, then `http://bigtimedeals.localhost:4566/learn`). Each page that
runs links to itself in the [demo](demo.md), which sends the same requests to a table in your browser.
"""


def documents() -> Iterator[tuple[str, str]]:
    """The path that each document would have in the repository, and its text."""
    yield CONTENTS, _contents()
    for group in lessons.groups():
        for lesson in (each for each in group.lessons if not each.runs):
            yield f"docs/learn-{lesson.slug}.md", "\n\n".join(_parts(lesson, group.name)) + "\n"


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
    listed = "\n".join(f"- {f'{each.number}. ' if each.number else ''}{_link(each)}" for each in group.lessons)
    return f"## {group.name}\n\n{group.about}.\n\n{listed}\n"


def _link(lesson: Lesson) -> str:
    return f"[{lesson.title}](learn-{lesson.page}.md)"


def _parts(lesson: Lesson, group: str) -> Iterator[str]:
    yield f"# {f'{lesson.number}. ' if lesson.number else ''}{lesson.title}"
    yield f"[Learn](learn.md): {group}"
    if lesson.can_run or lesson.figure:
        yield f'<a href="demo/#/learn/{lesson.slug}">Run it here</a>, in this browser: nothing is installed.'
    yield f"**The question.** {lesson.question}"
    yield from lesson.paragraphs
    if lesson.points:
        yield "\n".join(
            f"- **{name}.** {text}{f' [Source]({source})' if source else ''}" for name, text, source in lesson.points
        )
    if lesson.often:
        yield f"**Often seen:** {lesson.often}"
        yield from _requests(lesson, lesson.common)
    if lesson.here or lesson.common:
        yield f"**Here:** {lesson.here}"
    yield from _requests(lesson, lesson.ours)
    if lesson.code:
        yield "The code: " + ", ".join(f"[`{each.shown}`](../{each.path}#L{each.line})" for each in lesson.code)


def _requests(lesson: Lesson, steps: Sequence[Step]) -> Iterator[str]:
    value = lesson.value.default if lesson.value else ""
    given = running.names(lesson, value, keys.scratch("you", "run"), SHOWN)
    for step in steps:
        yield f"```python\n{running.as_sent(step, running.arguments_of(step, given))}{_came(step)}\n```"


def _came(step: Step) -> str:
    if step.refused:
        return f"  # refused: {step.refused}"
    if step.finds is None:
        return ""
    read = f", {step.examined} read" if step.examined and step.examined != step.finds else ""
    return f"  # {step.finds} {'item' if step.finds == 1 else 'items'}{read}"
