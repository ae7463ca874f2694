"""The command line against a DynamoDB, reached as a user reaches a table: by the environment."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from typer.testing import CliRunner, Result

from cli.main import app
from shared.dynamodb.table import Table
from tests.support.engines import FAST_SERVER, KEY, Engine, plant

Btd = Callable[..., Result]
Ask = Callable[..., Any]
"""The fixtures ``btd`` and ``ask``, below."""


@pytest.fixture(scope="session", autouse=True)
def wide_terminal() -> Iterator[None]:
    """Help and error boxes are wrapped to the terminal's width; here nothing is."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("COLUMNS", "200")
        environment.setenv("NO_COLOR", "1")
        yield


@pytest.fixture(scope="session")
def server() -> Engine:
    """Where the tables are. A file whose commands ask other services than DynamoDB, too, names MiniStack."""
    return FAST_SERVER


@pytest.fixture
def bare_table(server: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[Table]:
    """A table of a test's own, which the environment names."""
    with server.bare_table() as table:
        name_in_environment(monkeypatch, table)
        yield table


def name_in_environment(environment: pytest.MonkeyPatch, table: Table) -> None:
    """Have the environment name a table, as a user does."""
    environment.delenv("AWS_PROFILE", raising=False)
    environment.setenv("BTD_TABLE", table.name)
    environment.setenv("AWS_ENDPOINT_URL", table.client.meta.endpoint_url)
    environment.setenv("AWS_ACCESS_KEY_ID", KEY.key_id)
    environment.setenv("AWS_SECRET_ACCESS_KEY", KEY.secret)
    environment.setenv("AWS_REGION", "us-east-1")
    environment.setattr(boto3, "DEFAULT_SESSION", None)  # it keeps the key that it found first


@pytest.fixture
def table(bare_table: Table) -> Table:
    """The same, seeded as a deployment does it."""
    plant(bare_table)
    return bare_table


@pytest.fixture
def btd() -> Btd:
    """Runs a command line: ``btd("deals", "latest", code=0)``; an exit code other than the one expected fails."""

    def run(*arguments: str, code: int = 0, stdin: str | bytes | None = None) -> Result:
        result = CliRunner().invoke(app, list(arguments), input=stdin)
        assert result.exit_code == code, result.output
        return result

    return run


@pytest.fixture
def ask(btd: Btd) -> Ask:
    """Runs a command line with ``--json``, and gives what it answers."""

    def run(*arguments: str) -> Any:
        return json.loads(btd(*arguments, "--json").stdout)

    return run
