"""The commands of a checkout, run as a user runs them, on a local cloud in a folder of the test's own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from local.settings import ROOT, Home


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


def printed_by(module: str) -> Any:
    """The JSON that a module prints when it is run in a process of its own."""
    done = subprocess.run([sys.executable, "-m", module], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)
