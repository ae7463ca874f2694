"""The front page, whole: functions under Lambda's runtime client, against a service with the same deals."""

from __future__ import annotations

import ctypes
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from benchmarks import postgres
from benchmarks.harness import compare, record, table
from benchmarks.pages import fill
from benchmarks.starts import powertools
from infra.artifacts.bundling import HANDLER, bundle, module_of
from infra.functions import BY_NAME
from infra.settings import this_machine
from local.runtime import Function, Runtime, running, unpack
from shared.data import keys
from shared.data.catalog import feeds, picks
from shared.dynamodb.table import Table
from shared.models.catalog import ALL_DEALS, FRONT_PAGE
from shared.values import times
from tests.support.engines import MINISTACK
from tests.support.surroundings import given

EVENTS = Path(__file__).parent.parent / "events"
FEATURED = 8

SERVICE = "FastAPI, SQLAlchemy (async) and PostgreSQL (the yardstick)"
CACHED = "front page, cached"
COMPRESSED = "front page, cached, compressed"
UNCACHED = "front page, the same function without the cache"
KEPT = "front page in HTML, its copies read within the second before"
READ = "front page in HTML, its copies read for it"
TYPICAL = "a typical function: Powertools, pydantic, boto3's Query of 25 deals"

MISSING = "| PostgreSQL is not installed, so there is no yardstick (Debian: apt install postgresql) | | | |"


def main(rounds: int = 21) -> None:
    """Measure, print and record."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        store = stack.enter_context(_filled())
        day = ALL_DEALS.period.start_of(times.now())
        environment = given(
            store, FEED=keys.feed_partition(ALL_DEALS, day), SITE_ORIGIN="http://127.0.0.1", SITE_BASE=""
        )
        catalog = stack.enter_context(running(_ours("catalog", folder, environment)))
        site = stack.enter_context(running(_ours("site", folder, environment)))
        _build_caches(folder, environment)
        typical = stack.enter_context(running(_peer(folder, environment)))

        page = json.loads(catalog.invoke(_event()).payload["body"])
        assert [len(page["featured"]), len(page["latest"]["items"])] == [FEATURED, 25]
        assert json.loads(typical.invoke(_event()).payload["body"])["latest"]["items"][24]["dealId"]
        assert site.invoke(_event("/")).payload["body"].count('<li class="card') > FEATURED
        cases = {
            CACHED: _invoked(catalog, _event()),
            COMPRESSED: _invoked(catalog, _event(gzip=True)),
            UNCACHED: _invoked(catalog, _event(limit=24)),
            KEPT: _invoked(site, _event("/")),
            READ: _invoked(site, _event("/"), calls=2, rest=1.01),
            TYPICAL: _invoked(typical, _event()),
        }
        there = postgres.programs() is not None
        if there:
            port, number = stack.enter_context(postgres.service())
            cases = {SERVICE: _requested(port, number, page), **cases}
        rows = compare(cases, rounds=rounds)
    text = table(rows, {CACHED: "0.70", KEPT: "0.45", READ: "0.90"})
    record("invocations", text if there else f"{text}\n{MISSING}")


def _event(path: str = "/front-page", *, gzip: bool = False, limit: int | None = None) -> bytes:
    """A request as a gateway sends it."""
    request = json.loads((EVENTS / "catalog-brand-page.json").read_text(encoding="utf-8"))
    query: dict[str, Any] | None = None if limit is None else {"limit": str(limit)}
    request |= {
        "resource": path,
        "path": path,
        "pathParameters": None,
        "queryStringParameters": query,
        "multiValueQueryStringParameters": query and {"limit": [str(limit)]},
    }
    if not gzip:
        del request["headers"]["Accept-Encoding"], request["multiValueHeaders"]["Accept-Encoding"]
    return json.dumps(request).encode()


@contextmanager
def _filled() -> Iterator[Table]:
    """A table with sixty deals, some of them picked."""
    with MINISTACK.table() as store:
        fill(store)
        now = times.now()
        newest = feeds.read(store, ALL_DEALS, limit=FEATURED, now=now).items
        picks.set_featured(store, FRONT_PAGE, [deal.deal_id for deal in newest], now)
        yield store


def _build_caches(folder: Path, environment: dict[str, str]) -> None:
    """Build the caches as the clock does."""
    with running(_ours("refresher", folder, environment)) as refresher:
        answer = refresher.invoke((EVENTS / "refresher-schedule.json").read_bytes())
    assert not answer.failed, answer


def _ours(name: str, folder: Path, environment: dict[str, str]) -> Function:
    """A function as it is deployed, to be run on this machine."""
    artifact = bundle(BY_NAME[name].artifact, this_machine()).path
    code = unpack(artifact, folder / name)
    own = {"FUNCTION": module_of(name), "POWERTOOLS_SERVICE_NAME": name}
    return Function(name, HANDLER, code, environment | own)


def _peer(folder: Path, environment: dict[str, str]) -> Function:
    code = unpack(powertools(folder / "staged"), folder / "powertools")
    return Function("typical", "powertools.handler", code, environment | {"POWERTOOLS_SERVICE_NAME": "typical"})


def _invoked(runtime: Runtime, request: bytes, calls: int = 25, rest: float = 0.0) -> Callable[[], float]:
    """A case: the processor time that a function's process takes for a request, after ``rest`` seconds without one."""

    def invoke() -> None:
        time.sleep(rest)
        answer = runtime.invoke(request)
        assert answer.payload["statusCode"] == 200, answer

    return _spent_by(runtime.process.pid, invoke, calls)


def _requested(port: int, number: int, page: dict[str, Any]) -> Callable[[], float]:
    """The service's case, once it has the same deals and answers with the same page (except for the cursor)."""
    connection = HTTPConnection("127.0.0.1", port)
    connection.request("POST", "/front-page", json.dumps(page), {"Content-Type": "application/json"})
    answer = connection.getresponse().read()
    assert answer == b"null", answer[-2000:]

    def ask() -> bytes:
        connection.request("GET", "/front-page")
        answer = connection.getresponse()
        assert answer.status == 200
        return answer.read()

    served = json.loads(ask())
    assert {**served, "latest": served["latest"]["items"]} == {**page, "latest": page["latest"]["items"]}
    return _spent_by(number, ask)


def _spent_by(process: int, ask: Callable[[], object], calls: int = 25) -> Callable[[], float]:
    """A case: the processor time of another process for each of the calls that make it work."""

    def case() -> float:
        before = _cpu_seconds(process)
        for _ in range(calls):
            ask()
        return (_cpu_seconds(process) - before) / calls

    case()
    return case


def _cpu_seconds(process: int) -> float:
    """The processor time of another process so far, to the nanosecond."""
    clock = ctypes.c_int()
    failed = ctypes.CDLL(None).clock_getcpuclockid(process, ctypes.byref(clock))
    if failed:
        raise OSError(failed, os.strerror(failed))
    return time.clock_gettime(clock.value)
