"""Fixtures of all tests: engines, tables on them, and the marks that select tests."""

from __future__ import annotations

import gc
import json
import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import nullcontext
from fnmatch import fnmatchcase
from functools import cache
from itertools import accumulate
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import botocore.session
import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer  # type: ignore[import-untyped]  # it has no types
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]  # the same

from tools import folders

if "PYTEST_XDIST_WORKER" not in os.environ:
    folders.check()  # a feature that can't work: before the imports below, which ask for features' parts

from local.settings import NO_ADVICE_ABOUT_NODE
from shared.dynamodb import damage
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from tests.support.engines import (
    DYNOXIDE_ENGINE,
    ENGINES,
    FAST,
    MOTO,
    NAMED_BY_USER,
    ON_ALL_ENGINES,
    SLOW_ENGINES,
    Engine,
    end_all,
    params,
)
from tests.support.factories import a_deal, open_brands, post
from tests.support.preview import Preview, looked_at
from tests.support.wire import compared

# How long an example takes depends on the engine and the machine, and says nothing.
settings.register_profile("engines", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("engines")

# Each client would read botocore's files anew, which takes longer than most tests: all clients share what one has read.
botocore.session.create_loader = cache(botocore.session.create_loader)

# As for "make test": a test by itself prints what it found, and nothing of Node.
os.environ |= NO_ADVICE_ABOUT_NODE

# One driver and one browser for all tests of a process: playwright cannot be started a second time beside itself.
pytest_plugins = ["tests.support.browser"]

TOGETHER = (
    ("features/*/tests/test_export.py",), ("tests/demo/test_site.py",),
    (
        "tests/demo/test_browser.py", "tests/demo/test_published.py", "features/*/tests/test_demo_browser.py",
        "tests/local/test_cloud.py::test_twenty_stops_under_writes",
    ),
    ("tests/e2e/", "features/*/tests/test_e2e.py"),
    ("tests/infra/", "features/*/tests/test_stack"),
    ("tests/functions/test_imports.py",), ("tests/pages/test_script.py",), ("tests/recipes/",),
    ("tests/site/", "features/*/tests/test_site"),
    ("tests/test_docs_site.py", "features/*/tests/test_documents"),
)  # fmt: skip
"""Folders and files whose tests share what is dear to make, or must not meet: each group runs in one process. They are
beginnings of paths, in which ``*`` matches anything.

Large groups begin first: the stops take minutes, and would else be the last test that everything waits for.
"""


class Together(LoadScopeScheduling):  # type: ignore[misc]  # the same
    """Spreads tests over processes one by one, but keeps those of some folders and files in one.

    The mark that pytest-xdist has for this is lost with pytest 9.2, whose items no longer take a new name.
    """

    def _split_scope(self, nodeid: str) -> str:
        return next((group[0] for group in TOGETHER if any(fnmatchcase(nodeid, f"{each}*") for each in group)), nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Together | None:
    """The groups of ``--dist loadgroup``."""
    return Together(config, log) if config.getvalue("dist") == "loadgroup" else None


EVERYTHING = "everything"
"""The stage with everything, and the fixture of its template (``tests/infra/conftest.py``)."""

MUTANTS_SECONDS = 20
"""A mutant that lives longer is taken to survive: else "make mutants" would be a matter of hours."""


@pytest.hookimpl(trylast=True)  # after the marks that folders give
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the stage with everything to ``make test-all``, keep slow engines to what they are for, and let a mutant of
    mutmut's meet its quickest tests, twenty seconds of them: most fail one in the first second."""
    for item in items:
        if isinstance(item, pytest.Function) and EVERYTHING in (*item.fixturenames, *_given(item).params.values()):
            item.add_marker(pytest.mark.thorough)
    if os.environ.get("ENGINES") != "all":
        kept = [item for item in items if _is_for_all_engines(item) or not _repeats_on_slow_engine(item)]
        config.hook.pytest_deselected(items=[*{*items} - {*kept}])
        items[:] = kept
    # While mutmut counts how long each test takes, there is no mutant, and none may be left out.
    if "__mutmut_" in os.environ.get("MUTANT_UNDER_TEST", "") and (stats := Path("mutmut-stats.json")).exists():
        seconds = json.loads(stats.read_text(encoding="utf-8"))["duration_by_test"]
        items.sort(key=lambda item: seconds.get(item.nodeid, 0))
        until = accumulate(seconds.get(item.nodeid, 0) for item in items)
        items[:] = [item for item, spent in zip(items, until, strict=True) if spent <= MUTANTS_SECONDS]


def _given(item: pytest.Item) -> Any:
    """The parameters of a test, and their marks."""
    return getattr(item, "callspec", SimpleNamespace(params={}, marks=()))


def _is_for_all_engines(item: pytest.Item) -> bool:
    return item.nodeid.startswith(ON_ALL_ENGINES) or item.get_closest_marker("all_engines") is not None


def _repeats_on_slow_engine(item: pytest.Item) -> bool:
    """Whether a test, which another tier runs on the fast engine, is here for a slow one."""
    given = _given(item)
    return given.params.get("engine") in SLOW_ENGINES and any(mark.name == "thorough" for mark in given.marks)


def pytest_report_header() -> str:
    """Says which engine is the fast one here."""
    return f"fast engine: {FAST.name}" + ("" if FAST is not MOTO else " (npm has no dynoxide for this platform)")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """With ``--durations``, adds how many seconds of work each folder took."""
    if not config.getoption("durations"):
        return
    seconds: dict[str, float] = defaultdict(float)
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                seconds["/".join(report.nodeid.partition("::")[0].split("/")[1:2])] += report.duration
    terminalreporter.section(f"{sum(seconds.values()):.0f} seconds of work, by folder of tests")
    for folder, spent in sorted(seconds.items(), key=lambda item: -item[1])[:15]:
        terminalreporter.line(f"{spent:7.1f}s {folder}")


def pytest_sessionfinish() -> None:
    """Ends the engines with the session: ``make mutants`` runs one after another in a process, and leaves without exit
    handlers."""
    end_all()


@pytest.fixture(autouse=True)
def nothing_noted() -> None:
    """Forget the damaged items that tests before have noted: a process notes them for its next command or request."""
    damage.taken(), damage.failed()


@pytest.fixture(scope="module", autouse=True)
def _collector_starts_over() -> None:
    """Keep the collector from what earlier modules keep: the templates of all stages are millions of objects, and moto
    copies so much that it runs often (four times as slow)."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _looked_at(request: pytest.FixtureRequest) -> Iterator[None]:
    """A preview's functions run in this process: only tests that look at one have their environment."""
    site = request.getfixturevalue("site") if "site" in request.fixturenames else None
    with looked_at(site) if isinstance(site, Preview) else nullcontext():
        yield


@pytest.fixture(scope="session", params=params(ENGINES, always=(FAST, *NAMED_BY_USER)))
def engine(request: pytest.FixtureRequest) -> Engine:
    """The fast engine; in ``make test-all`` each of the others, too."""
    chosen: Engine = request.param
    return chosen


@pytest.fixture
def bare_table(engine: Engine) -> Iterator[Table]:
    """An empty table of a test's own."""
    with engine.bare_table() as table:
        yield table


@pytest.fixture
def table(engine: Engine) -> Iterator[Table]:
    """A table of a test's own with the eight categories, and with the brands Apple and ASICS."""
    with engine.table(open_brands) as table:
        yield table


@pytest.fixture
def deal(table: Table) -> Deal:
    """A new deal of Apple's among the shoes."""
    (deal,) = post(table, [a_deal()])
    return deal


@pytest.fixture
def counted_as_told(request: pytest.FixtureRequest, engine: Engine) -> Iterator[None]:
    """Each request takes the capacity that is counted for it, where the engine tells it truly."""
    if engine is not DYNOXIDE_ENGINE:
        yield
        return
    table: Table = request.getfixturevalue("bare_table" if "bare_table" in request.fixturenames else "table")
    with compared(table) as wrong:
        yield
    assert wrong == []
