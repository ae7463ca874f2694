"""Starting: the cost of INIT, against importing boto3 and making a client of it, and against a stock handler.

Each start is a fresh process of the built artifact, zipped and unzipped, in which Lambda's runtime client has been
loaded; measured is how the client then gets to the handler.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.harness import compare, record
from infra.bundling import HANDLER, bundle, libraries, module_of
from infra.functions import FUNCTIONS
from infra.settings import this_machine
from local.invoke import Function, environment, unpack

PEERS = Path(__file__).parent / "peers"

PUBLIC = ("catalog", "authorizer", "site", "clicks")
OTHERS = ("members", "accounts", "expiry")

GOALS = dict.fromkeys(PUBLIC, "1.10")

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
        record("starts", compare(_cases(Path(name)), GOALS, rounds=rounds))


def _cases(folder: Path) -> dict[str, Callable[[], float]]:
    stock = unpack(powertools(folder / "staged"), folder / "stock")
    cases = {"import boto3; boto3.client('dynamodb') (the yardstick)": start(stock, "", YARDSTICK)}
    code = {name: unpack(bundle(name, this_machine()).path, folder / name) for name in ("lean", "full")}
    for row in (each for each in FUNCTIONS if each.name in PUBLIC + OTHERS):
        queue = {"QUEUE_URL": "http://127.0.0.1:9/none"} if row.sends else {}
        cases[row.name] = start(code[row.artifact], HANDLER, FUNCTION=module_of(row.name), **queue)
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
