"""A table that takes requests and says nothing: readers are told so, in time."""

from __future__ import annotations

from typing import Any

import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.api import catalog
from functions.pages import site
from shared.dynamodb.aws_errors import Budget
from shared.runtime import environment
from tests.support.engines import ENDPOINT_VARIABLE
from tests.support.events import context, event
from tests.support.pages import event_of
from tests.support.serving import Request, serving
from tests.support.surroundings import surrounded

__all__ = ["context"]

READERS = {"API": (catalog, event("catalog-all-brands")), "page": (site, event_of("/brands"))}


def silent(request: Request) -> None:
    """Say nothing until whoever asked has gone."""
    request.connection.recv(1)


@pytest.mark.parametrize("reader", READERS)
def test_a_reader_of_a_silent_table_gets_503_when_the_time_of_readers_is_over(
    reader: str, context: LambdaContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    function, asked = READERS[reader]
    monkeypatch.setattr(environment, "FOR_A_READER", 0.5)  # of the 30 seconds that the laptop's functions have
    monkeypatch.setattr(context, "get_remaining_time_in_millis", lambda: 30_000)
    with serving(silent) as server, surrounded(monkeypatch, server.table()):
        monkeypatch.setenv(ENDPOINT_VARIABLE, server.endpoint)
        environment.begin(asked, context)

        answer = function.handler(asked, context)

        assert answer["statusCode"] == 503


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [
        ({"httpMethod": "GET", "path": "/"}, 8.0),
        (event("authorizer-request"), 8.0),
        (event("stream-insert"), 29.0),
        (event("messenger-work"), 29.0),
        ([], 29.0),
    ],
)
def test_what_a_reader_waits_for_ends_within_ten_seconds_and_work_has_all_its_time(
    asked: Any, seconds: float, context: LambdaContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    budget = Budget(clock=lambda: 100.0)
    monkeypatch.setattr(environment, "budget", lambda: budget)
    monkeypatch.setattr(context, "get_remaining_time_in_millis", lambda: 30_000)

    environment.begin(asked, context)

    assert budget.left() == seconds
