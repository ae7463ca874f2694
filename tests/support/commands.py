"""Commands of a checkout, run as a user runs them, and waiting for a state that they lead to, never for a time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from local.settings import ROOT, Home

T = TypeVar("T")

PATIENCE = 180.0
"""Seconds after which a state is no longer waited for. Most come in one or two, on a busy machine in many."""


def surroundings(home: Home, **others: str) -> dict[str, str]:
    """The environment of a command: everything but this machine is out of its reach."""
    # Below "make test", MAKELEVEL would have each make say which folder it enters, amid what "make env" prints.
    left_out = ("BTD_PORT", "EMPTY", "MAKEFLAGS", "MAKELEVEL")
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    nowhere = "http://127.0.0.1:9"  # a proxy that does not answer
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), nowhere)
    local = dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost")
    return {**kept, **proxies, **local, "BTD_HOME": str(home.folder), "UV_OFFLINE": "1", "EMPTY": "yes", **others}


def make(home: Home, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a target of the Makefile to its end; what is installed is taken as it is."""
    command = ["make", "--no-print-directory", "-o", "install", "-o", ".venv/.installed", *arguments]
    return subprocess.run(
        command, check=False, cwd=ROOT, env=surroundings(home), capture_output=True, text=True, timeout=300
    )


def begin(home: Home, command: str, log: Path, **others: str) -> subprocess.Popen[bytes]:
    """Begin what ``make run``, ``make stop`` and ``make status`` call (``up``, ``down``, ``status``)."""
    with log.open("wb") as lines:
        return subprocess.Popen(
            [sys.executable, "-m", "local", command],
            cwd=ROOT,
            env=surroundings(home, PYTHONUNBUFFERED="1", **others),
            stdin=subprocess.DEVNULL,
            stdout=lines,
            stderr=subprocess.STDOUT,
            # A shell lets what it runs in the background ignore interrupts, and so would all that is begun there.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
        )


def printed_by(module: str, *arguments: object) -> Any:
    """The JSON that a module prints when it is run in a process of its own."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def until(look: Callable[[], bool]) -> bool:
    """Whether something has come true."""
    return _last_seen(look, bool)


def eventually(look: Callable[[], T], is_right: Callable[[T], bool]) -> T:
    """Wait until something that follows from a write through the stream is right, and return it."""
    seen = _last_seen(look, is_right)
    assert is_right(seen), seen
    return seen


def _last_seen(look: Callable[[], T], is_right: Callable[[T], bool]) -> T:
    deadline = time.monotonic() + PATIENCE
    while not is_right(seen := look()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return seen
