"""What the functions import, and so how fast they start."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from functions.api.catalog import FIRST_PAGE
from shared import settings
from shared.dynamodb.table import Table
from tests.support.events import EVENTS

ROOT = EVENTS.parent
SOURCES = [path.relative_to(ROOT) for folder in ("functions", "shared") for path in (ROOT / folder).rglob("*.py")]

LOADED = """
import json, sys
from types import SimpleNamespace
from functions.{room} import {function}
context = SimpleNamespace(function_name="f", memory_limit_in_mb=1, invoked_function_arn="a", aws_request_id="r")
for event in json.load(sys.stdin):
    answer = {function}.handler(event, context)
    assert answer.get("statusCode", 200) in (200, 304), answer
print(json.dumps(sorted(sys.modules)))
"""

HEAVY = ("pydantic", "pydantic_core", "aws_xray_sdk", "argon2", "anyascii")
"""What costs a cold start. Powertools' own ``__init__`` names Tracer; the X-Ray SDK comes with the first one made."""


def modules_of(function: str, events: list[dict[str, Any]]) -> set[str]:
    """What a fresh process has imported after a function has handled some events."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(function=function, room=room_of(function))],
        input=json.dumps(events),
        env=os.environ | {"PYTHONPATH": str(EVENTS.parent)},
        check=True,
        capture_output=True,
        text=True,
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def room_of(function: str) -> str:
    """The package that a function is in."""
    return next(path.parent.name for path in (ROOT / "functions").rglob(f"{function}.py"))


def heavy_ones(modules: set[str]) -> set[str]:
    return {module for module in modules if module.startswith(HEAVY)}


def page(path: str, **query: str) -> dict[str, Any]:
    event: dict[str, Any] = json.loads((EVENTS / "catalog-brand-page.json").read_text(encoding="utf-8"))
    return (
        event
        | {"path": path, "resource": path, "queryStringParameters": query or None}
        | {"multiValueQueryStringParameters": {name: [value] for name, value in query.items()} or None}
    )


def test_the_catalog_starts_without_pydantic_and_x_ray() -> None:
    assert heavy_ones(modules_of("catalog", [])) == set()


def test_the_catalog_serves_every_page_without_pydantic_and_x_ray(table: Table) -> None:
    paths = [
        "/front-page",
        "/editors-choice",
        "/deals",
        "/brands",
        "/brands/g-fore",
        "/brands/g-fore/deals",
        "/categories",
        "/categories/shoes",
        "/categories/shoes/deals",
        "/openapi.json",
        "/docs",
    ]

    modules = modules_of("catalog", [page(path) for path in paths] + [page("/deals", limit="1")])

    assert heavy_ones(modules) == set()


@pytest.mark.parametrize("module", sorted(SOURCES), ids=str)
def test_nothing_of_ours_names_the_tracer(module: Path) -> None:
    tree = ast.parse((ROOT / module).read_text(encoding="utf-8"))

    names = {
        alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom | ast.Import) for alias in node.names
    }

    assert not {name for name in names if "Tracer" in name or "tracing" in name}


@pytest.mark.parametrize("function", ["authorizer", "expiry", "seed"])
def test_the_other_lean_functions_start_without_them_too(function: str) -> None:
    assert heavy_ones(modules_of(function, [])) == set()


@pytest.mark.parametrize("function", ["accounts", "editors"])
def test_functions_that_take_bodies_validate_them_with_pydantic(function: str) -> None:
    assert "pydantic" in modules_of(function, [])


def test_what_is_cached_is_what_a_request_without_a_limit_asks_for() -> None:
    assert {"limit": settings.CACHED_PAGE, "cursor": None} == FIRST_PAGE
