"""A child process that reads untrusted bytes can't do more than answer, and its parent bears whatever it answers."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from types import GeneratorType

import pytest

from features.isolation.children import Broken, Limits, TooSlow, answers
from features.isolation.tests import prying

PRYING = "features.isolation.tests.prying"
LIMITS = Limits(processor=2, total=5, memory=500_000_000, answer=100_000, silence=10)

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="other systems filter no system calls")


def asked(text: str, limits: Limits = LIMITS, *, first: bytes = b"") -> list[bytes]:
    return list(answers(PRYING, io.BytesIO(text.encode()), limits, first=first))


@on_linux
def test_a_child_that_is_taken_over_reaches_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")

    (answer,) = asked("")

    is_confined, environment, tried = json.loads(answer)
    assert is_confined
    assert set(environment) <= {"PATH", "LD_LIBRARY_PATH", "LC_CTYPE"}
    assert {name: tried[name] for name in prying.TRIES} == dict.fromkeys(prying.TRIES, "PermissionError")
    assert all(tried[name].startswith("got ") for name in prying.ALLOWED), tried


@on_linux
@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every process")
def test_a_process_with_a_child_is_not_readable_for_others() -> None:
    asked("")

    with pytest.raises(PermissionError):
        Path(f"/proc/{os.getpid()}/environ").read_bytes()


@pytest.mark.parametrize(
    ("ending", "limits", "kind"),
    [
        ("loop", LIMITS, TooSlow),
        ("silence", replace(LIMITS, silence=0.5), TooSlow),
        ("crash", LIMITS, Broken),
        ("chatter", LIMITS, Broken),
        ("half a line", LIMITS, Broken),
    ],
)
def test_a_child_that_does_not_answer_is_broken(ending: str, limits: Limits, kind: type[Broken]) -> None:
    with pytest.raises(Broken) as broken:
        asked(ending, limits)

    assert type(broken.value) is kind


def test_a_file_that_cannot_be_read_to_its_end_is_no_shorter_file() -> None:
    class Damaged(io.BytesIO):
        def read(self, _size: int | None = -1) -> bytes:
            raise OSError("a bad disk")

    with pytest.raises(OSError, match="a bad disk"):
        list(answers(PRYING, Damaged(), LIMITS))


def test_a_child_ends_when_nobody_listens_any_more() -> None:
    listening = answers(PRYING, io.BytesIO(b"a line, then silence"), replace(LIMITS, silence=None))
    assert isinstance(listening, GeneratorType)
    assert next(listening) == b"x"
    assert listening.gi_frame is not None
    child = listening.gi_frame.f_locals["child"]
    assert child.poll() is None

    listening.close()

    assert child.returncode == -signal.SIGKILL
