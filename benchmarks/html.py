"""The front page in HTML, whole: the function under Lambda's runtime client, against a service with the same page."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path

from benchmarks import postgres
from benchmarks.harness import compare, record, table
from benchmarks.invocations import FEATURED, MISSING, built_caches, event, filled, give, invoked, ours, spent_by
from local.runtime import running
from tests.support.surroundings import given

YARDSTICK = "FastAPI, Jinja2, SQLAlchemy (async) and PostgreSQL (the yardstick)"
KEPT = "front page in HTML, its copies read within the second before"
READ = "front page in HTML, its copies read for it"
GOALS = {KEPT: "0.45", READ: "0.90"}

CARD = '<li class="card'


def main(rounds: int = 21) -> None:
    """Measure, print and record."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        environment = given(stack.enter_context(filled()), SITE_ORIGIN="http://127.0.0.1", SITE_BASE="")
        site = stack.enter_context(running(ours("site", folder, environment)))
        catalog = stack.enter_context(running(ours("catalog", folder, environment)))
        stack.enter_context(built_caches(folder, environment))

        page = site.invoke(request()).payload["body"]
        latest = page.count(CARD) - FEATURED
        assert latest > 0
        cases = {KEPT: invoked(site, request()), READ: invoked(site, request(), calls=2, rest=1.01)}
        there = postgres.programs() is not None
        if there:
            around = folder / "around"
            around.mkdir()
            before, after = page.split('<div class="heading">')[0], page[page.index("</main>") :]
            (around / "before.html").write_text(before, encoding="utf-8")
            (around / "after.html").write_text(after, encoding="utf-8")
            url = stack.enter_context(postgres.database())
            fastapi = stack.enter_context(postgres.fastapi(url, "fastapi_jinja", AROUND=str(around)))
            give(fastapi[0], json.loads(catalog.invoke(event()).payload["body"]))
            cases = {YARDSTICK: _asked(*fastapi, latest, page), **cases}
        rows = compare(cases, rounds=rounds)
    text = table(rows, GOALS)
    record("html", text if there else f"{text}\n{MISSING}")


def request() -> bytes:
    """A request for the front page as the site's gateway sends it, of a browser that accepts no compressed answer."""
    asked = json.loads(event())
    return json.dumps(asked | {"resource": "/", "path": "/"}).encode()


def _asked(port: int, process: int, latest: int, page: str) -> Callable[[], float]:
    """A service's case, once it answers with as many cards as ours and with a page of the same size, within a tenth."""
    connection = HTTPConnection("127.0.0.1", port)

    def ask() -> str:
        connection.request("GET", f"/?latest={latest}")
        answer = connection.getresponse()
        text = answer.read().decode()
        assert answer.status == 200, text[-2000:]
        return text

    served = ask()
    assert served.count(CARD) == page.count(CARD)
    assert abs(len(served) - len(page)) < len(page) / 10, (len(served), len(page))
    return spent_by(process, ask)
