"""The DynamoDBs that the data layer's tests run on: the very same tests on each, the fast one in every tier.

Their known differences from Amazon's are recorded as named tests in ``tests/dynamodb/test_engines.py``.
"""

from __future__ import annotations

import atexit
import itertools
import os
import secrets
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from moto import mock_aws
from moto.core.botocore_stubber import BotocoreStubber

from local.cloud import free_port
from local.settings import AccessKey
from shared.data.catalog import topics
from shared.dynamodb.attributes import Item, marshal_item
from shared.dynamodb.aws_errors import Budget
from shared.dynamodb.client import connect, create_table, enable_ttl
from shared.dynamodb.schema import TTL_ATTRIBUTE, create_table_request
from shared.dynamodb.table import MAX_BATCH_WRITES, Table
from shared.values import times
from tests.support.factories import LAUNCH

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ROOT = Path(__file__).resolve().parent.parent.parent
DYNOXIDE = ROOT / "node_modules" / "@dynoxide" / "linux-x64" / "dynoxide"
DYNAMODB_LOCAL = ROOT / ".dynamodb-local"
ENDPOINT_VARIABLE = "AWS_ENDPOINT_URL_DYNAMODB"

KEY = AccessKey(f"TESTS{secrets.token_hex(16).upper()}", secrets.token_urlsafe(32))
"""The key that MiniStack requires, so that no page in the developer's browser can use it."""

FAKE_CREDENTIALS = {
    "region_name": "us-east-1",
    "aws_access_key_id": KEY.key_id,
    "aws_secret_access_key": KEY.secret,
}
"""Given to each client as arguments."""


@dataclass(frozen=True, slots=True)
class Engine:
    """One DynamoDB: how it is reached, and what surrounds a test that uses it."""

    name: str
    reach: Callable[[], Table]
    around: Callable[[], AbstractContextManager[Any]] = nullcontext
    create: Callable[[DynamoDBClient, str], None] = create_table

    @contextmanager
    def bare_table(self) -> Iterator[Table]:
        """A new table with nothing in it, gone afterwards; the engine is started by the first that asks for it."""
        with self.around():
            table = replace(self.reach(), name=f"deals-{uuid.uuid4().hex}")
            self.create(table.client, table.name)
            try:
                yield table
            finally:
                table.client.delete_table(TableName=table.name)

    @contextmanager
    def table(self, more: Callable[[Table], None] | None = None) -> Iterator[Table]:
        """A new table as a deployment leaves it: with the eight categories and the containers; and what ``more`` puts
        into it."""
        planted = _planted(more, LAUNCH)
        with self.bare_table() as table:
            put_all(table, planted)
            yield table


def plant(table: Table, more: Callable[[Table], None] | None = None) -> None:
    """Bring the seeds of today into a table, and what ``more`` puts beside them, by one request."""
    put_all(table, _planted(more, times.now().replace(hour=0, minute=0, second=0)))


@cache
def _planted(more: Callable[[Table], None] | None, now: datetime) -> list[Item]:
    """The items of the seeds, and what ``more`` puts beside them: thousands of tables begin with them."""
    with FAST.bare_table() as table:
        topics.plant_seeds(table, now)
        if more:
            more(table)
        return list(table.everything())


def put_all(table: Table, items: Iterable[Item]) -> None:
    """Bring items into a table as they are."""
    puts: Iterator[Any] = iter([{"PutRequest": {"Item": marshal_item(item)}} for item in items])
    while some := list(itertools.islice(puts, MAX_BATCH_WRITES)):
        table.client.batch_write_item(RequestItems={table.name: some})


def _at(port: int) -> Table:
    return _connect(endpoint_url=f"http://127.0.0.1:{port}")


def _connect(**where: str) -> Table:
    with _nothing_of_the_users():
        return connect("none", Budget(answer=30), **FAKE_CREDENTIALS, **where)


@contextmanager
def _nothing_of_the_users() -> Iterator[None]:
    """An environment without the user's profile, endpoint and proxy."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    nowhere = {"AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull}
    nowhere |= dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1")
    with mock.patch.dict(os.environ, plain | nowhere, clear=True):
        yield


def create_without_stream(client: DynamoDBClient, name: str) -> None:
    """For each write of a transaction, moto copies the table with all that it ever streamed: half of its time."""
    request: dict[str, Any] = create_table_request(name)
    del request["StreamSpecification"]
    client.create_table(**request)
    enable_ttl(client, name)


def _create_at_once(client: DynamoDBClient, name: str) -> None:
    """Two requests instead of four, for an engine whose tables are there at once, and whose TTL is off."""
    client.create_table(**create_table_request(name))  # type: ignore[arg-type]  # the schema is declared as plain data
    client.update_time_to_live(
        TableName=name, TimeToLiveSpecification={"Enabled": True, "AttributeName": TTL_ATTRIBUTE}
    )


@cache
def _ministack() -> Table:
    port = free_port()
    folder = Path(tempfile.mkdtemp(prefix="big-time-deals-tests-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _start(
        [sys.executable, "-m", "tests.support.guarded_engine"],
        port,
        {
            "PYTHONPATH": str(ROOT),
            "AWS_ACCESS_KEY_ID": KEY.key_id,
            "AWS_SECRET_ACCESS_KEY": KEY.secret,
            "BIND_HOST": "127.0.0.1",
            "GATEWAY_PORT": str(port),
            "SERVICES": "dynamodb,logs,s3,ses,sqs",
            "PERSIST_STATE": "0",
            "STATE_DIR": str(folder / "state"),
            "TMPDIR": str(folder),
            "SFTP_ENABLED": "0",
            "IOT_MTLS_ENABLED": "0",
            "DOCKER_HOST": f"unix://{folder / 'no-docker.sock'}",
            "LOG_LEVEL": "ERROR",
        },
    )
    return _at(port)


_tables_on_dynoxide = itertools.count()


def _dynoxide() -> Table:
    if not DYNOXIDE.exists():
        pytest.skip("dynoxide is not installed: npm has it for Linux on x86-64 only (npm ci)")
    # It keeps what deleted tables streamed, and each write takes longer for it: ten times as long after 400 tables.
    return dynoxide_of(next(_tables_on_dynoxide) // 40)


@cache
def dynoxide_of(kept: int | Path) -> Table:
    """A dynoxide of its own: one that keeps nothing, by its number, or one with the tables of a database file."""
    port = free_port()
    file = ["--db-path", str(kept)] if isinstance(kept, Path) else []
    _start([str(DYNOXIDE), "serve", "--host", "127.0.0.1", "--port", str(port), *file], port, {})
    if isinstance(kept, Path):
        _number_records_fast(kept)
    return _at(port)


def _number_records_fast(file: Path) -> None:
    """Before each record of a stream, dynoxide asks for the highest number of all: that takes an index, or minutes."""
    with closing(sqlite3.connect(file)) as database, database:
        number = "CAST(sequence_number AS INTEGER)"
        database.execute(f"CREATE INDEX IF NOT EXISTS streamed ON _stream_records (table_name, {number})")


@cache
def _dynamodb_local() -> Table:
    if not DYNAMODB_LOCAL.exists():
        pytest.skip("DynamoDB Local is not installed (make dynamodb-local)")
    if not _java_runs():
        pytest.skip("DynamoDB Local needs Java, which is missing (on Debian: apt install default-jre-headless)")
    port = free_port()
    natives = f"-Djava.library.path={DYNAMODB_LOCAL / 'DynamoDBLocal_lib'}"
    # What runs for a minute is not worth the best code and a parallel collector: a third less of the processor.
    java = ["java", natives, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
    options = ["-jar", str(DYNAMODB_LOCAL / "DynamoDBLocal.jar"), "-inMemory", "-disableTelemetry", "-port", str(port)]
    folder = tempfile.mkdtemp(prefix="big-time-deals-tests-")  # it leaves a file where it is started
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _start([*java, *options], port, {}, folder)
    return _at(port)


def _java_runs() -> bool:
    """Whether Java is there: macOS has a program of that name that only says that it is not."""
    with suppress(OSError):
        return subprocess.run(["java", "-version"], capture_output=True, check=False).returncode == 0
    return False


_ONE_ANSWER = threading.Lock()
_answer = BotocoreStubber.__call__


def _answer_alone(stubber: BotocoreStubber, *named: Any, **more: Any) -> Any:
    """moto copies its tables for a transaction, while other threads may write to them: it answers one at a time."""
    with _ONE_ANSWER:
        return _answer(stubber, *named, **more)


@contextmanager
def _mocked() -> Iterator[None]:
    with _nothing_of_the_users(), mock.patch.object(BotocoreStubber, "__call__", _answer_alone), mock_aws():
        yield


MOTO = Engine("moto", cache(_connect), _mocked, create_without_stream)
MINISTACK = Engine("ministack", _ministack)
DYNOXIDE_ENGINE = Engine("dynoxide", _dynoxide, create=_create_at_once)
DYNAMODB_LOCAL_ENGINE = Engine("dynamodb-local", _dynamodb_local)
"""Amazon's own. Its tables are in SQLite: a test takes about a second of a processor on it."""

ON_ALL_ENGINES = ("tests/dynamodb/", "tests/data/test_access_patterns.py")
"""The tests that ``make thorough`` runs on the slow engines: what the data layer relies on, each access pattern, and
those marked ``all_engines``. With ``ENGINES=all`` they run all of the data layer: for a new version of one."""

_NAMED = os.environ.get(ENDPOINT_VARIABLE)
# Whatever this is, it is the user's: credentials and region come from where boto3 looks for them.
NAMED_BY_USER = (Engine("endpoint", cache(lambda: connect("none", endpoint_url=_NAMED))),) if _NAMED else ()
ENGINES = (MOTO, MINISTACK, DYNOXIDE_ENGINE, DYNAMODB_LOCAL_ENGINE, *NAMED_BY_USER)
SERVERS = tuple(engine for engine in ENGINES if engine is not MOTO)
"""Those that run beside the tests, as the real one does, and so can be asked by many threads at once."""

FAST = DYNOXIDE_ENGINE if DYNOXIDE.exists() else MOTO
"""The engine of ``make quick`` and ``make test``; npm has dynoxide for Linux on x86-64 only."""

FAST_SERVER = DYNOXIDE_ENGINE if DYNOXIDE.exists() else MINISTACK
"""The fastest one that many threads can ask at once."""

SLOW_ENGINES = tuple(engine for engine in ENGINES if engine not in (FAST, FAST_SERVER, *NAMED_BY_USER))


def params(engines: Iterable[Engine], *, always: Container[Engine] = ENGINES) -> list[Any]:
    """Parameters for ``engine``: those not in ``always`` are for ``make test-all`` only."""
    return [
        pytest.param(
            engine,
            id=engine.name,
            marks=[
                *([] if engine in (FAST, FAST_SERVER) else [pytest.mark.slow_engine]),
                *([] if engine in always else [pytest.mark.thorough]),
            ],
        )
        for engine in engines
    ]


def on(*engines: Engine, thorough: Iterable[Engine] = ()) -> pytest.MarkDecorator:
    """Runs a test on these engines only: on those named first in every tier, on the others in ``make test-all``."""
    return pytest.mark.parametrize("engine", params([*engines, *thorough], always=engines), scope="session")


on_servers = on(FAST_SERVER, *NAMED_BY_USER, thorough={*SERVERS} - {FAST_SERVER, *NAMED_BY_USER})
"""Runs a test where many threads can ask at once, or where moto, which copies its tables, takes too long."""


_running: list[subprocess.Popen[bytes]] = []


def _start(command: list[str], port: int, environment: Mapping[str, str], folder: str | None = None) -> None:
    """Start an engine, in a folder if it needs one, and wait until it listens."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=kept | dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _running.append(process)
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            if process.poll() is None:  # and not another's, which was faster to take the port
                return
        time.sleep(0.05)
    pytest.fail(f"{Path(command[0]).name} did not start: {' '.join(command)}")


@atexit.register
def end_all() -> None:
    """End the engines that this process has started; who asks for one afterwards starts another."""
    _ministack.cache_clear()
    _dynamodb_local.cache_clear()
    dynoxide_of.cache_clear()
    while _running:
        process = _running.pop()
        process.terminate()
        try:
            process.wait(timeout=120)
        except subprocess.TimeoutExpired:
            process.kill()
