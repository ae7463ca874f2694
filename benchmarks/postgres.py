"""A service to measure against: PostgreSQL, as Debian packages it, and FastAPI on uvicorn in front of it."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from infra.artifacts.bundling import libraries
from local.ports import free_port

PEERS = Path(__file__).parent / "peers"


def programs() -> Path | None:
    """The folder with PostgreSQL's programs, which Debian leaves off the PATH."""
    on_path = shutil.which("initdb")
    packaged = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda file: int(file.parts[-3]))
    found = ([Path(on_path).resolve()] if on_path else []) + packaged[::-1]
    return found[0].parent if found else None


@contextmanager
def service() -> Iterator[tuple[int, int]]:
    """FastAPI with an empty database: its port, and its process's number. Needs ``programs``."""
    with _database() as url, _fastapi(url) as found:
        yield found


@contextmanager
def _fastapi(url: str) -> Iterator[tuple[int, int]]:
    """A FastAPI service on a database: its port, and its process's number."""
    port = free_port()
    command = [
        *(sys.executable, "-S", "-m", "uvicorn", "fastapi_postgres:app", "--host", "127.0.0.1", "--port", str(port)),
        *("--loop", "uvloop", "--http", "httptools", "--timeout-keep-alive", "600"),
    ]
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(map(str, (libraries("bench-postgres"), PEERS))),
        "PYTHONDONTWRITEBYTECODE": "1",
        "DATABASE_URL": url,
    }
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_for(port, process)
        yield port, process.pid
    finally:
        process.terminate()
        process.wait(timeout=20)


@contextmanager
def _database() -> Iterator[str]:
    """A database server that keeps nothing; its address as SQLAlchemy wants it. Needs ``programs``."""
    where = programs()
    if where is None:
        raise SystemExit("PostgreSQL is not installed")
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="postgres-") as name:
        folder = Path(name)
        # PostgreSQL refuses to run as root.
        other: dict[str, Any] = {"user": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
        if other:
            os.chown(folder, pwd.getpwnam("postgres").pw_uid, -1)
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder, **other}
        subprocess.run(
            [where / "initdb", "-D", folder / "data", "-U", "bench", "-A", "trust", "--no-sync"], check=True, **quiet
        )
        process = subprocess.Popen(
            [where / "postgres", "-D", folder / "data", "-p", str(port), "-h", "127.0.0.1", "-k", folder], **quiet
        )
        try:
            ready = [str(where / "pg_isready"), "-h", "127.0.0.1", "-p", str(port), "-U", "bench"]
            for _ in range(100):
                if subprocess.run(ready, check=False, **quiet).returncode == 0:
                    break
                time.sleep(0.1)
            yield f"postgresql+asyncpg://bench@127.0.0.1:{port}/postgres"
        finally:
            process.terminate()
            process.wait(timeout=30)


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        if process.poll() is not None:
            raise SystemExit("the service to measure against did not start")
        connection = HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/openapi.json")
            connection.getresponse().read()
        except OSError:
            time.sleep(0.1)
        else:
            return
        finally:
            connection.close()
    raise SystemExit("the service to measure against did not answer")
