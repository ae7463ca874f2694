"""Functions run as Lambda runs them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from infra.bundling import libraries
from local.settings import ROOT, Home, Trouble
from tests.support.commands import make
from tests.support.surroundings import EVENTS, event
from tests.support.wire import serving, stalled
from tools.invoke import Function, event_for, read, running

SOURCE = """
import os, sys, time

def tell(event, context):
    print("a line of log")
    return {
        "event": event,
        "name": context.function_name,
        "id": context.aws_request_id,
        "left": context.get_remaining_time_in_millis(),
        "home": os.environ.get("HOME"),
        "libraries": [path for path in sys.path if "site-packages" in path],
    }

def count(event, context, calls=[]):
    calls.append(1)
    return len(calls)

def fail(event, context):
    raise LookupError("nothing there")

def sleep(event, context):
    time.sleep(60)

def leave(event, context):
    os._exit(3)
"""


@pytest.fixture
def sample(tmp_path: Path) -> Callable[[str], Function]:
    """A function that is one of those above."""
    (tmp_path / "sample.py").write_text(SOURCE)
    return lambda name: Function(name, f"sample.{name}", tmp_path, timeout=10.0, memory=256)


def test_a_function_gets_the_environment_of_lambda_and_nothing_of_the_users(sample: Callable[[str], Function]) -> None:
    with running(sample("tell")) as runtime:
        answer = runtime.invoke(b'{"text": "\\u00fc"}')

    assert not answer.failed
    assert answer.payload["event"] == {"text": "ü"}
    assert answer.payload["name"] == "tell"
    assert len(answer.payload["id"]) == 36
    assert 0 < answer.payload["left"] <= 10_000
    assert answer.payload["home"] is None
    assert answer.payload["libraries"] == []
    assert "a line of log" in answer.log


def test_one_process_takes_one_event_after_the_other(sample: Callable[[str], Function]) -> None:
    with running(sample("count")) as runtime:
        assert [runtime.invoke(b"{}").payload for _ in range(3)] == [1, 2, 3]


def test_an_error_is_reported_and_the_process_goes_on(sample: Callable[[str], Function]) -> None:
    with running(sample("fail")) as runtime:
        answers = [runtime.invoke(b"{}") for _ in range(2)]

    assert [answer.failed for answer in answers] == [True, True]
    assert [answer.payload["errorType"] for answer in answers] == ["LookupError"] * 2
    assert "nothing there" in answers[1].log


@pytest.mark.parametrize(("name", "error"), [("nothing", "HandlerNotFound"), ("leave", "ExitError")])
def test_a_process_that_cannot_start_or_ends_is_an_error(
    sample: Callable[[str], Function], name: str, error: str
) -> None:
    with running(sample(name)) as runtime:
        answer = runtime.invoke(b"{}")

    assert answer.failed
    assert answer.payload["errorType"] == f"Runtime.{error}"


def test_a_function_that_takes_too_long_is_ended(sample: Callable[[str], Function]) -> None:
    with running(replace(sample("count"), timeout=1.0, handler="sample.sleep")) as runtime:
        runtime.fresh = False
        answer = runtime.invoke(b"{}")

    assert answer.payload == {"errorType": "Sandbox.Timedout", "errorMessage": "Task timed out after 1.00 seconds"}


def test_a_function_that_there_is_not_is_not_started(function: Callable[[str], Function]) -> None:
    catalog = function("catalog")
    nobody = replace(catalog, environment={**catalog.environment, "FUNCTION": "functions.api.nosuch"})

    with running(nobody) as runtime:
        answer = runtime.invoke(b"{}")

    assert answer.payload["errorType"] == "Runtime.ImportModuleError"


def test_when_the_table_answers_too_slowly_a_function_still_answers(function: Callable[[str], Function]) -> None:
    catalog = function("catalog")

    with serving(stalled) as slow:
        nowhere = replace(catalog, environment={**catalog.environment, "AWS_ENDPOINT_URL": slow.endpoint}, timeout=4.0)
        with running(nowhere) as runtime:
            # Its start has time of its own: 14 s in all, and without a bound it would take 24.
            answer = runtime.invoke(json.dumps(event("catalog-brand-page")).encode())

    assert answer.payload["statusCode"] == 503
    assert answer.payload["multiValueHeaders"]["Retry-After"] == ["1"]


@pytest.mark.parametrize(
    ("name", "first", "then"),
    [
        ("messenger", {"Records": [{"messageId": "0", "body": "no unit", "eventSource": "aws:sqs"}]}, "messenger-work"),
        ("publisher", event("stream-ttl-remove"), "stream-insert"),
    ],
)
def test_all_records_of_a_batch_have_the_time_of_one_invocation(
    function: Callable[[str], Function], name: str, first: Any, then: str
) -> None:
    """Each by itself would ask for longer: twelve times two seconds. What cannot be done in time is given back."""
    batch = event(then)
    batch["Records"] *= 5 if name == "messenger" else 1

    with serving(stalled) as slow:
        there = function(name)
        nowhere = {"AWS_ENDPOINT_URL": slow.endpoint, "QUEUE_URL": f"{slow.endpoint}/queue"}
        with running(replace(there, environment={**there.environment, **nowhere}, timeout=4.0)) as runtime:
            runtime.invoke(json.dumps(first).encode())  # it has started
            runtime.fresh = True  # so that a busy machine may be late, though not by the minutes that it would take
            answer = runtime.invoke(json.dumps(batch).encode())

    assert not answer.failed, answer
    assert len(answer.payload["batchItemFailures"]) == len(batch["Records"])
    assert slow.requests


def test_what_is_no_event_is_said(tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("{")

    for file in (tmp_path / "broken.json", tmp_path / "missing.json"):
        with pytest.raises(Trouble, match="is no event"):
            read(file)


def test_an_event_goes_out_as_one_line_of_json() -> None:
    text = read(EVENTS / "catalog-brand-page.json")

    assert b"\n" not in text
    assert json.loads(text)["resource"] == "/brands/{brand}"


def test_the_seed_is_invoked_without_a_cloud_and_without_a_network(tmp_path: Path, code: Any) -> None:
    code("seed")  # what is fetched from a registry is here from an earlier command
    libraries("lambda-runtime")

    done = make(Home(tmp_path / "home"), "invoke", "FUNCTION=seed")

    assert done.returncode == 0, done.stderr
    assert "The local cloud is not running" in done.stderr
    assert 'CloudFormation receives: {"Status": "SUCCESS"' in done.stderr
    assert '"message":"seeded"' in done.stderr
    assert not (tmp_path / "home").exists()


def test_an_event_is_found_for_a_function_that_is_named_alone() -> None:
    found = {name: event_for(name).relative_to(ROOT).as_posix() for name in ("seed", "catalog", "publisher")}

    assert found == {
        "seed": "events/seed-create.json",
        "catalog": "events/catalog-all-brands.json",
        "publisher": "events/stream-insert.json",
    }
    with pytest.raises(Trouble, match="name a file"):
        event_for("site")
    with pytest.raises(Trouble, match="no function 'nobody'"):
        event_for("nobody")
