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
from infra.functions import FUNCTIONS, ROUTES
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
    "account": {BODIES, PASSWORDS, PAGES},
    "refresher": {PAGES},
    **{function: {*libraries} for function, libraries in cases_by_name("IMPORTS").items()},
}
"""Which heavy libraries functions import when they start, where they need any; ``anyascii`` comes with the first name
that needs it."""

STARTED = """
import importlib, json, os, sys
from dataclasses import is_dataclass
from re import Pattern
import botocore.session, aws_lambda_powertools.event_handler

def made(is_such):
    own = ("functions.", "shared.", "features.")
    ours = [each for each in sys.modules.values() if each.__name__.startswith(own)]
    named = [(each.__name__, name, value) for each in ours for name, value in vars(each).items() if is_such(value)]
    return [f"{at}.{name}" for at, name, value in named if getattr(value, "__module__", at) == at]

for function in json.load(sys.stdin):
    if not os.fork():
        importlib.import_module(function)
        classes = made(lambda value: isinstance(value, type) and is_dataclass(value))
        patterns = made(lambda value: isinstance(value, Pattern))
        found = {"modules": sorted(sys.modules), "classes": classes, "patterns": patterns}
        print(json.dumps([function, found]), flush=True)
        os._exit(0)
    os.wait()
"""
"""Each function is imported by a fork of its own; what all of them import is there before, which saves time. It prints
the modules, and of ours the dataclasses and the compiled patterns."""

PUBLIC = {route.function for route in ROUTES if route.is_public_read}
"""The functions that answer anyone."""

NOT_FOR_READING = {
    *("shared.models.members", "shared.data.catalog.changes", "shared.data.catalog.editing"),
    *("shared.data.entities", "shared.data.removal", "shared.services"),
}
"""Modules of ours about accounts, changes and the whole table."""


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
def started() -> dict[str, dict[str, set[str]]]:
    """What each function has imported and made when it has started."""
    found = map(json.loads, printed(STARTED, [module_of(row.name) for row in FUNCTIONS]))
    return {function.rpartition(".")[2]: {name: set(each) for name, each in of.items()} for function, of in found}


def heavy_ones(modules: set[str]) -> set[str]:
    return HEAVY & {module.partition(".")[0] for module in modules}


@pytest.mark.parametrize("row", FUNCTIONS, ids=lambda row: row.name)
def test_a_function_starts_with_the_heavy_libraries_it_needs_and_no_others(
    started: dict[str, dict[str, set[str]]], row: Function
) -> None:
    assert heavy_ones(started[row.name]["modules"]) == NEEDS.get(row.name, set())


@pytest.mark.parametrize("function", sorted(PUBLIC))
def test_a_public_function_starts_without_what_only_writers_and_members_need(
    started: dict[str, dict[str, set[str]]], function: str
) -> None:
    modules = started[function]["modules"]

    assert modules & NOT_FOR_READING == set()
    assert {name for name in modules if name.startswith("shared.data.members.")} == set()


@pytest.mark.parametrize("function", sorted(PUBLIC))
def test_a_public_function_makes_few_dataclasses_and_patterns_at_its_start(
    started: dict[str, dict[str, set[str]]], function: str
) -> None:
    """Records are NamedTuples, and patterns are texts (``docs/decisions.md``): this is what is left, with room."""
    assert len(started[function]["classes"]) <= 18, sorted(started[function]["classes"])
    assert len(started[function]["patterns"]) <= 4, sorted(started[function]["patterns"])


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
