"""The built functions, against a stock handler: how they start, and the front page, whole.

Each start is a fresh process of the built artifact, zipped and unzipped, in which Lambda's runtime client has been
loaded; measured is how the client then gets to the handler, also against importing boto3 and making a client of it. The
front page is measured in functions that run under that client.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from benchmarks.harness import compare, record
from benchmarks.requests import fill, request
from infra.bundling import HANDLER, bundle, libraries, module_of
from infra.functions import BY_NAME, FUNCTIONS
from infra.stage import this_machine
from shared.data import keys
from shared.data.catalog import picks
from shared.models.catalog import ALL_DEALS, FRONT_PAGE
from shared.values import times
from tests.support.engines import MINISTACK
from tests.support.surroundings import event, given
from tools.invoke import Function, Runtime, environment, running, unpack

PEERS = Path(__file__).parent / "peers"

PUBLIC = ("catalog", "authorizer", "site", "clicks")
OTHERS = ("members", "accounts", "editors", "account", "expiry")

START_GOALS = dict.fromkeys(PUBLIC, "1.10")

START = """
import sys, time
sys.path.insert(0, "")
from awslambdaric import bootstrap, lambda_runtime_client
began = time.process_time()
%s
print(time.process_time() - began)
"""

YARDSTICK = "import boto3; boto3.client('dynamodb')"

WITH_PYDANTIC = f"""
import gc
bootstrap._get_handler({HANDLER!r})
gc.disable()
import pydantic
pydantic.create_model("Body", name=(str, ...))
"""
"""The least that a function with bodies loads: a handler, and pydantic with one model."""


def starts(rounds: int = 15) -> None:
    """Measure, print and record the cost of INIT."""
    with tempfile.TemporaryDirectory() as name:
        record("starts", compare(_starts(Path(name)), START_GOALS, rounds=rounds))


def _starts(folder: Path) -> dict[str, Callable[[], float]]:
    stock = unpack(powertools(folder / "staged"), folder / "stock")
    cases = {"import boto3; boto3.client('dynamodb') (the yardstick)": start(stock, "", YARDSTICK)}
    code = {name: unpack(bundle(name, this_machine()).path, folder / name) for name in ("lean", "full")}
    for row in (each for each in FUNCTIONS if each.name in PUBLIC + OTHERS):
        queue = {"QUEUE_URL": "http://127.0.0.1:9/none"} if row.sends else {}
        cases[row.name] = start(code[row.artifact], HANDLER, FUNCTION=module_of(row.name), **queue)
    least = start(code["full"], HANDLER, WITH_PYDANTIC, FUNCTION=module_of("members"))
    cases["members, and pydantic with one model"] = least
    return cases | {"a stock Powertools, pydantic and boto3 handler": start(stock, "powertools.handler")}


def powertools(folder: Path) -> Path:
    """The artifact of a stock Powertools handler: its libraries as published, and byte code as valid as ours."""
    shutil.copytree(libraries("bench-powertools"), folder)
    shutil.copy(PEERS / "powertools.py", folder)
    compiled = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"]
    subprocess.run([*compiled, str(folder / "powertools.py")], check=True)
    return folder


def start(code: Path, handler: str, statement: str = "", **variables: str) -> Callable[[], float]:
    """A case: the processor time of a fresh process from the loaded runtime client to the handler, in seconds."""
    function = Function("start", handler, code, {"TABLE_NAME": "none"})
    source = START % (statement or f"bootstrap._get_handler({handler!r})")
    surroundings = environment(function) | {"POWERTOOLS_SERVICE_NAME": "start"} | variables

    def case() -> float:
        done = subprocess.run(
            [sys.executable, "-S", "-c", source],
            cwd=code,
            env=surroundings,
            check=True,
            capture_output=True,
            text=True,
        )
        return float(done.stdout.splitlines()[-1])

    case()
    return case


FEATURED = 8

REST = 1.01
"""Seconds after which a function reads its copies again."""

GOALS = {
    "front page, cached": "0.30",
    "front page in HTML, from copies kept for a second": "0.19",
    "front page in HTML, from copies read for this request": "0.38",
}


def invocations(rounds: int = 21) -> None:
    """Measure, print and record the front page."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        store = stack.enter_context(MINISTACK.table())
        newest = fill(store)[:FEATURED]
        picks.set_featured(store, FRONT_PAGE, [deal.deal_id for deal in newest], times.now())
        day = ALL_DEALS.period.start_of(times.now())
        environment = given(
            store, FEED=keys.feed_partition(ALL_DEALS, day), SITE_ORIGIN="http://127.0.0.1", SITE_BASE=""
        )
        catalog, site, refresher = (
            stack.enter_context(running(_ours(name, folder, environment))) for name in ("catalog", "site", "refresher")
        )
        code = unpack(powertools(folder / "staged"), folder / "powertools")
        stock = Function("typical", "powertools.handler", code, environment | {"POWERTOOLS_SERVICE_NAME": "typical"})
        typical = stack.enter_context(running(stock))
        built = refresher.invoke(json.dumps(event("refresher-schedule")).encode())
        assert not built.failed, built

        api, html = _event("/front-page"), _event("/")
        page = json.loads(catalog.invoke(api).payload["body"])
        assert [len(page["featured"]), len(page["latest"]["items"])] == [FEATURED, 25]
        assert json.loads(typical.invoke(api).payload["body"])["latest"]["items"][24]["dealId"]
        assert site.invoke(html).payload["body"].count('<li class="card') > FEATURED
        cases = {
            "a typical function: Powertools, pydantic, boto3's Query of 25 deals (the yardstick)": _case(typical, api),
            "front page, cached": _case(catalog, api),
            "front page, cached, compressed": _case(catalog, _event("/front-page", packed=True)),
            "front page, the same function without the cache": _case(catalog, _event("/front-page", limit="24")),
            "front page in HTML, from copies kept for a second": _case(site, html),
        }
        # A process that rests wakes with cold caches, which is not the page's: so its yardstick rests as long.
        rested = {
            "the typical function, a second after its last request (the yardstick of the next row)": _case(
                typical, api, calls=2, rest=REST
            ),
            "front page in HTML, from copies read for this request": _case(site, html, calls=2, rest=REST),
        }
        tables = [compare(each, GOALS, rounds=rounds) for each in (cases, rested)]
        record("invocations", "\n".join([tables[0], *tables[1].splitlines()[2:]]))


def _event(path: str, *, packed: bool = False, **query: str) -> bytes:
    return json.dumps(request("GET", path, query=query, packed=packed)).encode()


def _ours(name: str, folder: Path, environment: dict[str, str]) -> Function:
    """A function as it is deployed, to be run on this machine."""
    artifact = bundle(BY_NAME[name].artifact, this_machine()).path
    code = unpack(artifact, folder / name)
    own = {"FUNCTION": module_of(name), "POWERTOOLS_SERVICE_NAME": name}
    return Function(name, HANDLER, code, environment | own)


def _case(runtime: Runtime, asked: bytes, calls: int = 25, rest: float = 0.0) -> Callable[[], float]:
    """A case: the processor time of a function's process for a request, after ``rest`` seconds without one."""
    process = runtime.process.pid

    def case() -> float:
        before = _cpu_seconds(process)
        for _ in range(calls):
            time.sleep(rest)
            answer = runtime.invoke(asked)
            assert answer.payload["statusCode"] == 200, answer
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
