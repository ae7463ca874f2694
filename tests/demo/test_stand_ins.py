"""What stands in the demo for what a browser's tab has none of, held in CPython."""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from demo.stand_ins import Absent, Files, InTurn, Mismatch, SaltedHasher, Waiting, modules
from shared.dynamodb import table as table_module
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from tests.support.engines import FAST


def test_a_pool_runs_one_after_the_other_in_order() -> None:
    ran = list[int]()

    def twice(number: int) -> int:
        ran.append(number)
        return number * 2

    with InTurn(4) as pool:
        results = list(pool.map(twice, [1, 2, 3]))
        later = pool.submit(ran.append, 4)

    assert (results, ran, later.result()) == ([2, 4, 6], [1, 2, 3, 4], None)


def test_what_a_submitted_function_raises_comes_with_its_result() -> None:
    def fails() -> None:
        raise LookupError("gone")

    future = InTurn().submit(fails)

    with pytest.raises(LookupError, match="gone"):
        future.result()
    assert not threading.current_thread().name.startswith("ThreadPoolExecutor")


@pytest.mark.parametrize("pool", [InTurn, ThreadPoolExecutor])
def test_requests_that_go_out_at_once_are_one_round_trip(pool: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_module, "ThreadPoolExecutor", pool)

    with FAST.table() as table:
        trace = Trace().attach(table)
        asked: list[Callable[[], Any]] = [lambda: table.get({"PK": "a", "SK": "a"}), lambda: _alone(table)]
        table.gather(asked)
        table.get({"PK": "c", "SK": "c"})

        assert (trace.count, trace.round_trips) == (3, 2)


def _alone(table: Table) -> Any:
    return table.get({"PK": "b", "SK": "b"})


def test_only_named_modules_are_made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Absent, "names", ("no_such_module",))
    monkeypatch.setattr(sys, "meta_path", [Absent(), *sys.meta_path])
    absent = Absent()

    made_up = importlib.import_module("no_such_module.within")

    assert issubclass(made_up.Whatever, Exception)
    assert made_up.Whatever is made_up.Whatever
    assert made_up.Whatever(1, two=3).method() is not None
    assert absent.find_spec("no_such_module_either") is None
    with pytest.raises(AttributeError):
        _ = made_up.__version__
    for name in ("no_such_module", "no_such_module.within"):
        del sys.modules[name]


def test_a_password_is_verified_and_any_other_refused() -> None:
    hasher = SaltedHasher.from_parameters(None)

    known = hasher.hash("correct horse")

    assert hasher.verify(known, "correct horse")
    assert known != hasher.hash("correct horse")
    for hashed, password in ((known, "battery staple"), ("$argon2id$v=19$m=65536$salt$hash", "correct horse")):
        with pytest.raises(Mismatch):
            hasher.verify(hashed, password)


def test_the_modules_have_what_the_site_imports_of_argon2() -> None:
    made = modules()

    assert made["argon2"].PasswordHasher is SaltedHasher
    assert issubclass(made["argon2.exceptions"].VerificationError, Exception)
    assert hasattr(made["argon2.profiles"], "RFC_9106_LOW_MEMORY")


def test_a_file_that_was_written_is_read_and_another_is_none() -> None:
    files = Files()
    files.write("pictures/a.svg", b"<svg/>", "image/svg+xml")

    found = files.read("pictures/a.svg", 100)

    assert found
    assert (found.content, found.media_type) == (b"<svg/>", "image/svg+xml")
    assert files.read("pictures/b.svg", 100) is None


def test_messages_wait_and_a_hook_hears_of_those_that_are_sent_while_it_is_registered() -> None:
    waiting, heard = Waiting(), list[int]()
    events = waiting.client.meta.events

    def hook(params: Any) -> None:
        heard.append(len(params["Entries"]))

    events.register("sent", hook)
    waiting.send(["a", "b"])
    events.unregister("sent", hook)
    waiting.send(["c"])

    assert (waiting.bodies, heard) == (["a", "b", "c"], [2])
