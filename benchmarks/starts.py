"""Starting: what INIT costs, against importing boto3 and making a client of it, and against what others build.

Each start is a fresh process of the built artifact, zipped and unzipped, in which Lambda's runtime client has been
loaded; what is measured is how the client then gets to the handler.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.harness import compare, record, table
from infra.artifacts.bundling import HANDLER, bundle, libraries, module_of
from infra.functions import artifact_of
from infra.settings import this_machine
from local.runtime import Function, environment, unpack

PEERS = Path(__file__).parent / "peers"

GOALS = {
    **dict.fromkeys(("catalog", "authorizer", "announcer", "messenger", "refresher", "expiry"), "0.75"),
    **dict.fromkeys(("accounts", "members", "editors"), "1.20"),
    **dict.fromkeys(("site", "mine", "clicks"), "0.75"),
    **dict.fromkeys(("account", "desk"), "1.20"),
}

START = """
import sys, time
sys.path.insert(0, "")
from awslambdaric import bootstrap, lambda_runtime_client
began = time.process_time()
%s
print(time.process_time() - began)
"""

YARDSTICK = "import boto3; boto3.client('dynamodb')"


def main(rounds: int = 15) -> None:
    """Measure, print and record."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = compare(_cases(folder), rounds=rounds)
    record("starts", table(rows, GOALS))


def _cases(folder: Path) -> dict[str, Callable[[], float]]:
    stock = unpack(peer("powertools", folder / "staged"), folder / "stock")
    mangum = unpack(peer("fastapi_mangum", folder / "staged"), folder / "mangum")
    ours = {name: unpack(bundle(name, this_machine()).path, folder / name) for name in ("lean", "full")}
    return {
        "import boto3; boto3.client('dynamodb') (the yardstick)": start(stock, "", YARDSTICK),
        **{function: start(ours[artifact_of(function)], HANDLER, FUNCTION=module_of(function)) for function in GOALS},
        "a stock Powertools, pydantic and boto3 handler": start(stock, "powertools.handler"),
        "FastAPI, Mangum and boto3": start(mangum, "fastapi_mangum.handler"),
    }


def peer(module: str, folder: Path) -> Path:
    """The artifact of a peer: its module and its libraries as published, with byte code that is as valid as ours."""
    staged = folder / module
    shutil.copytree(libraries(f"bench-{module.removeprefix('fastapi_')}"), staged)
    shutil.copy(PEERS / f"{module}.py", staged)
    compiled = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"]
    subprocess.run([*compiled, str(staged / f"{module}.py")], check=True)
    return staged


def start(code: Path, handler: str, statement: str = "", **variables: str) -> Callable[[], float]:
    """A case: the processor time of a fresh process from the loaded runtime client to the handler, in seconds."""
    function = Function(
        "start", handler, code, {"TABLE_NAME": "none", "QUEUE_URL": "http://127.0.0.1:9/none", "FEED": "none"}
    )
    source = START % (statement or f"bootstrap._get_handler({handler!r})")

    def case() -> float:
        done = subprocess.run(
            [sys.executable, "-S", "-c", source],
            cwd=code,
            env=environment(function) | {"POWERTOOLS_SERVICE_NAME": "start"} | variables,
            check=True,
            capture_output=True,
            text=True,
        )
        return float(done.stdout.splitlines()[-1])

    case()
    return case
