"""A child process that was taken over: it tries to reach its parent and the world, and answers what each try gave."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping

from features.isolation.confinement import confine, go_on

PARENT = os.getppid()


def _thread() -> str:
    ran: list[str] = []
    thread = threading.Thread(target=ran.append, args=("ran",))
    thread.start()
    thread.join()
    return ran[0]


def _fork() -> int:
    child = os.fork()
    if child == 0:
        os._exit(0)
    return os.waitpid(child, 0)[1]


def _loop() -> None:
    while True:
        pass


TRIES: Mapping[str, Callable[[], object]] = {
    "its parent's environment": lambda: open(f"/proc/{PARENT}/environ", "rb").read(),  # noqa: PTH123, SIM115
    "its parent's memory": lambda: os.open(f"/proc/{PARENT}/mem", os.O_RDONLY),
    "a file": lambda: os.open(__file__, os.O_RDONLY),
    "a folder": lambda: os.listdir("/"),  # noqa: PTH208
    "a connection": socket.socket,
    "a program": lambda: subprocess.run(["true"], check=True),
    "a process": _fork,
    "a signal": lambda: os.kill(PARENT, 0),
    "its parent's limits": lambda: resource.prlimit(PARENT, resource.RLIMIT_CPU),
}
ALLOWED: Mapping[str, Callable[[], object]] = {"a thread": _thread, "more time": go_on, "memory": lambda: bytes(10**7)}
ENDINGS: Mapping[str, Callable[[], object]] = {
    "loop": _loop,
    "crash": lambda: ctypes.string_at(0),
    "chatter": lambda: sys.stdout.write("x" * 10**6),
    "half a line": lambda: sys.stdout.write("x"),
    "silence": lambda: threading.Event().wait(),
    "a line, then silence": lambda: print("x", flush=True) or threading.Event().wait(),
}


def tried(attempt: Callable[[], object]) -> str:
    try:
        return f"got {attempt()!r:.40}"
    except BaseException as error:  # noqa: BLE001  # whatever it is
        return type(error).__name__


if __name__ == "__main__":
    is_confined = confine()
    asked = sys.stdin.read()
    if asked in ENDINGS:
        ENDINGS[asked]()
        sys.stdout.flush()
    else:
        found = {name: tried(attempt) for name, attempt in {**TRIES, **ALLOWED}.items()}
        print(json.dumps([is_confined, dict(os.environ), found]))
