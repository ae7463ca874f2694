"""Have a child process read untrusted bytes: it gets them on its standard input, and answers in lines.

The child has no credentials, and limits of processor time and memory. Once it has its modules, it can open nothing
(``confinement.py``). What it answers is as untrusted as what it read: a parser that is taken over writes anything.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).parents[2]

GIVEN = ("PATH", "LD_LIBRARY_PATH")
"""The environment variables of a child, which Lambda's Python needs to start. None holds credentials."""

_CHUNK = 64 * 1024
_PR_SET_DUMPABLE = 4
_LAST_SECONDS = 10
"""How long a child may take to end after its last answer."""


@dataclass(frozen=True, slots=True)
class Limits:
    """A child's limits.

    ``processor`` is the processor time in seconds until the child asks for more (``confinement.go_on``), and ``total``
    that of its whole life; ``memory`` and ``answer``, a line that it writes, are in bytes. A child that is silent for
    ``silence`` seconds is killed: None if it may wait for its input.
    """

    processor: int
    total: int
    memory: int
    answer: int
    silence: float | None = None


class Broken(Exception):  # a refusal of the bytes, which callers word
    """The child was killed, or answered what is no answer."""


class TooSlow(Broken):
    """The child took more time than it has."""


def answers(module: str, file: IO[bytes], limits: Limits, *, first: bytes = b"") -> Iterator[bytes]:
    """Run a module on a file, and yield the lines that it answers; it reads ``first`` before the file.

    Raises Broken, TooSlow, OSError if the file can't be read, CalledProcessError if the module fails.
    """
    _hide_memory()
    limited = [f"{limits.processor}", f"{limits.total}", f"{limits.memory}"]
    child = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", module, *limited],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL if os.isatty(2) else None,  # a terminal would obey what is written to it
        cwd=ROOT,
        env={name: os.environ[name] for name in GIVEN if name in os.environ},
    )
    faults: list[OSError] = []
    threading.Thread(target=_send, args=(first, file, child.stdin, faults), daemon=True).start()
    try:
        assert child.stdout is not None  # noqa: S101  # a pipe
        yield from _lines(child.stdout.fileno(), limits)
        child.wait(_LAST_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise TooSlow from error
    finally:
        child.kill()
        child.wait()
        child.stdout.close()  # type: ignore[union-attr]  # a pipe
    if child.returncode < 0:  # killed by a signal
        raise TooSlow if -child.returncode in (signal.SIGXCPU, signal.SIGKILL) else Broken
    subprocess.CompletedProcess(child.args, child.returncode).check_returncode()
    if faults:
        raise faults[0]


def _send(first: bytes, file: IO[bytes], to: Any, faults: list[OSError]) -> None:
    """Write a file into a pipe. A child that stops reading reports the reason itself."""
    try:
        place: int | None = file.fileno()
    except OSError:
        place = None
    with suppress(BrokenPipeError), to:
        to.write(first)
        while True:
            try:
                # Not by the file's own buffer, whose lock a thread that waits for input would keep at Python's end.
                data = file.read(_CHUNK) if place is None else os.read(place, _CHUNK)
            except OSError as error:
                faults.append(error)
                return
            if not data:
                return
            to.write(data)
            to.flush()


def _lines(place: int, limits: Limits) -> Iterator[bytes]:
    """The lines of a pipe, without their ends. Raises TooSlow, and Broken for one that is too long or has no end."""
    rest = b""
    while True:
        if not select.select([place], [], [], limits.silence)[0]:
            raise TooSlow
        data = os.read(place, _CHUNK)
        if not data:
            break
        *whole, rest = (rest + data).split(b"\n")
        if len(rest) > limits.answer:
            raise Broken
        yield from whole
    if rest:
        raise Broken


def _hide_memory() -> None:
    """Keep other processes of this user from reading this one's memory and environment, which hold credentials.

    On Linux, a process that isn't dumpable is readable for root alone, and for who has CAP_SYS_PTRACE:
    https://man7.org/linux/man-pages/man2/PR_SET_DUMPABLE.2const.html
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
