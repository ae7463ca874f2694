"""The textbook's tool for assistants."""

from __future__ import annotations

import secrets
from typing import Any

from cli.commands import open_table
from features.scratch import running
from features.textbook import lessons
from shared.dynamodb.tracing import Trace
from shared.values import times


def run_lesson(lesson: str) -> dict[str, Any]:
    """Run a lesson of the textbook on the table that ``btd`` uses: its requests, and what each took and returned.

    Without such a lesson, the names of all that run.
    """
    known = {slug: each for slug, each in lessons.by_slug().items() if each.can_run}
    if lesson not in known:
        return {"lessons": {slug: each.question for slug, each in known.items()}}
    found, table = known[lesson], open_table()
    value = found.value.default if found.value else ""
    made = running.run(table, found, value, "mcp", secrets.token_hex(4), times.now(), Trace().attach(table))
    return {
        "question": found.question, "answer": lessons.unmarked(found.design),
        "requests": [
            {"version": version, "request": running.as_sent(done.step, done.arguments),
             "units": str(done.took.capacity) if done.took else "", "refused": done.reply.code,
             "returned": len(done.reply.items), "examined": done.reply.examined}
            for version, each in (("often seen", made.common), ("here", made.ours)) for done in each
        ],
    }  # fmt: skip


TOOLS = (run_lesson,)
