"""The textbook that runs: a page for each strategy and each access pattern, whose requests a visitor sends.

Only stages that show their work have this function. It knows nobody: a cookie remembers what was read and names the
scratch partitions, and of what is live only the catalog is read.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any

from shared.data import keys
from shared.dynamodb.schema import INDEXES
from shared.html import forms, item_collection, page_cost, pages
from shared.html.app import Routes, serve
from shared.html.pages import Answer
from shared.html.request import Request
from shared.http import cookie_header
from shared.learn import lessons, running
from shared.learn.lessons import Lesson
from shared.learn.running import Done
from shared.runtime.environment import table

MOST = 10
"""Items that are drawn of each answer."""

COOKIE = "btd-learn"
A_YEAR = 31_536_000
_VISITOR = re.compile("[A-Za-z0-9_-]{12}")

routes = Routes()


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads: a name of no meaning, and the lessons that were opened."""

    visitor: str
    read: frozenset[str]

    def cookie(self) -> str:
        """The value of ``Set-Cookie`` that remembers both for a year."""
        remembered = ".".join([self.visitor, *sorted(self.read)])
        return f"{cookie_header.name(COOKIE)}={remembered}; {cookie_header.attributes()}; HttpOnly; Max-Age={A_YEAR}"


@routes.get("/learn")
def contents(request: Request) -> Answer:
    """All lessons by group, and the path through them in an hour."""
    reader, path = _reader(request), lessons.path()
    return pages.page(
        "learn/contents.html",
        here=request.path,
        path=path,
        minutes=sum(lesson.minutes for lesson in path),
        onward=next((lesson for lesson in path if lesson.slug not in reader.read), None),
        groups=lessons.groups(),
        read=sorted(reader.read),
    )


@routes.get("/learn/<slug>")
def lesson(request: Request, slug: str) -> Answer:
    """One lesson; with a value in the query, what a live one reads of it."""
    found = lessons.find(slug)
    asked = request.query.get("value")
    return _lesson(request, found, asked, runs=found.live and asked is not None)


@routes.post("/learn/<slug>")
def run(request: Request, slug: str) -> Answer:
    """Run a lesson's requests in a new scratch partition, and show their results."""
    found = lessons.find(slug)
    return _lesson(request, found, forms.read(request.event).get("value"), runs=found.can_run)


def _lesson(request: Request, found: Lesson, asked: str | None, *, runs: bool) -> Answer:
    reader = _reader(request)
    if request.opens_page:
        reader = Reader(reader.visitor, reader.read | {found.slug})
    value = asked.strip() if asked is not None else found.value.default if found.value else ""
    wrong = found.value.wrong(value) if found.value else None
    came = None
    if runs and not wrong:
        run_id = secrets.token_hex(4)
        came = running.run(table(), found, value, reader.visitor, run_id, request.now, page_cost.trace())
    place = keys.scratch("you", "run")
    given = running.names(found, found.value.default if wrong and found.value else value, place, request.now)
    group = next(each for each in lessons.groups() if each.slug == found.group)
    of_group = [each.slug for each in group.lessons]
    path = lessons.path()
    following = path[path.index(found) + 1 :] if found in path else group.lessons[of_group.index(found.slug) + 1 :]
    return pages.page(
        "learn/lesson.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if wrong else HTTPStatus.OK,
        here=request.path,
        cookies=(reader.cookie(),),
        lesson=found,
        paragraphs=[_prose(text) for text in found.paragraphs],
        often=_prose(found.often),
        ours=_prose(found.here),
        points=[(name, _prose(text), source) for name, text, source in found.points],
        group=group,
        place=of_group.index(found.slug) + 1,
        value=value,
        wrong=wrong,
        requests=[*dict.fromkeys(running.as_sent(step, running.arguments_of(step, given)) for step in found.ours)],
        came_common=[_done(done, request.now) for done in (came.common if came else ())],
        came_ours=[_done(done, request.now) for done in (came.ours if came else ())],
        strategy=lessons.find(found.runs) if found.runs else None,
        code=[
            {"name": each.shown, "link": f"/table/code/{each.module}", "line": f"l{each.line}"} for each in found.code
        ],
        onward=next(iter(following), None),
    )


def _reader(request: Request) -> Reader:
    """Who the cookie says reads; somebody new where it says nothing that can be used."""
    own = cookie_header.name(COOKIE)
    visitor, *read = next((value for name, value in cookie_header.brought(request.event) if name == own), "").split(".")
    if not _VISITOR.fullmatch(visitor):
        return Reader(secrets.token_urlsafe(9), frozenset())
    return Reader(visitor, frozenset(read) & lessons.by_slug().keys())


def _prose(text: str) -> list[tuple[bool, str]]:
    """A text in parts: whether each is code, which the description sets in backquotes."""
    return [(number % 2 == 1, part) for number, part in enumerate(text.split("`")) if part]


def _done(done: Done, now: datetime) -> dict[str, Any]:
    """A request that was made, for the page: what it was, what it took, and what came back as a collection."""
    reply, took = done.reply, done.took
    capacity = took.capacity if took else None
    index = next((each for each in INDEXES if each.name == done.arguments.get("IndexName")), None)
    return {
        "operation": done.step.operation,
        "index": index.name if index else "",
        "sent": running.as_sent(done.step, done.arguments),
        "capacity": str(capacity) if capacity else "",
        "cost": page_cost.million(capacity) if capacity else "",
        "ms": f"{took.seconds * 1000:.1f}" if took else "",
        "code": reply.code,
        "unrefused": done.step.refused if not reply.code else None,
        "message": reply.message,
        "reads": done.step.operation in {"Query", "GetItem", "BatchGetItem"},
        "found": len(reply.items),
        "filtered": reply.examined - len(reply.items),
        "more": reply.more,
        "drawn": item_collection.drawn(reply.items[:MOST], now, index=index) if reply.items else None,
    }


handler = serve(routes, guards=[forms.ours_only])
