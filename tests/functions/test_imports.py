"""The imports of the functions, and so how fast they start."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys

import pytest

from functions.api.catalog import FIRST_PAGE
from infra.bundling import module_of
from infra.functions import FUNCTIONS
from infra.rows import FULL, Function
from shared import settings
from shared.dynamodb.table import Table
from tests.support.cases import cases_by_name
from tests.support.surroundings import EVENTS, page

ROOT = EVENTS.parent
SOURCES = [path for folder in ("functions", "shared") for path in (ROOT / folder).rglob("*.py")]

LOADED = """
import json, sys
from types import SimpleNamespace
from functions.api import catalog
context = SimpleNamespace(function_name="f", memory_limit_in_mb=1, invoked_function_arn="a", aws_request_id="r")
for event in json.load(sys.stdin):
    answer = catalog.handler(event, context)
    assert answer.get("statusCode", 200) in (200, 304), answer
print(json.dumps(sorted(sys.modules)))
"""

HEAVY = {"pydantic", "argon2", "minijinja", "anyascii", "snowballstemmer", "aws_xray_sdk"}
"""Modules that cost a cold start. Powertools' ``__init__`` names Tracer, whose first one made brings the X-Ray SDK."""

BODIES, PASSWORDS, PAGES = "pydantic", "argon2", "minijinja"

NEEDS: dict[str, set[str]] = {
    "accounts": {BODIES, PASSWORDS},
    "editors": {BODIES},
    "site": {PAGES},
    "mine": {PAGES},
    "desk": {BODIES, PAGES},
    "account": {BODIES, PASSWORDS, PAGES},
    "refresher": {PAGES},
    **{function: {*libraries} for function, libraries in cases_by_name("IMPORTS").items()},
}
"""Which heavy libraries functions import when they start, where they need any; ``anyascii`` comes with the first name
that needs it."""

STARTED = """
import importlib, json, os, sys
import botocore.session, aws_lambda_powertools.event_handler
for function in json.load(sys.stdin):
    if not os.fork():
        importlib.import_module(function)
        print(json.dumps([function, sorted(sys.modules)]), flush=True)
        os._exit(0)
    os.wait()
"""
"""Each function is imported by a fork of its own; what all of them import is there before, which saves time."""


def printed(program: str, given: object) -> list[str]:
    """The lines that a fresh process prints of a program that reads JSON."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps(given),
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def started() -> dict[str, set[str]]:
    """The modules that each function has imported when it has started."""
    found = map(json.loads, printed(STARTED, [module_of(row.name) for row in FUNCTIONS]))
    return {function.rpartition(".")[2]: set(modules) for function, modules in found}


def heavy_ones(modules: set[str]) -> set[str]:
    return HEAVY & {module.partition(".")[0] for module in modules}


@pytest.mark.parametrize("row", FUNCTIONS, ids=lambda row: row.name)
def test_a_function_starts_with_the_heavy_libraries_it_needs_and_no_others(
    started: dict[str, set[str]], row: Function
) -> None:
    assert heavy_ones(started[row.name]) == NEEDS.get(row.name, set())


def test_what_only_the_full_artifact_has_is_needed_by_each_function_that_has_it_and_by_no_other() -> None:
    full = {row.name for row in FUNCTIONS if row.artifact == FULL}

    assert full == {name for name, libraries in NEEDS.items() if libraries & {BODIES, PASSWORDS}}


def test_the_catalog_serves_every_page_without_pydantic_and_x_ray(table: Table) -> None:
    paths = [
        "/front-page", "/editors-choice", "/deals", "/brands", "/brands/g-fore", "/brands/g-fore/deals",
        "/categories", "/categories/shoes", "/categories/shoes/deals", "/openapi.json", "/docs",
    ]  # fmt: skip

    *_, modules = printed(LOADED, [page(path) for path in paths] + [page("/deals", limit="1")])

    assert heavy_ones(set(json.loads(modules))) == set()


def test_nothing_of_ours_names_the_tracer() -> None:
    trees = [ast.parse(module.read_text(encoding="utf-8")) for module in SOURCES]

    imports = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ImportFrom | ast.Import)]

    names = {alias.name for node in imports for alias in node.names}
    assert not {name for name in names if "Tracer" in name or "tracing" in name}


def test_what_is_cached_is_what_a_request_without_a_limit_asks_for() -> None:
    assert {"limit": settings.CACHED_PAGE, "cursor": None} == FIRST_PAGE
